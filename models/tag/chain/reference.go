package chain

import "math"

// reference holds the sums of forward-backward in log space, in float64:
// slow, and safe from underflow.
//
//	α(t,y) = s(t,y) + log Σ_y' e^(α(t-1,y') + a(y',y))
//	β(t,y) = log Σ_y' e^(a(y,y') + s(t+1,y') + β(t+1,y'))
type reference struct {
	T, L        int
	alpha, beta []float64 // [T][L]
	logZ        float64
}

// newReference sums over state, [T][stride], and trans, [L][stride].
func newReference[F float32 | float64](T, L, stride int, state, trans []F) *reference {
	r := &reference{T: T, L: L, alpha: make([]float64, T*L), beta: make([]float64, T*L)}
	terms := make([]float64, L)
	for t := range T {
		for y := range L {
			in := 0.0
			if t > 0 {
				for i := range L {
					terms[i] = r.alpha[(t-1)*L+i] + float64(trans[i*stride+y])
				}
				in = logSum(terms)
			}
			r.alpha[t*L+y] = float64(state[t*stride+y]) + in
		}
	}
	for t := T - 2; t >= 0; t-- {
		for y := range L {
			for j := range L {
				terms[j] = float64(trans[y*stride+j]) + float64(state[(t+1)*stride+j]) + r.beta[(t+1)*L+j]
			}
			r.beta[t*L+y] = logSum(terms)
		}
	}
	r.logZ = logSum(r.alpha[(T-1)*L:])
	return r
}

func (r *reference) marginal(t, y int) float64 {
	return math.Exp(r.alpha[t*r.L+y] + r.beta[t*r.L+y] - r.logZ)
}

func logSum(x []float64) float64 {
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
