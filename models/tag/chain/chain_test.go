package chain

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/velum-health/velum/pipeline"
	"pgregory.net/rapid"
)

// tagSets are BIO and BIOESU over one to a few categories.
func tagSet(scheme pipeline.Scheme, categories int) *pipeline.TagSet {
	set, err := pipeline.Labels("meddocan")
	if err != nil {
		panic(err)
	}
	return &pipeline.TagSet{Scheme: scheme, Categories: set.Categories[:categories]}
}

// problem is a small chain with random scores.
type problem struct {
	w     Weights
	T     int
	state []float32 // [T][L]
}

func newProblem(r *rand.Rand, set *pipeline.TagSet, legal bool, T int, scale float64) problem {
	p := problem{w: NewWeights(set, legal), T: T, state: make([]float32, T*set.Len())}
	for i := range p.w.Score {
		if p.w.Score[i] == 0 {
			p.w.Score[i] = float32(scale * r.NormFloat64())
		}
	}
	for i := range p.state {
		p.state[i] = float32(scale * r.NormFloat64())
	}
	return p
}

func (p problem) lattice() *Lattice {
	tr := NewTransitions(p.w)
	x := new(Lattice)
	x.Reset(tr, p.T, 1)
	for i := range x.rows {
		x.rows[i] = Forbidden
	}
	for t := range p.T {
		copy(x.State[t*tr.Stride:], p.state[t*p.w.L:(t+1)*p.w.L])
	}
	x.Prepare()
	return x
}

// score is the definition.
func (p problem) score(path []pipeline.Tag) float64 {
	sum := float64(p.w.Start[path[0]]) + float64(p.w.End[path[p.T-1]])
	for t, y := range path {
		sum += float64(p.state[t*p.w.L+int(y)])
		if t > 0 {
			sum += float64(p.w.Score[int(path[t-1])*p.w.L+int(y)])
		}
	}
	return sum
}

// all is what counting every path gives.
type all struct {
	best, logZ float64
	marginal   []float64 // [T][L]
	pair       []float64 // [L][L], summed over t
}

func (p problem) enumerate() all {
	L := p.w.L
	a := all{best: math.Inf(-1), marginal: make([]float64, p.T*L), pair: make([]float64, L*L)}
	path := make([]pipeline.Tag, p.T)
	paths := int(math.Pow(float64(L), float64(p.T)))
	var scores []float64
	for pass := range 2 {
		for i := range paths {
			for t, k := 0, i; t < p.T; t, k = t+1, k/L {
				path[t] = pipeline.Tag(k % L)
			}
			s := p.score(path)
			if pass == 0 {
				a.best = max(a.best, s)
				scores = append(scores, s)
				continue
			}
			prob := math.Exp(s - a.logZ)
			for t, y := range path {
				a.marginal[t*L+int(y)] += prob
				if t > 0 {
					a.pair[int(path[t-1])*L+int(y)] += prob
				}
			}
		}
		if pass == 0 {
			a.logZ = LogSum(scores)
		}
	}
	return a
}

// TestAgainstAllPaths is the proof: every algorithm against the sum over all
// paths, for both schemes, legal transitions only or all, small and large
// scores.
func TestAgainstAllPaths(t *testing.T) {
	for _, c := range []struct {
		scheme     pipeline.Scheme
		categories int
		T          int
	}{{pipeline.BIO, 1, 1}, {pipeline.BIO, 1, 6}, {pipeline.BIO, 2, 5}, {pipeline.BIO, 4, 4}, {pipeline.BIOESU, 1, 5}, {pipeline.BIOESU, 2, 4}} {
		for _, legal := range []bool{true, false} {
			for _, scale := range []float64{1, 10} {
				name := fmt.Sprintf("%v%d/T%d/legal=%v/scale%v", c.scheme, c.categories, c.T, legal, scale)
				t.Run(name, func(t *testing.T) {
					r := rand.New(rand.NewPCG(7, uint64(c.T)))
					for range 5 {
						checkAll(t, newProblem(r, tagSet(c.scheme, c.categories), legal, c.T, scale))
					}
				})
			}
		}
	}
}

// fullViterbi is Viterbi over all pairs of labels, without any of its
// shortcuts.
func (l *Lattice) fullViterbi(path []pipeline.Tag) {
	if l.T == 0 {
		return
	}
	tr, s := l.tr, l.tr.Stride
	copy(l.alpha[s:2*s], l.State[:s])
	for t := 1; t < l.T; t++ {
		prev, next := l.alpha[t*s:][:s], l.alpha[(t+1)*s:][:s]
		for j := range next {
			next[j] = 2 * Forbidden
		}
		top := float32(2 * Forbidden)
		for j := range tr.L {
			for i := range tr.L {
				next[j] = max(next[j], prev[i]+tr.score[i*s+j])
			}
			next[j] += l.State[t*s+j]
			top = max(top, next[j])
		}
		for j := range next {
			next[j] -= top
		}
	}
	l.back(path)
}

func checkAll(t *testing.T, p problem) {
	t.Helper()
	want := p.enumerate()
	x := p.lattice()
	path := make([]pipeline.Tag, p.T)
	x.Viterbi(path)
	if got := p.score(path); math.Abs(got-want.best) > 1e-4 {
		t.Errorf("Viterbi scores %v, best path has %v", got, want.best)
	}
	if got := x.LogScore(path) + x.shift; math.Abs(got-want.best) > 1e-4 {
		t.Errorf("LogScore %v, want %v", got, want.best)
	}
	x.fullViterbi(path)
	if got := p.score(path); math.Abs(got-want.best) > 1e-4 {
		t.Errorf("FullViterbi scores %v, best path has %v", got, want.best)
	}
	if got := x.LogZ() + x.shift; math.Abs(got-want.logZ) > 2e-4 {
		t.Errorf("LogZ %v, want %v", got, want.logZ)
	}
	r := x.reference()
	if got := r.logZ + x.shift; math.Abs(got-want.logZ) > 2e-4 {
		t.Errorf("reference LogZ %v, want %v", got, want.logZ)
	}
	s := x.tr.Stride
	marginal := make([]float32, p.T*s)
	x.Marginals(marginal)
	for i, want := range want.marginal {
		at := i/p.w.L*s + i%p.w.L
		if math.Abs(float64(marginal[at])-want) > 2e-4 || math.Abs(r.marginal(i)-want) > 2e-4 {
			t.Errorf("marginal %d is %v, by the reference %v, want %v", i, marginal[at], r.marginal(i), want)
		}
	}
	checkExpectation(t, p, want)
}

func checkExpectation(t *testing.T, p problem, want all) {
	t.Helper()
	tr := NewTransitions64(p.w)
	s, L := tr.Stride, p.w.L
	state, post, pair := make([]float64, p.T*s), make([]float64, p.T*s), make([]float64, s*s)
	for i := range state {
		state[i] = Forbidden
	}
	for i, v := range p.state {
		state[i/L*s+i%L] = float64(v)
	}
	var e Expectation
	logZ := e.Add(tr, p.T, state, post, pair)
	if math.Abs(logZ-want.logZ) > 1e-9*max(1, math.Abs(want.logZ)) {
		t.Errorf("Expectation: log Z %v, want %v", logZ, want.logZ)
	}
	for i, want := range want.marginal {
		if got := post[i/L*s+i%L]; math.Abs(got-want) > 1e-9 {
			t.Errorf("Expectation: marginal %d is %v, want %v", i, got, want)
		}
	}
	for i, want := range want.pair {
		at := i/L*s + i%L
		if got := pair[at] * tr.Exp[at]; math.Abs(got-want) > 1e-9 {
			t.Errorf("Expectation: pair %d counts %v, want %v", i, got, want)
		}
	}
}

// TestPruning holds the fast Viterbi against the full one on chains of the
// size of notes, with weights from flat to decided.
func TestPruning(t *testing.T) {
	for _, set := range []*pipeline.TagSet{tagSet(pipeline.BIO, 4), tagSet(pipeline.BIO, 9), tagSet(pipeline.BIO, 22), tagSet(pipeline.BIOESU, 9)} {
		for _, scale := range []float64{.1, 1, 5, 30} {
			r := rand.New(rand.NewPCG(11, uint64(set.Len())))
			for range 20 {
				p := newProblem(r, set, true, 40, scale)
				for i := 0; i < len(p.state); i += p.w.L {
					p.state[i] += float32(3 * scale) // O is likely, as in notes
				}
				x := p.lattice()
				fast, full := make([]pipeline.Tag, p.T), make([]pipeline.Tag, p.T)
				x.Viterbi(fast)
				x.fullViterbi(full)
				if !slices.Equal(fast, full) && math.Abs(p.score(fast)-p.score(full)) > 1e-4 {
					t.Fatalf("%d tags, scale %v: %v scores %v, full %v scores %v", set.Len(), scale, fast, p.score(fast), full, p.score(full))
				}
				checkLong(t, x)
			}
		}
	}
}

// checkLong holds the linear-space sums against the log-space ones.
func checkLong(t *testing.T, x *Lattice) {
	t.Helper()
	r := x.reference()
	if fast, slow := x.LogZ(), r.logZ; math.Abs(fast-slow) > 1e-3 {
		t.Fatalf("LogZ %v, reference %v", fast, slow)
	}
	got := make([]float32, len(x.State))
	x.Marginals(got)
	for i := range r.alpha {
		if got := float64(got[i/r.L*x.tr.Stride+i%r.L]); math.Abs(got-r.marginal(i)) > 1e-3 {
			t.Fatalf("marginal %d: %v, reference %v", i, got, r.marginal(i))
		}
	}
}

// Constrained decoding: what is forbidden is not taken, and what is left is
// the best of what is allowed.
func TestForbid(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		set := tagSet(rapid.SampledFrom([]pipeline.Scheme{pipeline.BIO, pipeline.BIOESU}).Draw(rt, "scheme"), 1)
		p := newProblem(rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1)), set, true, 4, 2)
		forbidden := rapid.SliceOfN(rapid.IntRange(0, 4*set.Len()-1), 0, 5).Draw(rt, "forbidden")
		tr := NewTransitions(p.w)
		var x Lattice
		x.Reset(tr, p.T, 0)
		for i := range x.State {
			x.State[i] = Forbidden
		}
		for t := range p.T {
			copy(x.State[t*tr.Stride:], p.state[t*p.w.L:(t+1)*p.w.L])
		}
		for _, f := range forbidden {
			p.state[f] = Forbidden
			x.State[f/p.w.L*tr.Stride+f%p.w.L] = Forbidden
		}
		want := p.enumerate().best
		if want < Forbidden/2 {
			return // nothing is allowed
		}
		x.Prepare()
		path := make([]pipeline.Tag, p.T)
		x.Viterbi(path)
		if got := p.score(path); math.Abs(got-want) > 1e-4 {
			rt.Fatalf("%v scores %v, best allowed has %v", path, got, want)
		}
		if !set.Starts(path[0]) || !set.Ends(path[p.T-1]) {
			rt.Fatalf("%v starts or ends within a span", path)
		}
		for t := 1; t < p.T; t++ {
			if !set.MayFollow(path[t-1], path[t]) {
				rt.Fatalf("%v: illegal step at %d", path, t)
			}
		}
	})
}

func (r *reference) marginal(i int) float64 { return math.Exp(r.alpha[i] + r.beta[i] - r.logZ) }

// Scores too far apart for float32 fall back to float64, and those too far
// apart for that to log space.
func TestUnderflow(t *testing.T) {
	for _, far := range []float32{100, 300, 600} {
		set := tagSet(pipeline.BIO, 2)
		p := problem{w: NewWeights(set, true), T: 3, state: make([]float32, 3*set.Len())}
		p.state[set.Len()+2] = far             // I of the first category, second token
		p.state[1], p.state[0] = 50-far, 0     // its B, first token
		p.w.Score[1*set.Len()+2] = 0           // B to I
		p.state[2*set.Len()] = 1               // O, last token
		p.state[set.Len()], p.state[3] = 0, -3 // O and the other B
		x, want := p.lattice(), p.enumerate()
		if got := x.LogZ() + x.shift; math.Abs(got-want.logZ) > 1e-3 {
			t.Errorf("%v: LogZ %v, want %v", far, got, want.logZ)
		}
		m := make([]float32, len(x.State))
		x.Marginals(m)
		if got, want := float64(m[x.tr.Stride+2]), want.marginal[set.Len()+2]; !x.narrow || math.Abs(got-want) > 1e-3 {
			t.Errorf("%v: marginal %v, want %v", far, got, want)
		}
	}
}

// Each token of a long line takes something away, so that the product of the
// sums leaves float32, or float64.
func TestLong(t *testing.T) {
	set := tagSet(pipeline.BIO, 3)
	for _, n := range []int{60, 200, 1500} {
		p := newProblem(rand.New(rand.NewPCG(1, uint64(n))), set, true, n, 1)
		for i := range p.w.Score {
			p.w.Score[i] -= 3
		}
		x, path, allocs := p.lattice(), make([]pipeline.Tag, n), 0.0
		x.Decode(path)
		if !x.narrow {
			t.Errorf("%d tokens: float32 was wide enough", n)
		}
		checkLong(t, x)
		if n < 1500 {
			allocs = testing.AllocsPerRun(5, func() { x.Prepare(); x.Decode(path); x.sumBehind(0) })
		}
		if allocs != 0 {
			t.Errorf("%d tokens: %v allocations", n, allocs)
		}
		var spans SpanProbs
		spans.Reset(set)
		spans.Add(x, lineOf(n), path, 0, n)
		var all float64
		for i, r := 0, x.reference(); i < set.Len(); i++ {
			all += r.marginal(i)
			if got := x.ahead(0, i) * x.after(0, i); math.Abs(got-r.marginal(i)) > 1e-9 {
				t.Errorf("%d tokens: tag %d has %v, the reference %v", n, i, got, r.marginal(i))
			}
		}
		if math.Abs(all-1) > 1e-9 {
			t.Errorf("%d tokens: marginals add up to %v", n, all)
		}
	}
}

func TestEmpty(t *testing.T) {
	p := problem{w: NewWeights(tagSet(pipeline.BIO, 1), true)}
	x := p.lattice()
	x.Viterbi(nil)
	x.Marginals(nil)
	if x.LogZ() != 0 || x.LogScore(nil) != 0 {
		t.Error("an empty sequence has one path, of score 0")
	}
}

func BenchmarkLattice(b *testing.B) {
	for _, tags := range []int{4, 9, 22} {
		for _, scale := range []float64{1, 5} {
			r := rand.New(rand.NewPCG(1, 1))
			p := newProblem(r, tagSet(pipeline.BIO, tags), true, 20, 1)
			for i := range p.state {
				p.state[i] *= float32(scale)
				if i%p.w.L == 0 {
					p.state[i] += float32(4 * scale)
				}
			}
			x := p.lattice()
			path := make([]pipeline.Tag, p.T)
			marginals := make([]float32, len(x.State))
			run := func(name string, do func()) {
				b.Run(fmt.Sprintf("%s/%d/scale%v", name, p.w.L, scale), func(b *testing.B) {
					b.ReportAllocs()
					for b.Loop() {
						do()
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*p.T), "ns/token")
				})
			}
			run("prepare", x.Prepare)
			run("viterbi", func() { x.Viterbi(path) })
			run("fullviterbi", func() { x.fullViterbi(path) })
			run("logz", func() { x.LogZ() })
			run("marginals", func() { x.Marginals(marginals) })
		}
	}
}
