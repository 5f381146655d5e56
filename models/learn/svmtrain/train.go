// Package svmtrain learns the linear support vector machine, one against the rest, that tags each
// token by itself (VIGI §4.2).
//
//	in:  tagged notes, a feature template
//	out: a model of package crf, of kind crf.SVM
//
//	f_y(x)   = w_y·x, its w_y the minimum of ½‖w‖² + Σ_i C_i ξ(1 - ±w·x_i)
//	z_y(x)   = log P_y/(1-P_y) = -(A_y f_y(x) + B_y)        Platt, on notes that were held out
//	P(y|x)   = e^(τ z_y) / Σ_y' e^(τ z_y')
//
// with ξ the hinge max(0, ·) or its square. The features are those of the CRF, so the
// context of a token is in its window and not in the tags beside it.
//
// Sigmoids and temperature are linear in logarithms: they are multiplied into the
// weights, and a model is one of package crf whose scores between tags are 0 where a
// span may be written so, and Forbidden elsewhere. So Viterbi over log P(y|x) makes
// the tags legal, the recall dial, marginals and cascades are those of the CRF, and
// what its features add up to explains a tag.
package svmtrain

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/velum-health/velum/models/learn/crftrain"
	"github.com/velum-health/velum/models/number/kernels"
	"github.com/velum-health/velum/models/tag/chain"
	"github.com/velum-health/velum/models/tag/crf"
	"github.com/velum-health/velum/models/tag/features"
	"github.com/velum-health/velum/models/tag/tagger"
	"github.com/velum-health/velum/pipeline"
)

// Defaults of training.
const (
	Cost      = 0.1  // C: VIGI §6.1 chose it by five folds
	Tolerance = 0.1  // LIBLINEAR's -e for its dual solvers
	Passes    = 1000 // LIBLINEAR's
	Folds     = 3    // of notes, for sigmoids: Platt's
)

// TrainOptions holds the options of a training. The zero value corresponds to LIBLINEAR's -s 1 -B 1 with C = 0.1.
type TrainOptions struct {
	C        float64 // cost of a margin that is missed; 0 means Cost
	MinCount int     // leaves out features (at one window offset) seen less often
	Prune    float32 // leaves weights out of the model whose absolute value is smaller
}

// Trainer implements tagger.Trainer for the SVM.
type Trainer struct {
	*crftrain.Corpus
	template *features.Template
	set      *pipeline.TagSet
	res      features.Resources
	o        TrainOptions
	notes    []int // first token of each note
}

// NewTrainer returns a trainer without notes.
func NewTrainer(t *features.Template, set *pipeline.TagSet, r features.Resources, o TrainOptions) *Trainer {
	o.C = cmp.Or(o.C, Cost)
	return &Trainer{Corpus: crftrain.NewCorpus(t, set, r), template: t, set: set, res: r, o: o}
}

// Add implements tagger.Trainer.
func (t *Trainer) Add(text []byte, tokens []pipeline.Token, matches []pipeline.Match, tags []pipeline.Tag) error {
	t.notes = append(t.notes, t.Tokens())
	return t.Corpus.Add(text, tokens, matches, tags)
}

// Work implements tagger.Trainer.
func (t *Trainer) Work() (unit string, times int) { return "hyperplanes", t.set.Len() * (1 + Folds) }

// Train implements tagger.Trainer. Given a model to start from (o.Init) it returns tagger.ErrInit: training
// solves for the support vectors among its own examples, and a model keeps no examples of the training before.
func (t *Trainer) Train(o tagger.TrainOptions) (tagger.Model, error) {
	switch {
	case t.Tokens() == 0:
		return nil, errors.New("no training notes")
	case o.Init != nil:
		return nil, fmt.Errorf("%w: an SVM is made of its examples alone; give it those of before too", tagger.ErrInit)
	}
	r := &training{o: t.o, x: t.Examples(t.o.MinCount), labels: t.set.Len(), progress: o.Progress}
	r.fold = foldsOf(t.notes, t.Tokens())
	if !r.solve(o.Workers) {
		return nil, errors.New("training was stopped")
	}
	r.calibrate(o.Workers)
	return t.model(r, o.About)
}

// foldsOf deals the notes out to folds, one after the other.
func foldsOf(notes []int, tokens int) []uint8 {
	fold := make([]uint8, tokens)
	for i, from := range notes {
		to := tokens
		if i+1 < len(notes) {
			to = notes[i+1]
		}
		for k := from; k < to; k++ {
			fold[k] = uint8(i % Folds)
		}
	}
	return fold
}

// training is one run of Train.
type training struct {
	o        TrainOptions
	x        *crftrain.Examples
	labels   int
	fold     []uint8 // [rows]
	progress func(said string) bool

	mu      sync.Mutex // of progress
	stopped bool

	w       [][]float32 // [tags][columns+1] of all notes; nil: the tag has no example
	scores  [][]float32 // [tags][rows] by the hyperplanes of the other folds
	sigmoid []Sigmoid   // [tags]
	tau     float64
}

// solve finds all hyperplanes, those of the frequent tags first, since they take
// longest; it returns false if it was stopped.
func (t *training) solve(workers int) bool {
	count := make([]int, t.labels)
	for _, y := range t.x.Tag {
		count[y]++
	}
	order := make([]int, t.labels)
	for y := range order {
		order[y] = y
		t.scores = append(t.scores, make([]float32, t.x.Rows()))
	}
	slices.SortStableFunc(order, func(a, b int) int { return count[b] - count[a] })
	t.w = make([][]float32, t.labels)
	kernels.Parallel(workers, t.labels*(1+Folds), func(_, share int) {
		tag, fold := order[share/(1+Folds)], share%(1+Folds)-1
		if t.goesOn() {
			t.hyperplane(tag, fold)
			t.tell(tag)
		}
	})
	return t.goesOn()
}

func (t *training) goesOn() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return !t.stopped
}

func (t *training) tell(tag int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.progress != nil && !t.progress(fmt.Sprintf("tag %d of %d", tag, t.labels)) {
		t.stopped = true
	}
}

// hyperplane finds that of a tag on all notes, or on those outside a fold (0 and up),
// whose tokens it then scores.
func (t *training) hyperplane(tag, fold int) {
	var rows []int32
	positive := false
	for i, y := range t.x.Tag {
		if int(t.fold[i]) == fold {
			continue
		}
		rows = append(rows, int32(i))
		positive = positive || int(y) == tag
	}
	var w []float64
	if positive {
		p := &Problem{X: t.x, Rows: rows, C: t.o.C, Tolerance: Tolerance, Passes: Passes,
			Positive: func(row int32) bool { return int(t.x.Tag[row]) == tag }}
		w = p.Solve(uint64(tag)).w
	}
	if fold < 0 && w != nil {
		t.w[tag] = make([]float32, len(w))
		for k, v := range w {
			t.w[tag][k] = float32(v)
		}
	}
	for i := range t.x.Tag {
		switch {
		case int(t.fold[i]) != fold:
		case w == nil:
			t.scores[tag][i] = -1
		default:
			t.scores[tag][i] = float32(Score(t.x, int32(i), w))
		}
	}
}

// calibrate fits the sigmoids and the temperature to the scores of the folds.
func (t *training) calibrate(workers int) {
	t.sigmoid = make([]Sigmoid, t.labels)
	kernels.Parallel(workers, t.labels, func(_, tag int) {
		s := Platt(t.scores[tag], func(i int) bool { return int(t.x.Tag[i]) == tag })
		s.A = min(s.A, 0) // of a tag with an example or two no score says anything
		for i, f := range t.scores[tag] {
			t.scores[tag][i] = float32(s.LogOdds(float64(f)))
		}
		t.sigmoid[tag] = s
	})
	t.tau = Temperature(t.scores, t.x.Tag)
}

// model multiplies sigmoids and temperature into the weights.
func (t *Trainer) model(r *training, about tagger.Header) (*crf.Model, error) {
	about.Training = tagger.Training{Sequences: t.Sequences(), Tokens: t.Tokens(), Forms: t.Forms(), MinCount: t.o.MinCount, Prune: t.o.Prune,
		Cost: t.o.C}
	about.Training.Spans, about.Training.SpanTokens = t.set.Count(r.x.Tag)
	own := slices.IndexFunc(r.x.Columns, t.isBias)
	between, scale, bias := chain.NewWeights(t.set, true), make([]float64, r.labels), make([]float64, r.labels)
	for y, s := range r.sigmoid {
		bias[y] = -r.tau * s.B
		if r.w[y] != nil {
			scale[y] = -r.tau * s.A
			bias[y] += scale[y] * float64(r.w[y][len(r.x.Columns)])
		}
		if own < 0 {
			begin(between, y, float32(bias[y]))
		}
	}
	b := crf.NewBuilder(t.template, t.set)
	last := uint64(0)
	for c, column := range r.x.Columns {
		if column.Key != last {
			b.Feature(column.Key)
			last = column.Key
		}
		for y, w := range r.w {
			v := 0.0
			if w != nil {
				v = scale[y] * float64(w[c])
			}
			if c == own {
				v += bias[y]
			}
			if v := float32(v); v != 0 && max(v, -v) >= t.o.Prune {
				b.Put(column.Row, y, v)
			}
		}
	}
	return b.Done(crf.SVM, about, between, t.res)
}

// isBias tells that a column is the template's own bias.
func (t *Trainer) isBias(c crftrain.Column) bool {
	g := slices.IndexFunc(t.template.Groups, func(g features.Group) bool { return g.Name == "bias" })
	return g >= 0 && c == crftrain.Column{Key: features.Key("bias", "1"), Row: t.template.Groups[g].Hi}
}

// begin adds the bias of a tag wherever a path may come to it: of a template without
// the group bias, each token pays it once.
func begin(w chain.Weights, tag int, bias float32) {
	if w.Start[tag] > chain.Forbidden {
		w.Start[tag] += bias
	}
	for from := range w.L {
		if at := from*w.L + tag; w.Score[at] > chain.Forbidden {
			w.Score[at] += bias
		}
	}
}
