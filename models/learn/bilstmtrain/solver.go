package bilstmtrain

import (
	"errors"
	"math"

	"github.com/velum-health/velum/models/number/kernels"
	"github.com/velum-health/velum/models/tag/bilstm"
)

// learned is a parameter with its gradient. The gradient of a table covers only the rows that were looked up, and only
// these are updated, so that a step costs what its batch holds.
type learned struct {
	*bilstm.Parameter
	grad []float32 // [rows][cols]: what the first network found, the others' added; of a table its own, that of the rows in rows
	rows []int32   // of a table, rising order of first use
	seen []bool    // of a table, [rows]

	frozen bool // a table that does not move
}

// each calls do with the ranges of numbers that have a gradient: all, or of a table the rows that were looked up.
func (l *learned) each(do func(lo, hi int)) {
	if !l.Table {
		do(0, len(l.Data))
		return
	}
	for _, row := range l.rows {
		do(int(row)*l.Cols, (int(row)+1)*l.Cols)
	}
}

// found is a gradient of a network: of a table that of the rows in touched.
type found struct {
	grad    []float32
	touched []int32
}

// sum adds up the gradients of all networks.
func (l *learned) sum(of []found) {
	if l.Table {
		l.sumTable(of)
		return
	}
	l.grad = of[0].grad
	for _, f := range of[1:] {
		kernels.Add(l.grad, f.grad)
	}
}

// sumTable adds up the gradients of a table from all networks.
func (l *learned) sumTable(of []found) {
	for _, row := range l.rows {
		l.seen[row] = false
	}
	l.rows = l.rows[:0]
	if l.frozen {
		return
	}
	for _, f := range of {
		for i, row := range f.touched {
			to, from := l.grad[int(row)*l.Cols:][:l.Cols], f.grad[i*l.Cols:][:l.Cols]
			if l.seen[row] {
				kernels.Add(to, from)
				continue
			}
			copy(to, from)
			l.seen[row] = true
			l.rows = append(l.rows, row)
		}
	}
}

// solver updates parameters by their gradients: Adam, or plain gradient descent.
type solver struct {
	recipe  *bilstm.Recipe
	steps   int // that will be made in all
	step    int
	m, v    [][]float32 // Adam's moments, in the order of the parameters
	workers int
}

func newSolver(r *bilstm.Recipe, ps bilstm.Parameters, steps int) *solver {
	s := &solver{recipe: r, steps: steps}
	if r.Solver == "adam" {
		for _, p := range ps {
			s.m, s.v = append(s.m, make([]float32, len(p.Data))), append(s.v, make([]float32, len(p.Data)))
		}
	}
	return s
}

var errGradient = errors.New("training: a gradient is no number; try a lower rate")

// move moves the parameters, which are in the order that the solver was made for.
func (s *solver) move(network []*learned) error {
	scale, err := s.clip(network)
	if err != nil {
		return err
	}
	rate := s.recipe.RateAt(s.step, s.steps)
	s.step++
	adam := kernels.AdamStep{
		Beta1: float32(s.recipe.Beta1), Beta2: float32(s.recipe.Beta2), Epsilon: 1e-8, Scale: scale,
		Rate:   float32(rate / (1 - math.Pow(s.recipe.Beta1, float64(s.step)))),
		Second: float32(1 / math.Sqrt(1-math.Pow(s.recipe.Beta2, float64(s.step)))),
	}
	kernels.Parallel(s.workers, len(network), func(_, i int) {
		l := network[i]
		l.each(func(lo, hi int) {
			if s.m != nil {
				kernels.Adam(l.Data[lo:hi], l.grad[lo:hi], s.m[i][lo:hi], s.v[i][lo:hi], &adam)
				return
			}
			kernels.Axpy(-float32(rate)*scale, l.grad[lo:hi], l.Data[lo:hi])
		})
	})
	return nil
}

// clip returns the factor that limits the norm of all gradients together to the recipe's maximum.
func (s *solver) clip(network []*learned) (float32, error) {
	squares := make([]float64, len(network))
	kernels.Parallel(s.workers, len(network), func(_, i int) {
		l := network[i]
		l.each(func(lo, hi int) { squares[i] += float64(kernels.Dot(l.grad[lo:hi], l.grad[lo:hi])) })
	})
	sum := 0.0
	for _, v := range squares {
		sum += v
	}
	norm := math.Sqrt(sum)
	if math.IsNaN(norm) || math.IsInf(norm, 0) {
		return 0, errGradient
	}
	if s.recipe.Clip > 0 && norm > s.recipe.Clip {
		return float32(s.recipe.Clip / norm), nil
	}
	return 1, nil
}
