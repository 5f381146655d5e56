package crftrain

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/velum-health/velum/models/number/kernels"
	"github.com/velum-health/velum/models/tag/crf"
	"github.com/velum-health/velum/models/tag/crf/crftest"
	"github.com/velum-health/velum/models/tag/features"
	"github.com/velum-health/velum/models/tag/tagger"
	"github.com/velum-health/velum/pipeline"
)

func toyCorpus(t testing.TB, scheme pipeline.Scheme, template string, notes int, seed uint64) *Corpus {
	t.Helper()
	set := crftest.Set(scheme)
	c := NewCorpus(crftest.Parsed(t, template), set, crftest.Resources())
	for _, n := range crftest.Notes(t, set, notes, seed) {
		if err := c.Add(n.Text, n.Tokens, n.Matches, n.Tags); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// TestGradient holds the gradient against finite differences, with the
// penalty, for both schemes and all layouts of weights.
func TestGradient(t *testing.T) {
	for _, opt := range []TrainOptions{{}, {MinCount: 3, TrainOptions: tagger.TrainOptions{Workers: 2}}} {
		for _, scheme := range []pipeline.Scheme{pipeline.BIO, pipeline.BIOESU} {
			c := toyCorpus(t, scheme, crftest.Template, 12, 1)
			o := newObjective(c, opt)
			w, g, scratch := make([]float64, o.size()), make([]float64, o.size()), make([]float64, o.size())
			r := rand.New(rand.NewPCG(5, 5))
			for i := range w {
				w[i] = r.NormFloat64() / 2
			}
			o.evaluate(w, g)
			const eps = 1e-5
			for range 150 {
				i := r.IntN(len(w))
				if r.IntN(3) == 0 {
					i = len(o.slot) + r.IntN(len(o.pairs))
				}
				old := w[i]
				w[i] = old + eps
				up := o.evaluate(w, scratch)
				w[i] = old - eps
				down := o.evaluate(w, scratch)
				w[i] = old
				if want := (up - down) / (2 * eps); math.Abs(g[i]-want) > 1e-6*max(1, math.Abs(want)) {
					t.Fatalf("%+v, %v: weight %d of %d: gradient %v, differences say %v", opt, scheme, i, len(w), g[i], want)
				}
			}
		}
	}
}

// The gradient is the same bit for bit for any number of workers.
func TestWorkers(t *testing.T) {
	c := toyCorpus(t, pipeline.BIO, crftest.Template, 60, 2)
	gradient := func(workers int) []float64 {
		o := newObjective(c, TrainOptions{TrainOptions: tagger.TrainOptions{Workers: workers}})
		w, g := make([]float64, o.size()), make([]float64, o.size())
		for i := range w {
			w[i] = math.Sin(float64(i))
		}
		return append(g, o.evaluate(w, g))
	}
	one := gradient(1)
	for _, workers := range []int{2, 3, 8} {
		if !slices.Equal(one, gradient(workers)) {
			t.Errorf("%d workers: another gradient than one worker", workers)
		}
	}
}

// state reads the objective and the number of weights out of what a training says.
func state(t *testing.T, said string) (objective float64, weights int) {
	t.Helper()
	if _, err := fmt.Sscanf(said, "objective %f, %d weights", &objective, &weights); err != nil {
		t.Fatalf("%q: %v", said, err)
	}
	return objective, weights
}

// The objective falls at every iteration, for L2, L1 and both, and L1 leaves
// fewer weights.
func TestObjectiveFalls(t *testing.T) {
	weights := map[string]int{}
	for name, opt := range map[string]TrainOptions{"L2": {L2: 1}, "L1": {L1: .3}, "both": {L1: .3, L2: .5}} {
		last := math.Inf(1)
		opt.Progress = func(said string) bool {
			objective, n := state(t, said)
			if objective > last {
				t.Errorf("%s: objective rose from %v to %v", name, last, objective)
			}
			last, weights[name] = objective, n
			return true
		}
		trainedToy(t, opt)
	}
	if weights["L1"]*3 > weights["L2"] {
		t.Errorf("weights that are not zero: %v", weights)
	}
}

// At its end OWL-QN stands where no direction leads down: the conditions of a
// minimum with a 1-norm.
func TestElasticNetOptimum(t *testing.T) {
	c := toyCorpus(t, pipeline.BIO, crftest.Template, 40, 4)
	o := newObjective(c, TrainOptions{})
	m := newMinimizer(o.size(), o.evaluate, .4, .2, 6)
	m.start()
	for range 300 {
		if !m.step() {
			break
		}
	}
	if norm := math.Sqrt(kernels.Dot64(m.pseudo, m.pseudo)); norm > 1e-2 {
		t.Errorf("steepest descent at the end is %v", norm)
	}
}

// Warm start: beginning at a trained model, the objective begins where it
// ended; with another template and other tags, what is shared is taken over.
func TestWarmStart(t *testing.T) {
	m := trainedToy(t, TrainOptions{})
	// between returns where a training begins and ends, and the number of its iterations.
	between := func(c *Corpus, o TrainOptions) (first, last float64, iterations int) {
		t.Helper()
		iterations = -1
		o.Progress = func(said string) bool {
			if last, _ = state(t, said); iterations < 0 {
				first = last
			}
			iterations++
			return true
		}
		if _, err := Train(c, o); err != nil {
			t.Fatal(err)
		}
		return first, last, iterations
	}
	warm := tagger.TrainOptions{Init: m}
	toy := toyCorpus(t, pipeline.BIO, crftest.Template, 150, 3)
	_, cold, _ := between(toy, TrainOptions{L2: .5})
	first, _, iterations := between(toy, TrainOptions{L2: .5, TrainOptions: warm})
	if first > cold*1.001 || iterations > 15 {
		t.Errorf("begins at %v and takes %d iterations; a cold start ends at %v", first, iterations, cold)
	}
	other := toyCorpus(t, pipeline.BIOESU, strings.Replace(crftest.Template, "word -2..2", "word -3..1", 1), 150, 3)
	first, _, _ = between(other, TrainOptions{TrainOptions: warm, L2: .5, Iterations: 1})
	zero, _, _ := between(other, TrainOptions{L2: .5, Iterations: 1})
	if first > zero/2 {
		t.Errorf("another scheme begins at %v, without the model at %v", first, zero)
	}
}

func TestTrainErrors(t *testing.T) {
	empty := NewCorpus(crftest.Parsed(t, crftest.Template), crftest.Set(pipeline.BIO), features.Resources{})
	if _, err := Train(empty, TrainOptions{}); err == nil {
		t.Error("no notes: no error")
	}
	if _, err := Train(toyCorpus(t, pipeline.BIO, crftest.Template, 1, 1), TrainOptions{L2: -1}); err == nil {
		t.Error("negative penalty: no error")
	}
}

// Spans that reach over a line end are cut there, so that no illegal path is
// ever taught.
func TestSpanOverLines(t *testing.T) {
	set := crftest.Set(pipeline.BIOESU)
	n := crftest.New(t, set, "vista [PERSON:Marta Oliva | Serra] hoy")
	c := NewCorpus(crftest.Parsed(t, crftest.Template), set, features.Resources{})
	if err := c.Add(n.Text, n.Tokens, nil, n.Tags); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, y := range c.tag {
		names = append(names, set.Name(pipeline.Tag(y)))
	}
	want := "O B-PERSON E-PERSON B-PERSON E-PERSON O"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("tags %s, want %s", got, want)
	}
}

func trainedToy(t testing.TB, opt TrainOptions) *crf.Model {
	t.Helper()
	if opt.L2 == 0 && opt.L1 == 0 {
		opt.L2 = .5
	}
	m, err := Train(toyCorpus(t, pipeline.BIO, crftest.Template, 150, 3), opt)
	if err != nil {
		t.Fatal(err)
	}
	return m
}
