package layers

import (
	"math"

	"github.com/velum-health/velum/models/number/kernels"
	"github.com/velum-health/velum/models/tag/bilstm"
	"github.com/velum-health/velum/models/tag/chain"
	"github.com/velum-health/velum/pipeline"
)

// Loss is the last layer: what the network is to make small, a sequence of the
// batch.
//
//	in:  scores [n][stride] of tags at tokens, pairs [stride][stride] of tags behind tags; the latter not for "softmax"
//	out: [1]
//
// Objectives, over paths that the tag scheme allows (softmax: over all tags):
//
//	path       -log p(y|x)           (NGRID §5, equation 5)
//	marginals  -Σ_t log p(y_t|x)     (BOOT §3.5.2: composite likelihood)
//	softmax    -Σ_t log softmax(s_t) (INV §4.3.4)
type Loss struct {
	b         *Batch
	set       *pipeline.TagSet
	objective string
	weights   []float64 // [tags] of tokens by their tag; nil: all 1
	Stride    int       // of scores and pairs

	tr     *chain.Transitions64
	legal  chain.Weights
	chain  chain.Expectation
	state  []float64 // [T][tr.Stride]
	post   []float64 // [T][tr.Stride]
	pair   []float64 // [tr.Stride][tr.Stride] of a sequence
	dpair  []float64 // the same of all
	out    [1]float32
	ds     []float32
	dp     []float32
	counts []float64 // gold pairs

	alpha, beta, ga, gb, sum []float64
}

func NewLoss(b *Batch, set *pipeline.TagSet, objective string, weights []float64) *Loss {
	l := &Loss{b: b, set: set, objective: objective, weights: weights, Stride: kernels.Pad(set.Len())}
	l.legal = chain.NewWeights(set, true)
	l.tr = chain.NewTransitions64(l.legal)
	n := l.tr.Stride * l.tr.Stride
	l.pair, l.dpair, l.counts = make([]float64, n), make([]float64, n), make([]float64, n)
	return l
}

// Forward computes the loss and its gradients, which share all the work.
func (l *Loss) Forward(in [][]float32) []float32 {
	l.ds = zero(l.ds, len(in[0]))
	clear(l.dpair)
	clear(l.counts)
	if len(in) == 2 {
		l.transitions(in[1])
	}
	sum := 0.0
	for k := range l.b.Length {
		switch l.objective {
		case "path":
			sum += l.path(in[0], k)
		case "marginals":
			sum += l.marginals(in[0], k)
		default:
			sum += l.softmax(in[0], k)
		}
	}
	l.out[0] = float32(sum) * l.b.Scale
	return l.out[:]
}

// transitions takes over the scores of pairs that may be.
func (l *Loss) transitions(pairs []float32) {
	for i := range l.tr.L {
		for j := range l.tr.L {
			if l.legal.Score[i*l.tr.L+j] > chain.Forbidden {
				l.tr.Score[i*l.tr.Stride+j] = float64(pairs[i*l.Stride+j])
			}
		}
	}
	l.tr.Update()
}

// Backward returns what forward has found.
func (l *Loss) Backward(in [][]float32, _ []float32) [][]float32 {
	grads := [][]float32{l.ds}
	if len(in) == 1 {
		return grads
	}
	l.dp = zero(l.dp, len(in[1]))
	for i := range l.tr.L {
		for j := range l.tr.L {
			at := i*l.tr.Stride + j
			l.dp[i*l.Stride+j] = l.b.Scale * float32(l.dpair[at]*l.tr.Exp[at]-l.counts[at])
		}
	}
	return append(grads, l.dp)
}

// load puts the scores of sequence k into state.
func (l *Loss) load(scores []float32, k int) (T int) {
	T, s := int(l.b.Length[k]), l.tr.Stride
	l.state, l.post = growTo(l.state, T*s), growTo(l.post, T*s)
	for t := range T {
		row := l.state[t*s : (t+1)*s]
		for y := range row {
			row[y] = chain.Forbidden
		}
		for y, v := range scores[l.row(k, t)*l.Stride:][:l.tr.L] {
			row[y] = float64(v)
		}
	}
	return T
}

func growTo(s []float64, n int) []float64 {
	s = bilstm.Grow(s, n)
	clear(s)
	return s
}

func (l *Loss) row(k, t int) int         { return int(l.b.Start[t]) + k }
func (l *Loss) gold(k, t int) int        { return int(l.b.Tags[l.row(k, t)]) }
func (l *Loss) gradient(r int) []float32 { return l.ds[r*l.Stride:][:l.Stride] }

// tokenWeight returns the weight of a token with that tag in the loss.
func (l *Loss) tokenWeight(y int) float64 {
	if l.weights == nil {
		return 1
	}
	return l.weights[y]
}

func (l *Loss) path(scores []float32, k int) float64 {
	T, s := l.load(scores, k), l.tr.Stride
	clear(l.pair)
	nll := l.chain.Add(l.tr, T, l.state, l.post, l.pair)
	kernels.Add64(l.dpair, l.pair)
	for t := range T {
		y := l.gold(k, t)
		nll -= l.state[t*s+y]
		l.post[t*s+y]--
		if t > 0 {
			before := l.gold(k, t-1)
			nll -= l.tr.Score[before*s+y]
			l.counts[before*s+y]++
		}
		d := l.gradient(l.row(k, t))
		for i, p := range l.post[t*s:][:l.tr.L] {
			d[i] = l.b.Scale * float32(p)
		}
	}
	return nll
}

func (l *Loss) softmax(scores []float32, k int) (nll float64) {
	T, s := l.load(scores, k), l.tr.Stride
	for t := range T {
		y := l.gold(k, t)
		p := l.post[t*s:][:s]
		shift, sum := kernels.ShiftExp64(p, l.state[t*s:][:s]), 0.0
		for _, v := range p {
			sum += v
		}
		c := l.tokenWeight(y)
		nll += c * (shift + math.Log(sum) - l.state[t*s+y])
		for i, v := range p[:l.tr.L] {
			l.gradient(l.row(k, t))[i] = l.b.Scale * float32(c*v/sum)
		}
		l.gradient(l.row(k, t))[y] -= l.b.Scale * float32(c)
	}
	return nll
}

// marginals goes through the recursions of forward and backward sums, which
// it keeps scaled so that α(t,y)·β(t,y) = p(y_t = y|x), and then through both
// against their order (reverse-mode differentiation, in the logarithms of the
// sums): ga and gb are the gradients of log α and log β.
func (l *Loss) marginals(scores []float32, k int) (nll float64) {
	T, s := l.load(scores, k), l.tr.Stride
	l.sums(T)
	l.ga, l.gb = growTo(l.ga, T*s), growTo(l.gb, T*s)
	all := 0.0
	for t := range T {
		y := l.gold(k, t)
		c := l.tokenWeight(y)
		nll -= c * math.Log(max(l.alpha[t*s+y]*l.beta[t*s+y], 1e-300))
		l.ga[t*s+y], l.gb[t*s+y] = c, c
		all += c
	}
	last := (T - 1) * s
	for y := range l.tr.L {
		l.ga[last+y] -= all * l.alpha[last+y] * l.beta[last+y]
	}
	clear(l.pair)
	l.forwardBack(T)
	l.backwardBack(T)
	for i := range l.pair { // l.dpair is multiplied by e^score in the end; what is here has that already
		l.counts[i] += l.pair[i]
	}
	for t := range T {
		for y, g := range l.post[t*s:][:l.tr.L] {
			l.gradient(l.row(k, t))[y] = -l.b.Scale * float32(g)
		}
	}
	return nll
}

// sums fills state with e^score, alpha, beta and sum. What a sequence begins
// and ends with is not scored.
func (l *Loss) sums(T int) {
	s, tr := l.tr.Stride, l.tr
	l.alpha, l.beta, l.sum = growTo(l.alpha, T*s), growTo(l.beta, T*s), growTo(l.sum, T)
	for y := range tr.L {
		l.state[y] += tr.Start[y]
		l.state[(T-1)*s+y] += tr.End[y]
	}
	for t := range T {
		e, a := l.state[t*s:][:s], l.alpha[t*s:][:s]
		shiftExp(e)
		for j := range tr.L {
			in := 1.0
			if t > 0 {
				in = 0
				for i, v := range l.alpha[(t-1)*s:][:tr.L] {
					in += v * tr.Exp[i*s+j]
				}
			}
			a[j] = in * e[j]
			l.sum[t] += a[j]
		}
		for j := range a {
			a[j] /= l.sum[t]
		}
	}
	for j := range tr.L {
		l.beta[(T-1)*s+j] = 1
	}
	for t := T - 2; t >= 0; t-- {
		for i := range tr.L {
			for j := range tr.L {
				l.beta[t*s+i] += tr.Exp[i*s+j] * l.state[(t+1)*s+j] * l.beta[(t+1)*s+j] / l.sum[t+1]
			}
		}
	}
}

// shiftExp replaces a row by e^(row - its largest).
func shiftExp(row []float64) {
	most := row[0]
	for _, v := range row {
		most = max(most, v)
	}
	for i, v := range row {
		row[i] = math.Exp(v - most)
	}
}

// forwardBack goes from log α(T-1) to the scores; gradients go to post and
// pair.
func (l *Loss) forwardBack(T int) {
	s, tr := l.tr.Stride, l.tr
	for t := T - 1; t >= 0; t-- {
		for j, g := range l.ga[t*s:][:tr.L] {
			l.post[t*s+j] += g
			if t == 0 || l.alpha[t*s+j] == 0 {
				continue
			}
			r := g * l.state[t*s+j] / (l.sum[t] * l.alpha[t*s+j])
			for i, a := range l.alpha[(t-1)*s:][:tr.L] {
				x := a * tr.Exp[i*s+j] * r
				l.ga[(t-1)*s+i] += x
				l.pair[i*s+j] += x
			}
		}
	}
}

// backwardBack goes from log β(0) to the scores.
func (l *Loss) backwardBack(T int) {
	s, tr := l.tr.Stride, l.tr
	for t := range T - 1 {
		for i, g := range l.gb[t*s:][:tr.L] {
			if l.beta[t*s+i] == 0 {
				continue
			}
			r := g / (l.beta[t*s+i] * l.sum[t+1])
			for j, b := range l.beta[(t+1)*s:][:tr.L] {
				x := r * tr.Exp[i*s+j] * l.state[(t+1)*s+j] * b
				l.gb[(t+1)*s+j] += x
				l.post[(t+1)*s+j] += x
				l.pair[i*s+j] += x
			}
		}
	}
}
