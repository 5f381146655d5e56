// Package crftrain learns the weights of a CRF from tagged notes by L-BFGS with an elastic-net penalty (NGRID §4),
// parallel over sequences. The result does not depend on the number of workers. It takes a template and tagged notes
// and returns a *crf.Model. It is a package of its own so that a program that only tags does not link it.
package crftrain

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/velum-health/velum/models/number/kernels"
	"github.com/velum-health/velum/models/tag/chain"
	"github.com/velum-health/velum/models/tag/crf"
	"github.com/velum-health/velum/models/tag/tagger"
	"github.com/velum-health/velum/pipeline"
)

// TrainOptions holds the options of a training. The zero value has CRFsuite's defaults, restricted to the paths that
// the tag scheme allows.
type TrainOptions struct {
	// Init gives the initial weights of those features and transitions that occur in the corpus. Its tags may differ:
	// those with the same name are taken over.
	tagger.TrainOptions
	// L1 and L2 are λ1 and λ2 of R(w) = λ1‖w‖₁ + (λ2/2)‖w‖₂² (VIGI §5.6).
	// CRFsuite's c1 is λ1, its c2 is λ2/2. With λ1 > 0 OWL-QN is used.
	L1, L2 float64
	// MinCount leaves out features (at one window offset) seen less often.
	MinCount   int
	Iterations int // highest number; 0 means Iterations

	// Prune leaves weights out of the model whose absolute value is smaller.
	Prune float32
	// Bias is subtracted from the score of O of every token during training, so that the model masks more. The template
	// needs the group bias.
	Bias float32
}

// Defaults of training.
const (
	Iterations = 120 // at most: MEDDOCAN gains about 0.1 point of F1 between 80 and 160

	tolerance = 1e-5 // share of itself by which the objective must fall in the last iterations of a period
	memory    = 6    // steps that L-BFGS remembers, CRFsuite's and liblbfgs' default: more cost memory and gained nothing
	period    = 10   // iterations over which the objective must fall: theirs too
	epsilon   = 1e-5 // training stops when ‖gradient‖ < epsilon·max(1, ‖w‖)
)

// Train fits a model to the corpus.
func Train(c *Corpus, opt TrainOptions) (*crf.Model, error) {
	if len(c.form) == 0 {
		return nil, errors.New("no training notes")
	}
	if opt.L1 < 0 || opt.L2 < 0 {
		return nil, errors.New("negative regularization")
	}
	opt.Workers, opt.Iterations = max(opt.Workers, 1), cmp.Or(opt.Iterations, Iterations)
	from, isCRF := opt.Init.(*crf.Model)
	if opt.Init != nil && !isCRF {
		return nil, fmt.Errorf("%w: it is no CRF", tagger.ErrInit)
	}
	o := newObjective(c, opt)
	m := newMinimizer(o.size(), o.evaluate, opt.L1, opt.L2, memory)
	if isCRF {
		o.warm(m.w, from)
	}
	t := &training{o: o, m: m, opt: opt, began: time.Now()}
	if err := t.run(); err != nil {
		return nil, err
	}
	return t.model(m.w)
}

// training is one run of Train.
type training struct {
	o     *objective
	m     *minimizer
	opt   TrainOptions
	began time.Time

	iteration int
	history   []float64 // objectives
}

func (t *training) run() error {
	t.m.start()
	if math.IsInf(t.m.value, 1) {
		return errors.New("training: the first weights are out of range")
	}
	for t.iteration = 0; ; {
		norm := math.Sqrt(kernels.Dot64(t.m.pseudo, t.m.pseudo))
		if t.opt.Progress != nil && !t.opt.Progress(t.said()) {
			return nil
		}
		if t.iteration == t.opt.Iterations || t.converged(norm) || !t.m.step() {
			return nil
		}
		t.iteration++
	}
}

func (t *training) converged(norm float64) bool {
	if norm < epsilon*max(1, math.Sqrt(kernels.Dot64(t.m.w, t.m.w))) {
		return true
	}
	t.history = append(t.history, t.m.value)
	n := len(t.history)
	if n <= period {
		return false
	}
	return t.history[n-1-period]-t.m.value < tolerance*t.m.value
}

// said tells how the training goes.
func (t *training) said() string {
	weights := 0
	for _, w := range t.m.w {
		if w != 0 {
			weights++
		}
	}
	return fmt.Sprintf("objective %.1f, %d weights, %.0f s", t.m.value, weights, time.Since(t.began).Seconds())
}

// model makes a model of weights.
func (t *training) model(w []float64) (*crf.Model, error) {
	o, c := t.o, t.o.c
	h := t.opt.About
	h.Training = tagger.Training{
		Sequences: c.Sequences(), Tokens: c.Tokens(), Forms: c.Forms(), Iterations: t.iteration,
		L1: t.opt.L1, L2: t.opt.L2, MinCount: t.opt.MinCount, Prune: t.opt.Prune,
	}
	h.Training.Spans, h.Training.SpanTokens = c.set.Count(c.tag)
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
		label[y] = m.TagSet().Like(o.c.set, y)
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
