package crftrain

import (
	"math"

	"github.com/velum-health/velum/models/number/kernels"
)

// minimizer finds the minimum of f(w) + λ2/2 ‖w‖² + λ1 ‖w‖₁ by L-BFGS
// (Nocedal 1980), and by OWL-QN (Andrew and Gao 2007) when λ1 > 0.
type minimizer struct {
	evaluate func(w, g []float64) float64 // f and its gradient
	l1, l2   float64

	value  float64 // objective at w, penalties included
	w, g   []float64
	pseudo []float64 // OWL-QN: the steepest descent of the whole; else g
	memory int
	s, y   [][]float64 // the last steps and changes of the gradient, oldest first
	rho    []float64
	d      []float64 // direction
	next   []float64 // w and g of the line search
	gNext  []float64
}

func newMinimizer(n int, evaluate func(w, g []float64) float64, l1, l2 float64, memory int) *minimizer {
	v := func() []float64 { return make([]float64, n) }
	m := &minimizer{evaluate: evaluate, l1: l1, l2: l2, memory: memory,
		w: v(), g: v(), d: v(), next: v(), gNext: v()}
	m.pseudo = m.g
	if l1 > 0 {
		m.pseudo = v()
	}
	return m
}

// start evaluates the objective at w.
func (m *minimizer) start() {
	m.value = m.at(m.w, m.g)
	m.setPseudo()
}

// at returns the whole objective; g receives the gradient without the
// 1-norm's.
func (m *minimizer) at(w, g []float64) float64 {
	f := m.evaluate(w, g)
	if m.l2 > 0 {
		f += m.l2 / 2 * kernels.Dot64(w, w)
		kernels.Axpy64(m.l2, w, g)
	}
	if m.l1 > 0 {
		for _, v := range w {
			f += m.l1 * math.Abs(v)
		}
	}
	return f
}

// setPseudo writes the one-sided gradient of the whole objective: at w = 0 the
// 1-norm has a kink, and the side counts on which the objective falls.
func (m *minimizer) setPseudo() {
	if m.l1 == 0 {
		m.pseudo = m.g // line searches swap the two
		return
	}
	for i, w := range m.w {
		g := m.g[i]
		switch {
		case w > 0 || w == 0 && g < -m.l1:
			m.pseudo[i] = g + m.l1
		case w < 0 || w == 0 && g > m.l1:
			m.pseudo[i] = g - m.l1
		default:
			m.pseudo[i] = 0
		}
	}
}

// step makes one iteration and tells whether it got anywhere.
func (m *minimizer) step() bool {
	m.direction()
	slope := kernels.Dot64(m.d, m.pseudo)
	if !(slope < 0) {
		return false
	}
	first := 1.0
	if len(m.s) == 0 {
		first = 1 / math.Sqrt(kernels.Dot64(m.d, m.d))
	}
	if !m.search(first, slope) {
		if len(m.s) == 0 {
			return false
		}
		m.s, m.y, m.rho = nil, nil, nil // forget what misled us and go downhill
		return m.step()
	}
	m.remember()
	return true
}

// direction writes -H·pseudo into d by the two loops.
func (m *minimizer) direction() {
	for i, v := range m.pseudo {
		m.d[i] = -v
	}
	n := len(m.s)
	if n == 0 {
		return
	}
	alpha := make([]float64, n)
	for i := n - 1; i >= 0; i-- {
		alpha[i] = m.rho[i] * kernels.Dot64(m.s[i], m.d)
		kernels.Axpy64(-alpha[i], m.y[i], m.d)
	}
	h := 1 / (m.rho[n-1] * kernels.Dot64(m.y[n-1], m.y[n-1]))
	for i := range m.d {
		m.d[i] *= h
	}
	for i := range n {
		beta := m.rho[i] * kernels.Dot64(m.y[i], m.d)
		kernels.Axpy64(alpha[i]-beta, m.s[i], m.d)
	}
	if m.l1 > 0 { // keep to the orthant of steepest descent
		for i, v := range m.d {
			if v*m.pseudo[i] >= 0 {
				m.d[i] = 0
			}
		}
	}
}

const (
	armijo    = 1e-4 // least share of the promised decrease
	curvature = 0.9  // largest share of the slope that may be left
	mostTries = 20
)

// search finds a step length along d that satisfies the weak Wolfe conditions, by doubling and by halving with
// quadratic interpolation. OWL-QN requires only the decrease, at points projected onto the orthant.
func (m *minimizer) search(step, slope float64) bool {
	lo, hi := 0.0, math.Inf(1)
	for range mostTries {
		m.move(step)
		f := m.at(m.next, m.gNext)
		promised := step * slope
		if m.l1 > 0 {
			promised = kernels.Dot64(m.next, m.pseudo) - kernels.Dot64(m.w, m.pseudo)
		}
		switch {
		case !(f <= m.value+armijo*promised):
			guess := 0.5
			if q := 2 * (f - m.value - promised); q > 0 && lo == 0 {
				guess = min(max(-promised/q, .1), .5)
			}
			hi = step
			step = lo + guess*(hi-lo)
		case m.l1 == 0 && kernels.Dot64(m.gNext, m.d) < curvature*slope:
			lo = step
			if math.IsInf(hi, 1) {
				step *= 2
			} else {
				step = (lo + hi) / 2
			}
		default:
			m.value = f
			return true
		}
	}
	return false
}

// move writes w + step·d into next; with a 1-norm no weight crosses zero.
func (m *minimizer) move(step float64) {
	for i, side := range m.w {
		v := side + step*m.d[i]
		if side == 0 {
			side = -m.pseudo[i]
		}
		if m.l1 > 0 && v*side <= 0 {
			v = 0
		}
		m.next[i] = v
	}
}

// remember makes next the current point and stores the step for L-BFGS.
func (m *minimizer) remember() {
	var s, y []float64
	if len(m.s) == m.memory {
		s, y = m.s[0], m.y[0]
		m.s, m.y, m.rho = m.s[1:], m.y[1:], m.rho[1:]
	} else {
		s, y = make([]float64, len(m.w)), make([]float64, len(m.w))
	}
	for i := range s {
		s[i], y[i] = m.next[i]-m.w[i], m.gNext[i]-m.g[i]
	}
	m.w, m.next = m.next, m.w
	m.g, m.gNext = m.gNext, m.g
	m.setPseudo()
	if sy := kernels.Dot64(s, y); sy > 0 {
		m.s, m.y, m.rho = append(m.s, s), append(m.y, y), append(m.rho, 1/sy)
	}
}
