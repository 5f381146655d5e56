package svmtrain

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/velum-health/velum/models/learn/crftrain"
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
		x.Start, x.Tag = append(x.Start, len(x.Column)), append(x.Tag, uint8(r.IntN(2)))
	}
	x.Tag[0], x.Tag[1] = 0, 1
	return x
}

// problem is to tell the rows of tag 1 from the others.
func problem(x *crftrain.Examples, loss Loss, cost func(row int32) float64) *Problem {
	p := &Problem{X: x, Loss: loss, Tolerance: 1e-10, Passes: 100_000, Cost: cost, Positive: func(row int32) bool { return x.Tag[row] == 1 }}
	for i := range x.Tag {
		p.Rows = append(p.Rows, int32(i))
	}
	return p
}

// TestSolveAgainstAllActiveSets holds the solution of small problems against the best
// of all there are: every multiplier is at 0, at its upper bound, or free, and then
// the free ones solve a system of linear equations.
func TestSolveAgainstAllActiveSets(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for trial := range 60 {
		x := drawn(r, 2+r.IntN(4), 1+r.IntN(3))
		costs := make([]float64, x.Rows())
		for i := range costs {
			costs[i] = math.Exp(r.NormFloat64())
		}
		for _, loss := range []Loss{SquaredHinge, Hinge} {
			p := problem(x, loss, func(row int32) float64 { return costs[row] })
			s := p.Solve(uint64(trial))
			want := bestDual(p)
			if math.Abs(s.Dual-want) > 1e-7*max(1, want) || math.Abs(s.Primal-want) > 1e-6*max(1, want) {
				t.Errorf("trial %d, loss %d: dual %.9f, primal %.9f, of all active sets %.9f", trial, loss, s.Dual, s.Primal, want)
			}
		}
	}
}

// bestDual returns the largest Σα - ½αᵀQα of all sets of bounds.
func bestDual(p *Problem) float64 {
	n := len(p.Rows)
	dense := make([][]float64, n)
	q, upper := make([][]float64, n), make([]float64, n)
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
		if upper[i] = p.Cost(int32(i)); p.Loss == SquaredHinge {
			q[i][i] += 1 / (2 * upper[i])
			upper[i] = math.Inf(1)
		}
	}
	best := 0.0
	for set := range int(math.Pow(3, float64(n))) {
		alpha := make([]float64, n)
		var free []int
		for i, k := 0, set; i < n; i, k = i+1, k/3 {
			switch k % 3 {
			case 1:
				alpha[i] = upper[i]
			case 2:
				free = append(free, i)
			}
		}
		if slices.Max(alpha) < math.Inf(1) && solved(q, alpha, free) && within(alpha, upper) {
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

func within(alpha, upper []float64) bool {
	for i, v := range alpha {
		if v < 0 || v > upper[i] {
			return false
		}
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
	for _, loss := range []Loss{SquaredHinge, Hinge} {
		p := problem(drawn(r, 400, 30), loss, func(int32) float64 { return 0.5 })
		last := math.Inf(1)
		for _, tolerance := range []float64{1, 0.1, 1e-3, 1e-6} {
			p.Tolerance = tolerance
			s := p.Solve(3)
			gap := (s.Primal - s.Dual) / s.Primal
			if gap < -1e-9 || gap > last+1e-12 {
				t.Errorf("loss %d, tolerance %v: gap %v behind %v", loss, tolerance, gap, last)
			}
			last = gap
		}
		if last > 1e-6 {
			t.Errorf("loss %d: a gap of %v is left", loss, last)
		}
		one, other := p.Solve(1), p.Solve(2)
		for k := range one.W {
			if math.Abs(one.W[k]-other.W[k]) > 1e-4 {
				t.Fatalf("loss %d: weight %d is %v in one order and %v in another", loss, k, one.W[k], other.W[k])
			}
		}
	}
}

// A row of twice the cost is the row twice; without values the numbers are ones.
func TestCostsAndOnes(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	x := drawn(r, 40, 8)
	for i := range x.Value {
		x.Value[i] = 1
	}
	for _, loss := range []Loss{SquaredHinge, Hinge} {
		dear := problem(x, loss, func(row int32) float64 { return float64(1 + row%2) })
		twice := problem(x, loss, func(int32) float64 { return 1 })
		for row := int32(1); row < 40; row += 2 {
			twice.Rows = append(twice.Rows, row)
		}
		bare := *x
		bare.Value = nil
		ones := problem(&bare, loss, dear.Cost)
		a, b, c := dear.Solve(1), twice.Solve(1), ones.Solve(1)
		if math.Abs(a.Primal-b.Primal) > 1e-6*a.Primal || math.Abs(a.Dual-b.Dual) > 1e-6*a.Primal {
			t.Errorf("loss %d: %v with twice the cost, %v with the row twice", loss, a.Primal, b.Primal)
		}
		if !slices.Equal(a.W, c.W) {
			t.Errorf("loss %d: values of 1 are not as none", loss)
		}
	}
}
