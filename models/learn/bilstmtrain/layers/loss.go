package layers

import (
	"math"
	"slices"

	"github.com/velum-health/velum/models/number/kernels"
	"github.com/velum-health/velum/models/tag/chain"
	"github.com/velum-health/velum/pipeline"
)

// Loss is the last layer: it computes the objective that training minimizes, summed over the sequences of the batch.
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
	slope  []float64 // [T][tr.Stride] of the objective "marginals" in the probabilities
}

func NewLoss(b *Batch, set *pipeline.TagSet, objective string, weights []float64) *Loss {
	l := &Loss{b: b, set: set, objective: objective, weights: weights, Stride: kernels.Pad(set.Len())}
	l.legal = chain.NewWeights(set, true)
	l.tr = chain.NewTransitions64(l.legal)
	n := l.tr.Stride * l.tr.Stride
	l.pair, l.dpair, l.counts = make([]float64, n), make([]float64, n), make([]float64, n)
	return l
}

// Forward computes the loss and, since both share most of the work, its gradients.
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

// Backward returns the gradients that Forward has computed.
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
	s = kernels.Grow(s, n)
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

// nudge is the change of the score of the least probable gold tag in the symmetric difference that estimates the
// gradient; the error is of order nudge². Below leastProbable the gradient is held constant, because the difference of
// two numbers near 1 would be noise.
const (
	nudge         = 1e-2
	leastProbable = 1e-9
)

// marginals has its gradient by perturbation (Domke 2010): that of Σ_t f(p_t) is how the probabilities change when the scores
// move along the slope of f, since the second derivatives of log Z are symmetric.
func (l *Loss) marginals(scores []float32, k int) (nll float64) {
	T, s := l.load(scores, k), l.tr.Stride
	clear(l.pair)
	l.chain.Add(l.tr, T, l.state, l.post, l.pair)
	l.slope = growTo(l.slope, T*s)
	for t := range T {
		y := l.gold(k, t)
		c, p := l.tokenWeight(y), max(l.post[t*s+y], leastProbable)
		nll -= c * math.Log(p)
		l.slope[t*s+y] = c / p
	}
	step := nudge / slices.Max(l.slope)
	gradient := make([]float64, T*s)
	for _, side := range []float64{step, -step} {
		l.load(scores, k)
		kernels.Axpy64(side, l.slope, l.state)
		clear(l.pair)
		l.chain.Add(l.tr, T, l.state, l.post, l.pair)
		kernels.Axpy64(-1/(2*side), l.post, gradient)
		kernels.Axpy64(-1/(2*side), l.pair, l.dpair)
	}
	for t := range T {
		for y, g := range gradient[t*s:][:l.tr.L] {
			l.gradient(l.row(k, t))[y] = l.b.Scale * float32(g)
		}
	}
	return nll
}
