// Package chain implements a first-order (linear) chain of labels: the best path, the sum over all paths, and
// marginals. It knows nothing of words or notes; packages crf and bilstm compute the scores.
//
//	in:  s(t, y), score of label y at token t; a(y', y), score of y behind y'
//	out: argmax_y p(y|x), log Z(x), p(y_t|x), p(span|x)
//
// There are two implementations. [Lattice] is for tagging: float32, Viterbi with exact pruning, sums in linear space.
// [Expectation] is for training: float64, sums in linear space, and the quantities that the gradient needs. Tests
// compare both with the log-space recursions of textbooks (reference.go), and those with an explicit sum over all
// paths. Linear space is some twenty times faster, because it needs a product instead of an exponential per pair of
// labels. Where float32 would underflow (long lines), [Lattice] sums in float64, and where that would, in log space.
//
// There are two lattices. [Lattice] is for tagging: float32, Viterbi with
// exact pruning, sums in linear space. [Expectation] is for training:
// float64, sums in linear space, and what the gradient needs. Both are held
// against the log-space sums of reference.go, which every textbook has, and
// those against the sum over all paths written out. Linear space is some
// twenty times faster (a product instead of an exponential per pair of
// labels). Where float32 would underflow (long lines), [Lattice] sums in
// float64, and where that would, in log space.
package chain

import (
	"github.com/velum-health/velum/models/number/kernels"
	"github.com/velum-health/velum/pipeline"
)

// Forbidden is the score of an impossible label or transition.
const Forbidden = kernels.Forbidden

// Weights holds the scores of transitions between labels, and those of the first and last label.
type Weights struct {
	L     int       // labels
	Score []float32 // [L][L] of label j (column) behind label i (row)
	Start []float32 // [L] of the first label; 0 or Forbidden
	End   []float32 // [L] of the last label; 0 or Forbidden
}

// NewWeights returns zero weights for the tags of set. If legal, transitions that the tagging scheme does not allow are
// Forbidden.
func NewWeights(set *pipeline.TagSet, legal bool) Weights {
	n := set.Len()
	w := Weights{L: n, Score: make([]float32, n*n), Start: make([]float32, n), End: make([]float32, n)}
	if !legal {
		return w
	}
	for i := range n {
		a := pipeline.Tag(i)
		if !set.Starts(a) {
			w.Start[i] = Forbidden
		}
		if !set.Ends(a) {
			w.End[i] = Forbidden
		}
		for j := range n {
			if !set.MayFollow(a, pipeline.Tag(j)) {
				w.Score[i*n+j] = Forbidden
			}
		}
	}
	return w
}

// Transitions holds the weights in the layouts that the fast algorithms need. It is shared and never changed.
type Transitions struct {
	L      int
	Stride int       // L padded to whole lanes
	score  []float32 // [L][Stride], padding Forbidden
	source []float32 // [L][Stride], the same transposed: row j holds the sources of j
	start  []float32 // [Stride]
	end    []float32 // [Stride]
	rows   int       // L rounded up to even, as kernels.Forward wants it
	exp    []float32 // [rows][Stride] e^score, padding 0
	expT   []float32 // [rows][Stride] e^score transposed
	open   []float32 // [Stride][Stride] scores of open targets, else Forbidden
	band   []float32 // [3][Stride] scores of inner targets from j, j-1, j-2
	slack  []float32 // [Stride] see Viterbi
	steps  *Transitions64
	wide   bool // scores too large for sums in linear space; no trained model has such
}

// widest is the largest score between labels whose exponential float32 may
// multiply; trained models stay under 15.
const widest = 25

// NewTransitions derives the fast forms of w.
func NewTransitions(w Weights) *Transitions {
	stride := kernels.Pad(w.L)
	rows := (w.L + 1) &^ 1
	tr := &Transitions{
		L: w.L, Stride: stride, rows: rows,
		score: filled(w.L*stride, Forbidden), source: filled(w.L*stride, Forbidden),
		start: filled(stride, Forbidden), end: filled(stride, Forbidden),
		exp: make([]float32, rows*stride), expT: make([]float32, rows*stride),
		open: filled(stride*stride, Forbidden), band: filled(3*stride, Forbidden), steps: NewTransitions64(w),
	}
	copy(tr.start, w.Start)
	copy(tr.end, w.End)
	for i := range w.L {
		for j := range w.L {
			s := w.Score[i*w.L+j]
			tr.score[i*stride+j], tr.source[j*stride+i] = s, s
			e := float32(tr.steps.Exp[i*tr.steps.Stride+j])
			tr.exp[i*stride+j], tr.expT[j*stride+i] = e, e
			tr.wide = tr.wide || s > widest || s < -widest && s > Forbidden
		}
	}
	for j := range w.L {
		tr.sort(j)
	}
	tr.slack = tr.slacks()
	return tr
}

func filled(n int, v float32) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = v
	}
	return x
}

// sort puts the transitions to target j into band or open.
func (tr *Transitions) sort(j int) {
	inner := true
	for i := range tr.L {
		if tr.score[i*tr.Stride+j] > Forbidden && (i > j || i < j-2) {
			inner = false
		}
	}
	for i := range tr.L {
		s := tr.score[i*tr.Stride+j]
		switch {
		case !inner:
			tr.open[i*tr.Stride+j] = s
		case i <= j && i >= j-2:
			tr.band[(j-i)*tr.Stride+j] = s
		}
	}
}

// slacks returns for every source b the most that another source can gain on
// it on the way to an open target: max_j (max_i a(i,j) - a(b,j)).
func (tr *Transitions) slacks() []float32 {
	best := filled(tr.Stride, Forbidden)
	for i := range tr.L {
		for j := range tr.L {
			best[j] = max(best[j], tr.open[i*tr.Stride+j])
		}
	}
	slack := make([]float32, tr.Stride)
	for b := range slack {
		for j := range tr.L {
			if best[j] > Forbidden {
				slack[b] = max(slack[b], best[j]-tr.open[b*tr.Stride+j])
			}
		}
	}
	return slack
}
