package bilstm

import (
	"errors"
	"fmt"
	"math"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/velum-health/velum/models/kernels"
)

// learned is a parameter with its gradient as a solver of gorgonia's sees it.
// The gradient of a table is that of the rows that were looked up; no other
// moves, so that a step costs what its batch holds and not what the table does.
type learned struct {
	*parameter
	grad []float32 // [rows][cols]; of a table zero but for touched rows
	rows []int32   // of a table, rising order of first use
	seen []bool    // of a table, [rows]

	frozen bool // it does not move
}

// Value implements gorgonia.ValueGrad.
func (l *learned) Value() gorgonia.Value { return l.tensor(l.data) }

// Grad implements gorgonia.ValueGrad.
func (l *learned) Grad() (gorgonia.Value, error) { return l.tensor(l.grad), nil }

func (l *learned) tensor(x []float32) gorgonia.Value {
	return tensor.New(tensor.WithShape(l.rows32(), l.cols), tensor.WithBacking(x))
}

func (l *learned) rows32() int { return l.parameter.rows }

// add adds the gradient of a graph.
func (l *learned) add(grad []float32, touched []int32) {
	if l.frozen {
		return
	}
	if !l.table {
		kernels.Add(l.grad, grad)
		return
	}
	for i, row := range touched {
		if !l.seen[row] {
			l.seen[row] = true
			l.rows = append(l.rows, row)
		}
		kernels.Add(l.grad[int(row)*l.cols:], grad[i*l.cols:][:l.cols])
	}
}

// clear makes the gradient zero again.
func (l *learned) clear() {
	if !l.table {
		clear(l.grad)
		return
	}
	for _, row := range l.rows {
		clear(l.grad[int(row)*l.cols:][:l.cols])
		l.seen[row] = false
	}
	l.rows = l.rows[:0]
}

// parts calls do with the ranges of numbers that have a gradient.
func (l *learned) parts(do func(lo, hi int)) {
	if !l.table {
		do(0, len(l.data))
		return
	}
	for _, row := range l.rows {
		do(int(row)*l.cols, (int(row)+1)*l.cols)
	}
}

// solver moves parameters against their gradients: Adam, or plain descent. It
// is a gorgonia.Solver whose state can be kept and read back.
type solver struct {
	recipe *Recipe
	steps  int // that will be made in all
	step   int
	m, v   [][]float32 // Adam's moments, in the order of the parameters
}

func newSolver(r *Recipe, ps parameters, steps int) *solver {
	s := &solver{recipe: r, steps: steps}
	if r.Solver == "adam" {
		for _, p := range ps {
			s.m, s.v = append(s.m, make([]float32, len(p.data))), append(s.v, make([]float32, len(p.data)))
		}
	}
	return s
}

var errGradient = errors.New("training: a gradient is no number; try a lower rate")

// Step implements gorgonia.Solver for parameters that are *learned, in the
// order that the solver was made for.
func (s *solver) Step(model []gorgonia.ValueGrad) error {
	scale, err := s.clip(model)
	if err != nil {
		return err
	}
	rate := s.recipe.rate(s.step, s.steps)
	s.step++
	decay := float32(s.recipe.Decay * rate / s.recipe.Rate)
	adam := kernels.AdamStep{
		Beta1: float32(s.recipe.Beta1), Beta2: float32(s.recipe.Beta2), Epsilon: 1e-8, Scale: scale, Decay: decay,
		Rate:   float32(rate / (1 - math.Pow(s.recipe.Beta1, float64(s.step)))),
		Second: float32(1 / math.Sqrt(1-math.Pow(s.recipe.Beta2, float64(s.step)))),
	}
	for i, vg := range model {
		l := vg.(*learned)
		l.parts(func(lo, hi int) {
			if s.m != nil {
				kernels.Adam(l.data[lo:hi], l.grad[lo:hi], s.m[i][lo:hi], s.v[i][lo:hi], &adam)
				return
			}
			kernels.Axpy(-float32(rate)*scale, l.grad[lo:hi], l.data[lo:hi])
		})
	}
	return nil
}

// clip returns what gradients are multiplied by so that all of them together
// are no longer than the recipe wants.
func (s *solver) clip(model []gorgonia.ValueGrad) (float32, error) {
	sum := 0.0
	for _, vg := range model {
		l, ok := vg.(*learned)
		if !ok {
			return 0, fmt.Errorf("training: solver of a parameter of type %T", vg)
		}
		l.parts(func(lo, hi int) { sum += float64(kernels.Dot(l.grad[lo:hi], l.grad[lo:hi])) })
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
