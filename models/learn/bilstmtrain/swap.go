package bilstmtrain

import (
	"math/rand/v2"
	"strings"

	"github.com/velum-health/velum/pipeline"
)

// swapper makes new sequences in which spans are replaced by other spans of the same category, so that names and places
// are learned apart from their sentences. Features of the span's own words (forms, patterns, lists) move with it;
// features of its position (line, field) stay.
type swapper struct {
	c      *Corpus
	share  float64
	spans  map[pipeline.Category][]span
	moves  []bool // of the template's groups: comes with the span
	tokens int    // of the corpus as it was given; behind them stand swapped ones
	marks  int
	tags   int
}

// span is n tokens from token on, whose tags begin at tag.
type span struct{ token, tag, n int32 }

func newSwapper(c *Corpus, share float64) *swapper {
	s := &swapper{c: c, share: share, spans: map[pipeline.Category][]span{}, tokens: len(c.form), marks: len(c.marks), tags: len(c.tag)}
	for _, g := range c.template.Groups {
		base, _, _ := strings.Cut(g.Name, "/")
		s.moves = append(s.moves, base == "pattern" || base == "phrase" || base == "glued")
	}
	for _, q := range c.sequences {
		for i := int32(0); i < q.hi-q.lo; {
			n := s.length(q, i)
			if y := c.tag[q.tag+i]; y != pipeline.O {
				category := c.set.Category(y)
				s.spans[category] = append(s.spans[category], span{q.lo + i, q.tag + i, n})
			}
			i += n
		}
	}
	return s
}

// length returns the number of tokens of the span at token i of a sequence; 1
// outside spans.
func (s *swapper) length(q sequence, i int32) int32 {
	tags := s.c.tag[q.tag+i : q.tag+q.hi-q.lo]
	n := int32(1)
	for int(n) < len(tags) && tags[0] != pipeline.O && !s.c.set.Starts(tags[n]) {
		n++
	}
	return n
}

// forget takes the swapped sequences out of the corpus.
func (s *swapper) forget() {
	c := s.c
	c.form, c.first, c.marks, c.tag = c.form[:s.tokens], c.first[:s.tokens+1], c.marks[:s.marks], c.tag[:s.tags]
}

// swap returns q with some of its spans exchanged.
func (s *swapper) swap(q sequence, rng *rand.Rand) sequence {
	if !q.spans || s.share == 0 {
		return q
	}
	n := sequence{lo: int32(len(s.c.form)), tag: int32(len(s.c.tag)), spans: true}
	for i := int32(0); i < q.hi-q.lo; {
		here := span{q.lo + i, q.tag + i, s.length(q, i)}
		from := here
		if y := s.c.tag[here.tag]; y != pipeline.O && rng.Float64() < s.share {
			others := s.spans[s.c.set.Category(y)]
			from = others[rng.IntN(len(others))]
		}
		s.append(here, from)
		i += here.n
	}
	n.hi = int32(len(s.c.form))
	return n
}

// append adds the tokens of a span at the place of another.
func (s *swapper) append(here, from span) {
	c := s.c
	for k := range from.n {
		host := here.token + min(k, here.n-1)
		c.form = append(c.form, c.form[from.token+k])
		c.tag = append(c.tag, c.tag[from.tag+k])
		for _, m := range c.marks[c.first[from.token+k]:c.first[from.token+k+1]] {
			if s.moves[m.Group] {
				c.marks = append(c.marks, m)
			}
		}
		for _, m := range c.marks[c.first[host]:c.first[host+1]] {
			if !s.moves[m.Group] {
				c.marks = append(c.marks, m)
			}
		}
		c.first = append(c.first, int32(len(c.marks)))
	}
}
