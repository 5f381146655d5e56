package explain

import (
	"slices"
	"strings"

	"github.com/velum-health/velum/cmd/velum/internal/flow"
	"github.com/velum-health/velum/models/form/patterns"
	"github.com/velum-health/velum/models/tag/tagger"
	"github.com/velum-health/velum/models/word/gazetteer"
	"github.com/velum-health/velum/models/word/view"
	"github.com/velum-health/velum/pipeline"
)

// believed holds the probabilities of all taggers for a note.
type believed struct {
	set   *pipeline.TagSet
	parts []tagger.Part
	whys  []tagger.Why // of the parts that can say why, else nil
	probs []float32    // [tokens][tags]; nil: they say no probabilities
	bias  float32      // taken from the logarithm of O's where probs are decoded
}

// believe computes the probabilities that the taggers of the flow give for a note.
func believe(m *flow.Model, text []byte, tokens []pipeline.Token, matches []pipeline.Match) *believed {
	l := m.NewLabeller()
	v := &believed{set: m.TagSet()}
	switch l := l.(type) {
	case tagger.Divided:
		v.parts, v.bias = l.Parts(text, tokens, matches)
	case tagger.Marginals:
		v.parts = []tagger.Part{{Model: m.Model, Weight: slices.Repeat([]float32{1}, len(tokens)),
			Probs: l.Marginals(nil, text, tokens, matches)}}
	}
	n, alone := v.set.Len(), len(v.parts) == 1
	for _, p := range v.parts {
		if p.Probs != nil && p.Weight != nil {
			if v.probs == nil {
				v.probs = make([]float32, len(tokens)*n)
			}
			of := p.Model.TagSet().Len() // a member may know fewer categories
			for t, w := range p.Weight {
				for y := range min(n, of) {
					v.probs[t*n+y] += w * p.Probs[t*of+y]
				}
			}
		}
		var why tagger.Why
		if e, ok := p.Model.(tagger.Explainer); ok {
			bias := float32(0) // means are dialled when they are decoded
			if alone {
				bias = m.Label.OBias
			}
			why = e.Why(text, tokens, matches, bias)
		}
		v.whys = append(v.whys, why)
	}
	return v
}

// of returns the joint probability of a tag at a token.
func (b *believed) of(t int, tag, rival pipeline.Tag) *Says {
	if b.probs == nil {
		return nil
	}
	n := b.set.Len()
	return &Says{b.probs[t*n+int(tag)], b.probs[t*n+int(rival)]}
}

// rival returns the most probable tag other than O for a token tagged O, and O for any other token.
func (b *believed) rival(t int, tag pipeline.Tag) pipeline.Tag {
	n := b.set.Len()
	if tag != pipeline.O || n < 2 {
		return pipeline.O
	}
	best := pipeline.Tag(1)
	if b.probs != nil {
		for y := 2; y < n; y++ {
			if b.probs[t*n+y] > b.probs[t*n+int(best)] {
				best = pipeline.Tag(y)
			}
		}
	}
	return best
}

// members returns the scores of each tagger for a token.
func (b *believed) members(t int, tag, rival pipeline.Tag) (members []Member) {
	for k, p := range b.parts {
		m := Member{Kind: p.Model.Header().Kind}
		if p.Lists != nil {
			m.List = p.Lists[t]
		}
		of := p.Model.TagSet().Len()
		if p.Weight != nil {
			m.Weight = p.Weight[t]
		}
		prob := func(y pipeline.Tag) float32 {
			if int(y) >= of { // a category that the tagger does not know
				return 0
			}
			return p.Probs[t*of+int(y)]
		}
		if p.Probs != nil {
			says := Says{prob(tag), prob(rival)}
			if p.Lists != nil { // an inverse model knows O and one category
				says = Says{prob(pipeline.O), 1 - prob(pipeline.O)}
				if tag != pipeline.O {
					says.Tag, says.Rival = says.Rival, says.Tag
				}
			}
			if says != (Says{}) || m.Weight > 0 {
				m.Says = &says
			}
		}
		if b.whys[k] != nil && int(tag) < of && int(rival) < of {
			m.Odds = new(b.whys[k].Odds(t, tag, rival))
		}
		members = append(members, m)
	}
	return members
}

// named holds the word classes of names and places.
const named = gazetteer.GivenName | gazetteer.Surname | gazetteer.Place | gazetteer.Centre

// words fills in the words of the note.
func (e *explaining) words(b *pipeline.Batch, i int, keeps []bool) {
	seen, from := b.Seen(i)
	var placed view.Placed
	tokens := slices.Clone(placed.Tokens(from, b.Tokens.At(i)))
	v := believe(e.Model, seen, tokens, b.Matches.At(i))
	text, tags := b.Text.At(i), b.TagsOf(i)
	all := patterns.New(patterns.Options{}).Find(nil, seen)
	for t, k := range b.Tokens.At(i) {
		form := text[k.Start:k.End]
		rival := v.rival(t, tags[t])
		w := Word{
			Start: k.Start, End: k.End, Text: string(form), Tag: v.set.Name(tags[t]), Rival: v.set.Name(rival),
			Says: v.of(t, tags[t], rival), Members: v.members(t, tags[t], rival), Masked: covered(b.Spans.At(i), k.Start, k.End),
		}
		if c := e.lists.Classes(seen[tokens[t].Start:tokens[t].End]); c != 0 {
			w.Lists, w.named = strings.Split(c.String(), "|"), c&named != 0
		}
		for _, m := range all {
			if m.Start < tokens[t].End && tokens[t].Start < m.End {
				w.Patterns = append(w.Patterns, Pattern{m.Category.String(), m.Score, m.Checked, !slices.Contains(b.Matches.At(i), m)})
			}
		}
		if e.wanted(&w) {
			e.asked = true
			e.causes(&w, v, keeps)
			e.said.Words = append(e.said.Words, w)
		}
	}
}

// wanted reports whether the user asked about this word.
func (e *explaining) wanted(w *Word) bool {
	switch {
	case e.o.At >= 0:
		return int(w.Start) <= e.o.At && e.o.At < int(w.End)
	case e.o.Word != "":
		for word := range strings.FieldsSeq(e.o.Word) {
			if strings.EqualFold(word, w.Text) {
				return true
			}
		}
		return false
	}
	return true
}

func covered(spans []pipeline.Span, start, end int32) bool {
	return slices.ContainsFunc(spans, func(s pipeline.Span) bool { return s.Start < end && start < s.End })
}

func spanOf(text []byte, s pipeline.Span) Span {
	return Span{Start: s.Start, End: s.End, Text: string(text[s.Start:s.End]), Category: s.Category.String(), Source: s.Source.String(),
		Score: s.Score}
}

// changes returns the steps of resolve that changed spans, with the changes.
func changes(text []byte, steps []traced) (changed []Step) {
	var before []pipeline.Span
	for _, s := range steps {
		n := Step{Name: s.name}
		for _, have := range s.spans {
			if !slices.Contains(before, have) {
				n.Added = append(n.Added, spanOf(text, have))
			}
		}
		for _, had := range before {
			if !slices.Contains(s.spans, had) {
				n.Removed = append(n.Removed, spanOf(text, had))
			}
		}
		if len(n.Added)+len(n.Removed) > 0 {
			changed = append(changed, n)
		}
		before = s.spans
	}
	return changed
}
