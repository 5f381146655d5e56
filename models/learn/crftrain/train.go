// Package crftrain learns the weights of a CRF from tagged notes: L-BFGS on the elastic
// net (NGRID §4), parallel over sequences, with the same result for any number of workers. In: a template and notes. Out: a *crf.Model. It stands apart
// from package crf so that what tags does not know what learns.
package crftrain

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/velum-health/velum/models/tag/chain"
	"github.com/velum-health/velum/models/tag/crf"
	"github.com/velum-health/velum/models/tag/tagger"
	"github.com/velum-health/velum/pipeline"
)

// TrainOptions say how to train. The zero value trains like CRFsuite's
// default, within the paths that the tag scheme allows.
type TrainOptions struct {
	// L1 and L2 are λ1 and λ2 of R(w) = λ1‖w‖₁ + (λ2/2)‖w‖₂² (VIGI §5.6).
	// CRFsuite's c1 is λ1, its c2 is λ2/2. With λ1 > 0 OWL-QN is used.
	L1, L2 float64
	// MinCount leaves out features (at one window offset) seen less often.
	MinCount   int
	Workers    int // cores; 0 means 1. The result does not depend on it.
	Iterations int // at most; 0 means Iterations
	// Delta stops when the objective fell by less than this share of itself
	// in the last ten iterations; 0 means Tolerance.
	Delta float64

	// Init gives the weights to begin with: those of its features and
	// transitions that the corpus has too. Its tags may be others; those that
	// have the same name are taken over.
	Init *crf.Model
	// Progress is called after every iteration, if it is set; it stops the
	// training by returning false.
	Progress func(Progress) bool
	// Dev scores a model on held-out notes, larger is better. If it is set, it
	// is asked every fifth iteration, and the training stops
	// when no answer of Patience iterations (0 means Patience) was better than the best;
	// the best model is returned.
	Dev      func(*crf.Model) (float64, error)
	Patience int

	// Prune leaves weights out of the model whose absolute value is smaller.
	Prune float32
	// Bias is taken from the score of O of every token when the weights are
	// learned: more is masked. The template needs the group bias.
	Bias float32
	// About is kept in the model's header as it is; the fields that training
	// knows are filled in.
	About tagger.Header
}

// Progress is the state of a training.
type Progress struct {
	Iteration int
	Objective float64 // negative log likelihood and penalties
	Gradient  float64 // ‖gradient‖
	Weights   int     // that are not zero
	Dev       float64 // last score; 0 before the first
	Seconds   float64 // since the beginning
}

// What training does unless options say otherwise.
const (
	Iterations = 120  // at most: MEDDOCAN gains about 0.1 point of F1 between 80 and 160
	Patience   = 10   // iterations without a higher score on held-out notes
	Tolerance  = 1e-5 // share of itself by which the objective must fall

	memory  = 6    // steps that L-BFGS remembers, CRFsuite's and liblbfgs' default: more cost memory and gained nothing
	period  = 10   // iterations over which the objective must fall: theirs too
	epsilon = 1e-5 // training stops when ‖gradient‖ < epsilon·max(1, ‖w‖)

	// devEvery is how many iterations lie between two scores on held-out notes:
	// scoring MEDDOCAN dev takes as long as two or three iterations.
	devEvery = 5
)

func (o TrainOptions) withDefaults() TrainOptions {
	o.Workers = max(o.Workers, 1)
	o.Iterations, o.Patience, o.Delta = cmp.Or(o.Iterations, Iterations), cmp.Or(o.Patience, Patience), cmp.Or(o.Delta, Tolerance)
	return o
}

// Train fits a model to the corpus.
func Train(c *Corpus, opt TrainOptions) (*crf.Model, error) {
	if len(c.form) == 0 {
		return nil, errors.New("no training notes")
	}
	if opt.L1 < 0 || opt.L2 < 0 {
		return nil, errors.New("negative regularization")
	}
	opt = opt.withDefaults()
	o := newObjective(c, opt)
	m := newMinimizer(o.size(), o.evaluate, opt.L1, opt.L2, memory, opt.Workers)
	if opt.Init != nil {
		o.warm(m.w, opt.Init)
	}
	t := &training{o: o, m: m, opt: opt, began: time.Now()}
	if err := t.run(); err != nil {
		return nil, err
	}
	return t.model(t.best())
}

// training is one run of Train.
type training struct {
	o     *objective
	m     *minimizer
	opt   TrainOptions
	began time.Time

	iteration int
	history   []float64 // objectives
	dev       float64
	bestDev   float64
	bestW     []float64
	worse     int
}

func (t *training) run() error {
	t.m.start()
	if math.IsInf(t.m.value, 1) {
		return errors.New("training: the first weights are out of range")
	}
	for t.iteration = 0; ; {
		norm := math.Sqrt(t.m.dot(t.m.pseudo, t.m.pseudo))
		if t.opt.Progress != nil && !t.opt.Progress(t.progress(norm)) {
			return nil
		}
		if t.iteration == t.opt.Iterations || t.converged(norm) || !t.m.step() {
			return t.ask()
		}
		t.iteration++
		if t.opt.Dev != nil && t.iteration%devEvery == 0 {
			if err := t.ask(); err != nil || t.worse > 0 && t.worse*devEvery >= t.opt.Patience {
				return err
			}
		}
	}
}

func (t *training) converged(norm float64) bool {
	if norm < epsilon*max(1, math.Sqrt(t.m.dot(t.m.w, t.m.w))) {
		return true
	}
	t.history = append(t.history, t.m.value)
	n := len(t.history)
	if n <= period {
		return false
	}
	return t.history[n-1-period]-t.m.value < t.opt.Delta*t.m.value
}

// ask scores the present weights on the held-out notes and keeps the best.
func (t *training) ask() error {
	if t.opt.Dev == nil || t.bestW != nil && slices.Equal(t.bestW, t.m.w) {
		return nil
	}
	model, err := t.model(t.m.w)
	if err != nil {
		return err
	}
	if t.dev, err = t.opt.Dev(model); err != nil {
		return err
	}
	if t.bestW == nil || t.dev > t.bestDev {
		t.bestDev, t.worse = t.dev, 0
		t.bestW = append(t.bestW[:0], t.m.w...)
	} else {
		t.worse++
	}
	return nil
}

func (t *training) best() []float64 {
	if t.bestW != nil {
		return t.bestW
	}
	return t.m.w
}

func (t *training) progress(norm float64) Progress {
	p := Progress{Iteration: t.iteration, Objective: t.m.value, Gradient: norm, Dev: t.dev, Seconds: time.Since(t.began).Seconds()}
	for _, w := range t.m.w {
		if w != 0 {
			p.Weights++
		}
	}
	return p
}

// model makes a model of weights.
func (t *training) model(w []float64) (*crf.Model, error) {
	o, c := t.o, t.o.c
	h := t.opt.About
	h.Training = tagger.Training{
		Sequences: c.Sequences(), Tokens: c.Tokens(), Forms: c.Forms(), Iterations: t.iteration,
		L1: t.opt.L1, L2: t.opt.L2, MinCount: t.opt.MinCount, Prune: t.opt.Prune,
	}
	h.Training.Spans, h.Training.SpanTokens = c.Spans()
	b := crf.NewBuilder(c.template, c.set)
	for f, ft := range c.features {
		b.Feature(ft.key)
		biased := o.c.group(int32(f)).Name == "bias"
		for k := o.weightStart[f]; k < o.weightStart[f+1]; k++ {
			row, y := int(o.slot[k])/o.stride, int(o.slot[k])%o.stride
			v := float32(w[k])
			if biased && y == int(pipeline.O) {
				v -= t.opt.Bias
			}
			if v != 0 && abs(v) >= t.opt.Prune {
				b.Put(row, y, v)
			}
		}
	}
	weights := chain.NewWeights(c.set, true)
	for k, p := range o.pairs {
		weights.Score[int(p.from)*weights.L+int(p.to)] = float32(w[len(o.slot)+k])
	}
	return b.Done(crf.Kind, h, weights, c.extract.Resources())
}

func abs(v float32) float32 { return max(v, -v) }

// warm sets w to what the model m knows of the corpus's features and
// transitions.
func (o *objective) warm(w []float64, m *crf.Model) {
	label := make([]int, o.c.set.Len()) // in m; -1 if m has no such tag
	for y := range label {
		label[y] = m.TagNamed(o.c.set, y)
	}
	for f, ft := range o.c.features {
		g := o.c.group(int32(f))
		known := m.Known(g, ft.key)
		for k := o.weightStart[f]; known != nil && k < o.weightStart[f+1]; k++ {
			if row, y := int(o.slot[k])/o.stride, label[int(o.slot[k])%o.stride]; y >= 0 {
				w[k] = float64(known(row, y))
			}
		}
	}
	for k, p := range o.pairs {
		if from, to := label[p.from], label[p.to]; from >= 0 && to >= 0 {
			if s := m.PathWeight(from, to); s > chain.Forbidden {
				w[len(o.slot)+k] = float64(s)
			}
		}
	}
}
