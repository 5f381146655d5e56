package svmtrain

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/velum-health/velum/models/learn/crftrain"
	"github.com/velum-health/velum/pipeline"
)

// drawn is a matrix of rows × columns small numbers, half of them 0.
func drawn(r *rand.Rand, rows, columns int) *crftrain.Examples {
	x := &crftrain.Examples{Start: []int{0}, Columns: make([]crftrain.Column, columns), Value: []float32{}}
	for range rows {
		for c := range columns {
			if r.IntN(2) == 0 {
				x.Column = append(x.Column, int32(c))
				x.Value = append(x.Value, float32(r.NormFloat64()))
			}
		}
		x.Start, x.Tag = append(x.Start, len(x.Column)), append(x.Tag, pipeline.Tag(r.IntN(2)))
	}
	x.Tag[0], x.Tag[1] = 0, 1
	return x
}

// bounds are ½‖w‖² + C Σ ξ_i², and what it cannot fall below.
func (d *descent) bounds() (primal, dual float64) {
	for _, v := range d.w {
		primal += v * v / 2
	}
	dual = -primal
	for i, row := range d.Rows {
		dual += d.alpha[i] - d.alpha[i]*d.alpha[i]*d.diag/2
		if slack := 1 - d.sign[i]*Score(d.X, row, d.w); slack > 0 {
			primal += d.C * slack * slack
		}
	}
	return primal, dual
}

// problem is to tell the rows of tag 1 from the others.
func problem(x *crftrain.Examples, cost float64) *Problem {
	p := &Problem{X: x, C: cost, Tolerance: 1e-10, Passes: 100_000, Positive: func(row int32) bool { return x.Tag[row] == 1 }}
	for i := range x.Tag {
		p.Rows = append(p.Rows, int32(i))
	}
	return p
}

// TestSolveAgainstAllActiveSets holds the solution of small problems against the best
// of all there are: every multiplier is at 0 or free, and then
// the free ones solve a system of linear equations.
func TestSolveAgainstAllActiveSets(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for trial := range 60 {
		x := drawn(r, 2+r.IntN(4), 1+r.IntN(3))
		p := problem(x, math.Exp(r.NormFloat64()))
		primal, dual := p.Solve(uint64(trial)).bounds()
		want := bestDual(p)
		if math.Abs(dual-want) > 1e-7*max(1, want) || math.Abs(primal-want) > 1e-6*max(1, want) {
			t.Errorf("trial %d: dual %.9f, primal %.9f, of all active sets %.9f", trial, dual, primal, want)
		}
	}
}

// bestDual returns the largest Σα - ½αᵀQα of all sets of bounds.
func bestDual(p *Problem) float64 {
	n := len(p.Rows)
	dense := make([][]float64, n)
	q := make([][]float64, n)
	for i := range n {
		dense[i] = make([]float64, len(p.X.Columns)+1)
		axpy(map[bool]float64{true: 1, false: -1}[p.Positive(int32(i))], p.X, int32(i), dense[i])
	}
	for i := range n {
		q[i] = make([]float64, n)
		for j := range n {
			for k := range dense[i] {
				q[i][j] += dense[i][k] * dense[j][k]
			}
		}
		q[i][i] += 1 / (2 * p.C)
	}
	best := 0.0
	for set := range 1 << n {
		alpha := make([]float64, n)
		var free []int
		for i := range n {
			if set>>i&1 == 1 {
				free = append(free, i)
			}
		}
		if solved(q, alpha, free) && slices.Min(alpha) >= 0 {
			best = max(best, dualAt(q, alpha))
		}
	}
	return best
}

// solved sets the free multipliers so that their gradients are 0, by Gauss and Jordan.
func solved(q [][]float64, alpha []float64, free []int) bool {
	rows := make([][]float64, len(free))
	for a, i := range free {
		right := 1.0
		for j, v := range alpha {
			right -= q[i][j] * v
		}
		for _, j := range free {
			rows[a] = append(rows[a], q[i][j])
		}
		rows[a] = append(rows[a], right)
	}
	for k := range rows {
		for a := k + 1; a < len(rows); a++ {
			if math.Abs(rows[a][k]) > math.Abs(rows[k][k]) {
				rows[a], rows[k] = rows[k], rows[a]
			}
		}
		if math.Abs(rows[k][k]) < 1e-12 {
			return false // the same value stands at another set
		}
		for a := range rows {
			if a == k {
				continue
			}
			f := rows[a][k] / rows[k][k]
			for c := range rows[a] {
				rows[a][c] -= f * rows[k][c]
			}
		}
	}
	for a, i := range free {
		alpha[i] = rows[a][len(free)] / rows[a][a]
	}
	return true
}

func dualAt(q [][]float64, alpha []float64) (sum float64) {
	for i, v := range alpha {
		sum += v
		for j, u := range alpha {
			sum -= v * u * q[i][j] / 2
		}
	}
	return sum
}

// The gap between primal and dual closes as the tolerance does, whatever the order of
// the rows.
func TestDualityGap(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	p := problem(drawn(r, 400, 30), 0.5)
	last := math.Inf(1)
	for _, tolerance := range []float64{1, 0.1, 1e-3, 1e-6} {
		p.Tolerance = tolerance
		primal, dual := p.Solve(3).bounds()
		gap := (primal - dual) / primal
		if gap < -1e-9 || gap > last+1e-12 {
			t.Errorf("tolerance %v: gap %v behind %v", tolerance, gap, last)
		}
		last = gap
	}
	if last > 1e-6 {
		t.Errorf("a gap of %v is left", last)
	}
	one, other := p.Solve(1), p.Solve(2)
	for k := range one.w {
		if math.Abs(one.w[k]-other.w[k]) > 1e-4 {
			t.Fatalf("weight %d is %v in one order and %v in another", k, one.w[k], other.w[k])
		}
	}
}

// Twice the cost is every row twice.
func TestCosts(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	x := drawn(r, 40, 8)
	dear, twice := problem(x, 2), problem(x, 1)
	twice.Rows = append(twice.Rows, twice.Rows...)
	a, aDual := dear.Solve(1).bounds()
	b, bDual := twice.Solve(1).bounds()
	if math.Abs(a-b) > 1e-6*a || math.Abs(aDual-bDual) > 1e-6*a {
		t.Errorf("%v with twice the cost, %v with the rows twice", a, b)
	}
}
