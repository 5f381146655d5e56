package chain

import (
	"math"

	"github.com/velum-health/velum/models/number/kernels"
)

// Transitions64 holds the transition scores during training.
type Transitions64 struct {
	L, Stride int       //                 Stride: L padded to 4
	Score     []float64 // [L][Stride]     set by the caller; padding is never read
	Start     []float64 // [L]             0 or Forbidden
	End       []float64 // [L]
	Exp       []float64 // [Stride][Stride] e^Score, padding 0
	expT      []float64 // [Stride][Stride] transposed
}

// NewTransitions64 returns the scores of w.
func NewTransitions64(w Weights) *Transitions64 {
	s := (w.L + 3) &^ 3
	tr := &Transitions64{L: w.L, Stride: s, Score: make([]float64, w.L*s),
		Start: make([]float64, w.L), End: make([]float64, w.L),
		Exp: make([]float64, s*s), expT: make([]float64, s*s)}
	for i := range w.L {
		tr.Start[i], tr.End[i] = float64(w.Start[i]), float64(w.End[i])
		for j := range w.L {
			tr.Score[i*s+j] = float64(w.Score[i*w.L+j])
		}
	}
	tr.Update()
	return tr
}

// Update recomputes the derived tables. It must be called after every change of Score.
func (tr *Transitions64) Update() {
	for i := range tr.L {
		for j := range tr.L {
			e := math.Exp(tr.Score[i*tr.Stride+j])
			tr.Exp[i*tr.Stride+j], tr.expT[j*tr.Stride+i] = e, e
		}
	}
}

// Expectation is scratch space for training; each worker needs its own.
type Expectation struct {
	exp   []float64 // [T][Stride] e^state
	alpha []float64 // [T][Stride]
	x     []float64 // [T][Stride] e^s(t,y) β(t,y) / c(t) c(t-1)
	sum   []float64 // [T]         c(t), sums of the rows of alpha
	beta  []float64 // [Stride]
	one   []float64 // [Stride]
}

// Add sums over all paths of a sequence. state is [T][Stride] (padding
// Forbidden). It writes p(y_t = y | x) into post, [T][Stride], and adds to
// pair, [Stride][Stride], numbers which, multiplied by tr.Exp, are the
// expected counts of transitions. It returns log Z; not a number, or
// infinite, when the scores are too far apart for float64.
//
// Each row of α is made from the one before divided by its sum c(t-1), so that
// log Z = Σ log c(t), each row of β likewise from the one behind divided by
// c(t), and
//
//	p(y_t=y)              = α(t,y) β(t,y) / c(t)
//	p(y_{t-1}=i, y_t=j)   = α(t-1,i) e^a(i,j) · e^s(t,j) β(t,j) / c(t) c(t-1)
//
// The transitions' factor is the same for all tokens, so the outer products
// of the rest are added first, for a whole sequence at once, and multiplied by
// it in the end, for the whole corpus at once.
func (e *Expectation) Add(tr *Transitions64, T int, state, post, pair []float64) (logZ float64) {
	if T == 0 {
		return 0
	}
	s := tr.Stride
	e.reset(T, s)
	for y := range tr.L {
		state[y] += tr.Start[y]
		state[(T-1)*s+y] += tr.End[y]
	}
	for t := range T {
		logZ += kernels.ShiftExp64(e.exp[t*s:(t+1)*s], state[t*s:(t+1)*s])
	}
	logZ += e.forward(tr, T)
	e.backward(tr, T, post)
	kernels.Outer64(pair, e.alpha[:(T-1)*s], e.x[s:T*s], T-1, s)
	return logZ
}

func (e *Expectation) reset(T, s int) {
	e.exp, e.alpha, e.x = kernels.Grow(e.exp, T*s), kernels.Grow(e.alpha, T*s), kernels.Grow(e.x, T*s)
	e.sum, e.beta = kernels.Grow(e.sum, T), kernels.Grow(e.beta, s)
	if len(e.one) != s {
		e.one = make([]float64, s)
		for i := range e.one {
			e.one[i] = 1
		}
	}
}

func (e *Expectation) forward(tr *Transitions64, T int) (logZ float64) {
	s := tr.Stride
	copy(e.alpha[:s], e.exp[:s])
	sum := 0.0
	for _, v := range e.alpha[:s] {
		sum += v
	}
	product := 1.0 // of sums, to take one logarithm for many
	for t := range T {
		if t > 0 {
			sum = kernels.RowSum64(e.alpha[t*s:(t+1)*s], e.alpha[(t-1)*s:t*s], e.exp[t*s:(t+1)*s], tr.Exp, s, 1/sum)
		}
		e.sum[t] = sum
		if product *= sum; product < 1e-100 || product > 1e100 {
			logZ += math.Log(product)
			product = 1
		}
	}
	return logZ + math.Log(product)
}

func (e *Expectation) backward(tr *Transitions64, T int, post []float64) {
	s := tr.Stride
	beta := e.beta
	copy(beta, e.one)
	for t := T - 1; ; t-- {
		c := e.sum[t]
		kernels.Product64(post[t*s:(t+1)*s], e.alpha[t*s:(t+1)*s], beta, 1/c)
		if t == 0 {
			return
		}
		before := e.sum[t-1]
		x := e.x[t*s : (t+1)*s]
		kernels.Product64(x, e.exp[t*s:(t+1)*s], beta, 1/(c*before))
		kernels.RowSum64(beta, x, e.one, tr.expT, s, before)
	}
}
