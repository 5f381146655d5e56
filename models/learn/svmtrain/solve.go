package svmtrain

import (
	"math"
	"math/rand/v2"

	"github.com/velum-health/velum/models/learn/crftrain"
)

// Problem is a binary classification of rows of a matrix. A column of ones is appended, whose weight is the bias; the
// bias is regularized like the other weights.
type Problem struct {
	X        *crftrain.Examples
	Rows     []int32              // the rows that are used
	Positive func(row int32) bool // reports whether a row belongs to the class that is separated from the rest
	C        float64              // cost of max(0, 1-m)² of a margin m: the squared hinge, with which the dual is strictly convex
	// Tolerance is the difference between the largest and the smallest projected gradient of the dual at which training
	// stops: LIBLINEAR's -e.
	Tolerance float64
	Passes    int // over the rows, at most
}

// descent is the state of a dual coordinate descent.
type descent struct {
	*Problem
	w     []float64
	alpha []float64 // [rows] multipliers, as the three below by place in Rows
	sign  []float64
	q     []float64 // x·x and the diagonal
	order []int32   // the active ones are the first

	diag      float64 // 1/2C
	active    int
	oldHigh   float64 // the largest projected gradient of the pass before
	high, low float64
}

// Solve minimizes by dual coordinate descent (Hsieh, Chang, Lin, Keerthi and
// Sundararajan 2008, algorithm 3): one multiplier after the other is set to the
// minimum of
//
//	½ Σ_ij α_i α_j (y_i y_j x_i·x_j + [i=j] D) - Σ_i α_i,   0 ≤ α_i
//
// with D = 1/2C. Multipliers that stay at 0 are left aside (shrinking) until the rest is done. The order of
// every pass is drawn from seed: the same problem has the same solution. w is the hyperplane, [columns+1]; the bias is the last.
func (p *Problem) Solve(seed uint64) *descent {
	d := p.start()
	random := rand.New(rand.NewPCG(seed, 2008))
	for range p.Passes {
		random.Shuffle(d.active, func(i, j int) { d.order[i], d.order[j] = d.order[j], d.order[i] })
		d.pass()
		if d.high-d.low > p.Tolerance {
			if d.oldHigh = d.high; d.high <= 0 {
				d.oldHigh = math.Inf(1) // nothing is left aside
			}
			continue
		}
		if d.active == len(d.order) {
			break
		}
		d.active, d.oldHigh = len(d.order), math.Inf(1)
	}
	return d
}

func (p *Problem) start() *descent {
	n := len(p.Rows)
	d := &descent{Problem: p, w: make([]float64, len(p.X.Columns)+1), alpha: make([]float64, n), sign: make([]float64, n),
		q: make([]float64, n), order: make([]int32, n), diag: 1 / (2 * p.C), active: n, oldHigh: math.Inf(1)}
	for i, row := range p.Rows {
		d.order[i], d.sign[i] = int32(i), -1
		if p.Positive(row) {
			d.sign[i] = 1
		}
		d.q[i] = d.diag + square(p.X, row)
	}
	return d
}

// pass sets every active multiplier once.
func (d *descent) pass() {
	d.high, d.low = math.Inf(-1), math.Inf(1)
	for at := 0; at < d.active; at++ {
		i := d.order[at]
		g := d.sign[i]*Score(d.X, d.Rows[i], d.w) - 1 + d.alpha[i]*d.diag
		projected := g
		if d.alpha[i] == 0 {
			if g > d.oldHigh {
				d.active--
				d.order[at], d.order[d.active] = d.order[d.active], d.order[at]
				at-- // another stands there now
				continue
			}
			projected = min(g, 0)
		}
		d.high, d.low = max(d.high, projected), min(d.low, projected)
		if math.Abs(projected) > 1e-12 {
			was := d.alpha[i]
			d.alpha[i] = max(was-g/d.q[i], 0)
			axpy((d.alpha[i]-was)*d.sign[i], d.X, d.Rows[i], d.w)
		}
	}
}

// Score returns w·x for a row, including the bias.
func Score(x *crftrain.Examples, row int32, w []float64) float64 {
	sum := w[len(w)-1]
	lo, hi := x.Start[row], x.Start[row+1]
	values := x.Value[lo:hi]
	for k, c := range x.Column[lo:hi] {
		sum += float64(values[k]) * w[c]
	}
	return sum
}

// axpy adds a·x of a row to w.
func axpy(a float64, x *crftrain.Examples, row int32, w []float64) {
	w[len(w)-1] += a
	lo, hi := x.Start[row], x.Start[row+1]
	values := x.Value[lo:hi]
	for k, c := range x.Column[lo:hi] {
		w[c] += a * float64(values[k])
	}
}

// square returns x·x of a row, with the column of ones.
func square(x *crftrain.Examples, row int32) float64 {
	sum := 1.0
	for _, v := range x.Value[x.Start[row]:x.Start[row+1]] {
		sum += float64(v) * float64(v)
	}
	return sum
}
