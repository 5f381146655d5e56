package chain

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/velum-health/velum/pipeline"
)

// spanSums is the definition: every path that there is, decoded, and its
// probability added to each of the spans that it writes. Tokens lie a byte
// apart, so that a span's offsets are numbers of tokens.
func (p problem) spanSums(set *pipeline.TagSet, tokens []pipeline.Token) map[pipeline.Span]float64 {
	logZ := p.enumerate().logZ
	sums := map[pipeline.Span]float64{}
	path := make([]pipeline.Tag, p.T)
	var spans []pipeline.Span
	for i := range int(math.Pow(float64(p.w.L), float64(p.T))) {
		for t, k := 0, i; t < p.T; t, k = t+1, k/p.w.L {
			path[t] = pipeline.Tag(k % p.w.L)
		}
		spans = set.Decode(spans[:0], tokens, path)
		for _, s := range spans {
			sums[s] += math.Exp(p.score(path) - logZ)
		}
	}
	return sums
}

func lineOf(n int, starts ...int) []pipeline.Token {
	tokens := make([]pipeline.Token, n)
	for i := range tokens {
		tokens[i] = pipeline.Token{Start: int32(i), End: int32(i + 1)}
	}
	for _, i := range append(starts, 0) {
		tokens[i].Flags = pipeline.LineStart
	}
	return tokens
}

// TestSpanProbs holds the probabilities of the spans of the best path, and of
// paths drawn at random, against the sum over all paths.
func TestSpanProbs(t *testing.T) {
	for _, c := range []struct {
		scheme     pipeline.Scheme
		categories int
		T          int
		starts     []int
	}{{pipeline.BIO, 1, 1, nil}, {pipeline.BIO, 1, 6, nil}, {pipeline.BIO, 2, 5, []int{2}}, {pipeline.BIO, 3, 4, nil}, {pipeline.BIOESU, 1, 5, []int{3}}, {pipeline.BIOESU, 2, 4, nil}} {
		for _, legal := range []bool{true, false} {
			for _, scale := range []float64{1, 10, 40} {
				t.Run(fmt.Sprintf("%v%d/T%d/legal=%v/scale%v", c.scheme, c.categories, c.T, legal, scale), func(t *testing.T) {
					r := rand.New(rand.NewPCG(3, uint64(c.T)))
					set, tokens := tagSet(c.scheme, c.categories), lineOf(c.T, c.starts...)
					for range 4 {
						checkSpans(t, r, newProblem(r, set, legal, c.T, scale), set, tokens)
					}
				})
			}
		}
	}
}

func checkSpans(t *testing.T, r *rand.Rand, p problem, set *pipeline.TagSet, tokens []pipeline.Token) {
	t.Helper()
	x, want := p.lattice(), p.spanSums(set, tokens)
	path := make([]pipeline.Tag, p.T)
	x.Viterbi(path)
	whole := math.Exp(x.LogScore(path) - x.LogZ())
	var got SpanProbs
	for draw := range 6 {
		if draw > 0 {
			for i := range path {
				path[i] = pipeline.Tag(r.IntN(set.Len()))
			}
		}
		got.Reset(set)
		got.Add(x, tokens, path, 0, p.T)
		spans := set.Decode(nil, tokens, path)
		if len(spans) != len(got.All()) {
			t.Fatalf("%d probabilities of %d spans", len(got.All()), len(spans))
		}
		for i, s := range spans {
			have := float64(got.All()[i])
			if math.Abs(have-want[s]) > 1e-5 {
				t.Fatalf("draw %d: span %d-%d has %v, the sum over all paths %v", draw, s.Start, s.End, have, want[s])
			}
			if draw == 0 && have < whole-1e-5 {
				t.Errorf("span %d-%d has %v, its path alone %v", s.Start, s.End, have, whole)
			}
		}
	}
}

// A span that goes on in the next window has the lower number of the two, and
// what lies outside the taken part of a window is left out.
func TestSpanProbsOfWindows(t *testing.T) {
	set := tagSet(pipeline.BIO, 1)
	r := rand.New(rand.NewPCG(1, 2))
	tokens := lineOf(8)
	a, b := newProblem(r, set, true, 5, 1), newProblem(r, set, true, 5, 1)
	ab, ai, o := pipeline.Tag(1), pipeline.Tag(2), pipeline.O
	first, second := []pipeline.Tag{o, ab, o, ab, ai}, []pipeline.Tag{ab, ai, o, ab, o} // tokens 0-4, 3-7
	alone := func(p problem, tokens []pipeline.Token, path []pipeline.Tag) []float32 {
		var s SpanProbs
		s.Reset(set)
		s.Add(p.lattice(), tokens, path, 0, len(path))
		return s.All()
	}
	x, y := alone(a, tokens[:5], first), alone(b, tokens[3:], second)
	var s SpanProbs
	s.Reset(set)
	s.Add(a.lattice(), tokens[:5], first, 0, 4)
	s.Add(b.lattice(), tokens[3:], second, 1, 5)
	want := []float32{x[0], min(x[1], y[0]), y[1]}
	if got := s.All(); len(got) != 3 || got[0] != want[0] || got[1] != want[1] || got[2] != want[2] {
		t.Errorf("got %v, want %v", got, want)
	}
}

// Spans cost no memory in steady state; notes without cost nothing.
func TestSpanProbsAllocate(t *testing.T) {
	set := tagSet(pipeline.BIOESU, 3)
	p := newProblem(rand.New(rand.NewPCG(1, 1)), set, true, 12, 1)
	x, tokens, path := p.lattice(), lineOf(12), make([]pipeline.Tag, 12)
	path[2], path[3] = 1, 3
	var s SpanProbs
	if n := testing.AllocsPerRun(10, func() { s.Reset(set); s.Add(x, tokens, path, 0, 12) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
