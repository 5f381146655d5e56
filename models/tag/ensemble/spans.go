package ensemble

import (
	"cmp"
	"slices"

	"github.com/velum-health/velum/models/tag/tagger"
	"github.com/velum-health/velum/pipeline"
)

// combiner puts together what members say span by span.
type combiner struct {
	m       *Model
	tags    []pipeline.Tag
	said    []pipeline.Span
	claims  []claim
	taken   []bool // tokens of spans that were chosen
	spans   []pipeline.Span
	byPlace map[place]int
	probs   []float32 // of spans
}

// claim is a span with what speaks for it.
type claim struct {
	pipeline.Span
	rank  float32 // larger wins over what it overlaps
	votes int
}

type place struct {
	start, end int32
	category   pipeline.Category
}

// label asks all members and returns the least of their confidences.
func (c *combiner) label(members []tagger.Labeller, text []byte, tokens []pipeline.Token, matches []pipeline.Match, tags []pipeline.Tag) float32 {
	c.tags = grow(c.tags, len(tokens))
	c.claims = c.claims[:0]
	if c.byPlace == nil {
		c.byPlace = map[place]int{}
	}
	clear(c.byPlace)
	least := float32(1)
	for k, member := range members {
		conf := member.Label(text, tokens, matches, c.tags)
		least = min(least, conf)
		c.said = c.m.set.Decode(c.said[:0], tokens, c.tags)
		var probs []float32
		if m, ok := member.(tagger.Spanned); ok {
			probs = m.SpanProbs()
		}
		for i, s := range c.said {
			s.Score = conf
			if len(probs) == len(c.said) {
				s.Score = probs[i]
			}
			c.claim(k, s)
		}
	}
	c.choose(len(members), tokens)
	c.m.set.Encode(tags, tokens, c.spans)
	for _, s := range c.spans {
		c.probs = append(c.probs, s.Score)
	}
	return least
}

// claim notes that member k says a span.
func (c *combiner) claim(k int, s pipeline.Span) {
	at := place{s.Start, s.End, s.Category}
	rank := c.m.rank(k, s.Category)
	if i, known := c.byPlace[at]; known {
		c.claims[i].votes++
		c.claims[i].rank = max(c.claims[i].rank, rank)
		c.claims[i].Score = max(c.claims[i].Score, s.Score)
		return
	}
	c.byPlace[at] = len(c.claims)
	c.claims = append(c.claims, claim{s, rank, 1})
}

// choose takes claims from the highest rank down, and of two that overlap the
// first.
func (c *combiner) choose(members int, tokens []pipeline.Token) {
	if c.m.header.Mode == Vote {
		c.claims = slices.DeleteFunc(c.claims, func(x claim) bool { return 2*x.votes <= members })
	}
	slices.SortStableFunc(c.claims, func(a, b claim) int {
		return cmp.Or(cmp.Compare(b.rank, a.rank), cmp.Compare(a.Start, b.Start))
	})
	c.taken = grow(c.taken, len(tokens))
	clear(c.taken)
	c.spans = c.spans[:0]
	for _, x := range c.claims {
		first, _ := slices.BinarySearchFunc(tokens, x.Start, func(t pipeline.Token, at int32) int { return int(t.Start - at) })
		last := first
		for last < len(tokens) && tokens[last].Start < x.End {
			last++
		}
		if slices.Contains(c.taken[first:last], true) {
			continue
		}
		for i := first; i < last; i++ {
			c.taken[i] = true
		}
		c.spans = append(c.spans, x.Span)
	}
	slices.SortFunc(c.spans, func(a, b pipeline.Span) int { return int(a.Start - b.Start) })
}
