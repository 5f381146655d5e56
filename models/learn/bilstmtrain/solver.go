package bilstmtrain

import (
	"errors"
	"math"

	"github.com/velum-health/velum/models/number/kernels"
	"github.com/velum-health/velum/models/tag/bilstm"
)

// learned is a parameter with its gradient.
// The gradient of a table is that of the rows that were looked up; no other
// moves, so that a step costs what its batch holds and not what the table does.
type learned struct {
	*bilstm.Parameter
	grad []float32 // [rows][cols]: what the first network found, the others' added; of a table its own, that of the rows in rows
	rows []int32   // of a table, rising order of first use
	seen []bool    // of a table, [rows]

	frozen bool // a table that does not move
}

// share is a part of a parameter that one worker has at a time.
type share struct {
	*learned
	number int // of the parameter
	lo, hi int // its numbers; of a table, its rows that were looked up, by their places in rows
}

// shareNumbers is how many numbers a share has: they and their moments stay in
// the second cache while a worker has them.
const shareNumbers = 1 << 14

// appendShares adds the shares of what has a gradient. They do not depend on the
// number of workers.
func (l *learned) appendShares(to []share, number int) []share {
	n, step := len(l.Data), shareNumbers
	if l.Table {
		n, step = len(l.rows), max(1, shareNumbers/l.Cols)
	}
	for lo := 0; lo < n; lo += step {
		to = append(to, share{l, number, lo, min(lo+step, n)})
	}
	return to
}

// parts calls do with the ranges of numbers of a share, and soon some rows of a
// table before: these stand anywhere in memory and take long to come.
func (s *share) parts(soon, do func(lo, hi int)) {
	if !s.Table {
		do(s.lo, s.hi)
		return
	}
	for i, row := range s.rows[s.lo:s.hi] {
		if i+rowsAhead < s.hi-s.lo {
			next := int(s.rows[s.lo+i+rowsAhead])
			soon(next*s.Cols, (next+1)*s.Cols)
		}
		do(int(row)*s.Cols, (int(row)+1)*s.Cols)
	}
}

// rowsAhead is how many rows before its turn a row of a table is asked for.
const rowsAhead = 4

// found is a gradient of a network: of a table that of the rows in touched.
type found struct {
	grad    []float32
	touched []int32
}

// sum makes the gradient that of all networks; of a table, whatever its share.
func (s *share) sum(of []found) {
	if s.Table {
		s.sumTable(of)
		return
	}
	for _, f := range of[1:] { // the first is grad
		kernels.Add(s.grad[s.lo:s.hi], f.grad[s.lo:s.hi])
	}
}

// sumTable makes the gradient of a table that of all networks.
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
			if i+rowsAhead < len(f.touched) {
				kernels.PrefetchWrite(l.grad[int(f.touched[i+rowsAhead])*l.Cols:][:l.Cols])
			}
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

// solver moves parameters against their gradients: Adam, or plain descent. Its
// state can be kept and read back.
type solver struct {
	recipe *bilstm.Recipe
	steps  int // that will be made in all
	step   int
	m, v   [][]float32 // Adam's moments, in the order of the parameters

	workers int
	shares  []share
	squares []float64 // of the shares
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
	s.shares = s.shares[:0]
	for i, l := range network {
		s.shares = l.appendShares(s.shares, i)
	}
	scale, err := s.clip()
	if err != nil {
		return err
	}
	rate := s.recipe.RateAt(s.step, s.steps)
	s.step++
	decay := float32(s.recipe.Decay * rate / s.recipe.Rate)
	adam := kernels.AdamStep{
		Beta1: float32(s.recipe.Beta1), Beta2: float32(s.recipe.Beta2), Epsilon: 1e-8, Scale: scale, Decay: decay,
		Rate:   float32(rate / (1 - math.Pow(s.recipe.Beta1, float64(s.step)))),
		Second: float32(1 / math.Sqrt(1-math.Pow(s.recipe.Beta2, float64(s.step)))),
	}
	kernels.Parallel(s.workers, len(s.shares), func(_, i int) {
		sh := &s.shares[i]
		soon := func(lo, hi int) {
			kernels.PrefetchWrite(sh.Data[lo:hi])
			kernels.Prefetch(sh.grad[lo:hi])
			if s.m != nil {
				kernels.PrefetchWrite(s.m[sh.number][lo:hi])
				kernels.PrefetchWrite(s.v[sh.number][lo:hi])
			}
		}
		sh.parts(soon, func(lo, hi int) {
			if s.m != nil {
				kernels.Adam(sh.Data[lo:hi], sh.grad[lo:hi], s.m[sh.number][lo:hi], s.v[sh.number][lo:hi], &adam)
				return
			}
			kernels.Axpy(-float32(rate)*scale, sh.grad[lo:hi], sh.Data[lo:hi])
		})
	})
	return nil
}

// clip returns what gradients are multiplied by so that all of them together
// are no longer than the recipe wants.
func (s *solver) clip() (float32, error) {
	s.squares = bilstm.Grow(s.squares, len(s.shares))
	kernels.Parallel(s.workers, len(s.shares), func(_, i int) {
		sum, grad := 0.0, s.shares[i].grad
		s.shares[i].parts(func(lo, hi int) { kernels.Prefetch(grad[lo:hi]) }, func(lo, hi int) {
			sum += float64(kernels.Dot(grad[lo:hi], grad[lo:hi]))
		})
		s.squares[i] = sum
	})
	sum := 0.0
	for _, v := range s.squares {
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
