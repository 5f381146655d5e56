package ensemble

import (
	"cmp"
	"slices"

	"github.com/velum-health/velum/models/tag/tagger"
	"github.com/velum-health/velum/pipeline"
)

// claim is a span of a member, and how precise the member is in its category.
type claim struct {
	pipeline.Span
	precision float32
}

// prior collects the spans of all members; of overlapping ones it keeps that of the member with higher precision in the
// category, or of the earlier member. It returns the lowest of the members' confidences.
func (l *Labeller) prior(text []byte, tokens []pipeline.Token, matches []pipeline.Match, tags []pipeline.Tag) float32 {
	l.claims = l.claims[:0]
	least := float32(1)
	for k, member := range l.members {
		conf := member.Label(text, tokens, matches, tags)
		least = min(least, conf)
		l.spans = l.m.set.Decode(l.spans[:0], tokens, tags)
		var probs []float32
		if m, ok := member.(tagger.Spanned); ok {
			probs = m.SpanProbs()
		}
		for i, s := range l.spans {
			s.Score = conf
			if len(probs) == len(l.spans) {
				s.Score = probs[i]
			}
			l.claims = append(l.claims, claim{s, l.m.header.Members[k].Precision[s.Category.String()]})
		}
	}
	slices.SortStableFunc(l.claims, func(a, b claim) int { return cmp.Compare(b.precision, a.precision) })
	l.spans = l.spans[:0]
	for _, c := range l.claims {
		if !slices.ContainsFunc(l.spans, func(s pipeline.Span) bool { return s.Start < c.End && c.Start < s.End }) {
			l.spans = append(l.spans, c.Span)
		}
	}
	slices.SortFunc(l.spans, func(a, b pipeline.Span) int { return int(a.Start - b.Start) })
	l.m.set.Encode(tags, tokens, l.spans)
	for _, s := range l.spans {
		l.both = append(l.both, s.Score)
	}
	return least
}
