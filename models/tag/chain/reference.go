package chain

import (
	"math"

	"github.com/velum-health/velum/models/number/kernels"
)

// wide holds the sums of forward-backward in float64, where float32 is not sufficient.
type wide struct {
	Expectation           // rows of its α sum to 1
	betas       []float64 // [T][Stride] rows of α·β sum to 1
	logZ        float64
}

// weakest is weak for float64.
const weakest = 1e-250

// widen makes the sums in float64, or in log space if even that is too narrow.
func (l *Lattice) widen() {
	w, s := &l.wide, l.tr.steps.Stride
	w.reset(l.T, s)
	w.betas = kernels.Grow(w.betas, l.T*s)
	for t := range l.T {
		row := w.exp[t*s : (t+1)*s]
		clear(row)
		for y := range l.tr.L {
			row[y] = math.Exp(float64(l.State[t*l.tr.Stride+y]))
		}
	}
	w.logZ = w.forward(l.tr.steps, l.T)
	dip := 1.0
	for _, c := range w.sum {
		if dip = min(dip, 1) * c; !(dip > weakest && dip < 1/weakest) {
			l.takeLogs()
			return
		}
	}
	copy(l.total, w.sum)
	w.backWide(l.tr.steps, l.T)
}

// backWide divides the rows of α by their sums, and makes β.
func (w *wide) backWide(tr *Transitions64, T int) {
	s := tr.Stride
	copy(w.betas[(T-1)*s:], w.one)
	for t := T - 1; ; t-- {
		alpha, beta, e := w.alpha[t*s:(t+1)*s], w.betas[t*s:(t+1)*s], w.exp[t*s:(t+1)*s]
		kernels.Product64(alpha, alpha, w.one, 1/w.sum[t])
		if t == 0 {
			return
		}
		kernels.Product64(e, e, beta, 1/w.sum[t])
		kernels.RowSum64(w.betas[(t-1)*s:t*s], e, w.one, tr.expT, s, 1)
	}
}

// takeLogs is widen in log space. It allocates.
func (l *Lattice) takeLogs() {
	r := l.reference()
	l.wide.logZ = r.logZ
	before := 0.0
	for t := range l.T {
		alpha, beta := r.alpha[t*r.L:(t+1)*r.L], r.beta[t*r.L:(t+1)*r.L]
		n, row := LogSum(alpha), t*l.tr.steps.Stride
		for y := range alpha {
			l.wide.alpha[row+y], l.wide.betas[row+y] = math.Exp(alpha[y]-n), math.Exp(beta[y]+n-r.logZ)
		}
		l.total[t] = max(math.Exp(n-before), math.SmallestNonzeroFloat64)
		before = n
	}
}

// reference holds the sums of forward-backward in log space, in float64:
// slow, and safe from underflow.
//
//	α(t,y) = s(t,y) + log Σ_y' e^(α(t-1,y') + a(y',y))
//	β(t,y) = log Σ_y' e^(a(y,y') + s(t+1,y') + β(t+1,y'))
type reference struct {
	L           int
	alpha, beta []float64 // [T][L]
	logZ        float64
}

func (l *Lattice) reference() *reference {
	L, stride, state, trans := l.tr.L, l.tr.Stride, l.State, l.tr.score
	r := &reference{L: L, alpha: make([]float64, l.T*L), beta: make([]float64, l.T*L)}
	terms := make([]float64, L)
	for t := range l.T {
		for y := range L {
			in := 0.0
			if t > 0 {
				for i := range L {
					terms[i] = r.alpha[(t-1)*L+i] + float64(trans[i*stride+y])
				}
				in = LogSum(terms)
			}
			r.alpha[t*L+y] = float64(state[t*stride+y]) + in
		}
	}
	for t := l.T - 2; t >= 0; t-- {
		for y := range L {
			for j := range L {
				terms[j] = float64(trans[y*stride+j]) + float64(state[(t+1)*stride+j]) + r.beta[(t+1)*L+j]
			}
			r.beta[t*L+y] = LogSum(terms)
		}
	}
	r.logZ = LogSum(r.alpha[(l.T-1)*L:])
	return r
}

// LogSum is log Σ e^x.
func LogSum(x []float64) float64 {
	m := math.Inf(-1)
	for _, v := range x {
		m = max(m, v)
	}
	sum := 0.0
	for _, v := range x {
		sum += math.Exp(v - m)
	}
	return m + math.Log(sum)
}
