package chain

import (
	"math"

	"github.com/velum-health/velum/models/number/kernels"
	"github.com/velum-health/velum/pipeline"
)

// SpanProbs collects how probable the spans of a note are, sequence by
// sequence: the share of all paths that write exactly this span, with these
// borders and this category.
//
//	p(span|x) = Σ_{y: decode(y) has the span} p(y|x)
//
// Such a path is free before and behind the span; within, its tags are those
// of the category. So the sum is α up to the first token, the product of
// scores within, and β from the last one on, less what would begin earlier or
// end later. For a span of the best path it is at least the probability of that
// path.
//
// The zero value is ready. Reset comes before each note. Sums are made for
// sequences with a span alone.
type SpanProbs struct {
	set   *pipeline.TagSet
	probs []float32
	last  pipeline.Tag // of the sequence before

	now, next [4]float64 // sums by tag of the category, which are at most four

	// by tag, for the tokens beside a span: α before it, e^s behind it. This takes one exponential per tag instead of
	// one per pair of tags
	ahead, local []float64
}

// Reset begins a note whose tags are those of set.
func (s *SpanProbs) Reset(set *pipeline.TagSet) {
	s.set, s.probs, s.last = set, s.probs[:0], pipeline.O
}

// All returns the probabilities of the spans of the note so far, in their
// order. They are good until the next Reset.
func (s *SpanProbs) All() []float32 { return s.probs }

// Add adds the spans that a path writes over the tokens of the sequence in the
// lattice. Of the sequence only tokens from to to are taken; a span that goes
// on where another sequence was taken from has the lower one of both numbers.
func (s *SpanProbs) Add(x *Lattice, tokens []pipeline.Token, path []pipeline.Tag, from, to int) {
	ready := false
	for lo := 0; lo < to; {
		if path[lo] == pipeline.O {
			lo++
			continue
		}
		hi := lo + 1
		for hi < x.T && s.set.GoesOn(path[hi-1], path[hi]) && !cut(tokens, hi) {
			hi++
		}
		if hi > from {
			if !ready {
				x.sumBehind(hi)
				ready = true
			}
			p := float32(min(1, s.span(x, tokens, lo, hi, path[lo])))
			if lo <= from && s.set.GoesOn(s.last, path[from]) && tokens[from].Flags&pipeline.LineStart == 0 {
				n := len(s.probs) - 1
				s.probs[n] = min(s.probs[n], p)
			} else {
				s.probs = append(s.probs, p)
			}
		}
		lo = hi
	}
	s.last = path[to-1]
}

// cut tells whether a line ends before token t: there every span ends.
func cut(tokens []pipeline.Token, t int) bool {
	return t == len(tokens) || tokens[t].Flags&pipeline.LineStart != 0
}

// roles is how many tags a category has.
func (s *SpanProbs) roles() int { return (s.set.Len() - 1) / len(s.set.Categories) }

// span is the probability of a span of tokens lo to hi that begins with a tag.
func (s *SpanProbs) span(x *Lattice, tokens []pipeline.Token, lo, hi int, tag pipeline.Tag) float64 {
	first := tag - (tag-1)%pipeline.Tag(s.roles())
	tags := s.now[:s.roles()]
	s.beside(x, lo, hi)
	for k := range tags {
		y := first + pipeline.Tag(k)
		s.now[k] = x.local(lo, y) * s.before(x, tokens, lo, y)
	}
	for t := lo + 1; t < hi; t++ {
		for k := range tags {
			y, in := first+pipeline.Tag(k), 0.0
			for j := range tags {
				if a := first + pipeline.Tag(j); s.set.GoesOn(a, y) {
					in += s.now[j] * x.step(a, y)
				}
			}
			s.next[k] = in * x.local(t, y)
		}
		s.now = s.next
	}
	sum := 0.0
	for k, v := range tags {
		if v > 0 {
			sum += v * s.behind(x, tokens, hi, first+pipeline.Tag(k))
		}
	}
	return sum
}

// beside reads the tokens beside a span of tokens lo to hi.
func (s *SpanProbs) beside(x *Lattice, lo, hi int) {
	s.ahead, s.local = kernels.Grow(s.ahead, x.tr.L), kernels.Grow(s.local, x.tr.L)
	for i := range x.tr.L {
		if lo > 0 {
			s.ahead[i] = x.ahead(lo-1, i)
		}
		if hi < x.T {
			s.local[i] = x.local(hi, pipeline.Tag(i))
		}
	}
}

// before is α before tag y at token t, of the paths on which a span begins there.
func (s *SpanProbs) before(x *Lattice, tokens []pipeline.Token, t int, y pipeline.Tag) float64 {
	if t == 0 {
		return 1
	}
	sum, whole := 0.0, cut(tokens, t)
	for i := range x.tr.L {
		if a := pipeline.Tag(i); whole || !s.set.GoesOn(a, y) {
			sum += s.ahead[i] * x.step(a, y)
		}
	}
	return sum
}

// behind is β behind tag y, of the paths on which its span ends before token t.
func (s *SpanProbs) behind(x *Lattice, tokens []pipeline.Token, t int, y pipeline.Tag) float64 {
	if t == x.T {
		return 1
	}
	sum, whole := 0.0, cut(tokens, t)
	for i := range x.tr.L {
		if b := pipeline.Tag(i); whole || !s.set.GoesOn(y, b) {
			sum += x.step(y, b) * s.local[i] * x.after(t, i)
		}
	}
	return sum
}

// step is e^a(i,j).
func (l *Lattice) step(i, j pipeline.Tag) float64 {
	return l.tr.steps.Exp[int(i)*l.tr.steps.Stride+int(j)]
}

// local is e^s(t,y), in the scale of the sums.
func (l *Lattice) local(t int, y pipeline.Tag) float64 {
	return math.Exp(float64(l.State[t*l.tr.Stride+int(y)])) / l.total[t]
}

// sumBehind makes α, if it is not there from decoding, and behind token end, where
// the first span has ended, the rows of e^s·β: Marginals does not keep them. β itself
// is asked for where spans end.
//
//	β(t,y) = Σ_y' e^(a(y,y')+s(t+1,y')) β(t+1,y') / c(t+1)
func (l *Lattice) sumBehind(end int) {
	if l.sum(); l.narrow {
		return
	}
	s, tr := l.tr.Stride, l.tr
	l.later, l.beta = kernels.Grow(l.later, l.T*s), kernels.Grow(l.beta, 3*s)
	copy(l.later[(l.T-1)*s:], l.exp[(l.T-1)*s:l.T*s])
	for t := l.T - 2; t > end; t-- {
		kernels.Forward(l.later[t*s:(t+1)*s], l.later[(t+1)*s:(t+2)*s], l.exp[t*s:(t+1)*s], tr.expT, tr.rows, float32(1/l.total[t+1]))
	}
	l.behind = -1
}

// weigh makes β(t) of the row behind it.
func (l *Lattice) weigh(t int) {
	s := l.tr.Stride
	beta, one := l.beta[:s], l.beta[s:2*s]
	for y := range one {
		one[y] = 1
	}
	if l.behind = t; t == l.T-1 {
		copy(beta, one)
		return
	}
	kernels.Forward(beta, l.later[(t+1)*s:(t+2)*s], one, l.tr.expT, l.tr.rows, float32(1/l.total[t+1]))
}

// ahead is α(t,y) / c(t).
func (l *Lattice) ahead(t, y int) float64 {
	if l.narrow {
		return l.wide.alpha[t*l.tr.steps.Stride+y]
	}
	return float64(l.sums[t*l.tr.Stride+y]) / l.total[t]
}

// after is β(t,y).
func (l *Lattice) after(t, y int) float64 {
	if l.narrow {
		return l.wide.betas[t*l.tr.steps.Stride+y]
	}
	if l.behind != t {
		l.weigh(t)
	}
	return float64(l.beta[y])
}
