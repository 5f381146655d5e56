package chain

import (
	"math"

	"github.com/velum-health/velum/models/number/kernels"
	"github.com/velum-health/velum/pipeline"
)

// Lattice is the scratch space of tagging: one sequence at a time, memory is
// kept. Use it in this order: Reset, fill State, Prepare, then any of Viterbi,
// LogZ, LogScore, Marginals, SpanProbs.Add.
type Lattice struct {
	T     int       //                tokens
	State []float32 // [T][tr.Stride] score of label y at token t; padding Forbidden

	tr     *Transitions
	rows   []float32 // [margin+T+margin][Stride], holds State
	exp    []float32 // [T][Stride]    e^State after Prepare
	alpha  []float32 // [1+T][Stride]  best scores; one row before the first, see kernels.Band
	sums   []float32 // [T][Stride]    summed scores, see LogZ; each row is made of the one before over its total
	total  []float64 // [T]            sums of the rows of sums
	dip    float32   //                see weak
	narrow bool      //                float32 is too narrow: the sums stand in wide
	summed bool      //                all sums are made
	wide   wide
	beta   []float32 // [3][Stride]
	later  []float32 // [T][Stride]    rows of e^State·beta, see SpanProbs
	behind int       //                the token whose beta is in the first row
	shift  float64   //                what Prepare has taken away from all paths
}

// Reset makes room for n tokens with margin rows of scratch before the first
// and behind the last, and returns all rows: [margin+n+margin][Stride]. The
// caller writes every number of State, which is the middle of it.
func (l *Lattice) Reset(tr *Transitions, n, margin int) (rows []float32) {
	l.tr, l.T = tr, n
	l.rows = kernels.Grow(l.rows, (n+2*margin)*tr.Stride)
	l.State = l.rows[margin*tr.Stride:][:n*tr.Stride]
	return l.rows
}

// Prepare must follow the last change of State. It adds the start and end
// scores and brings the largest score of every token to 0, which changes
// neither the best path nor any probability, and keeps the numbers small: a
// path of a thousand tokens would have lost three digits of a float32.
func (l *Lattice) Prepare() {
	if l.T == 0 {
		return
	}
	s := l.tr.Stride
	l.exp = kernels.Grow(l.exp, len(l.State))
	l.alpha = kernels.Grow(l.alpha, len(l.State)+s)
	kernels.Add(l.State[:s], l.tr.start)
	kernels.Add(l.State[(l.T-1)*s:], l.tr.end)
	l.shift, l.summed = 0, false
	for at := 0; at < len(l.State); at += s {
		l.shift += float64(kernels.ShiftExp(l.exp[at:at+s], l.State[at:at+s]))
	}
}

// slop keeps sources that are below the pruning floor only by rounding. Scores between two labels differ by less than a
// thousand, where the resolution of float32 is 6e-5.
const slop = 1e-4

// Viterbi writes the best path into path; of equal paths the one with the
// lower tags from the right.
//
//	α(0,y) = s(0,y)
//	α(t,y) = s(t,y) + max_y' α(t-1,y') + a(y',y)
//
// Inner targets are taken from their three neighbours. For open targets only
// sources that can win are tried: source i loses to source b at every open
// target when
//
//	α(i) < α(b) - slack(b),  slack(b) = max_j (max_i a(i,j) - a(b,j))
//
// so everything below the floor max_b α(b) - slack(b) is left out. The result
// is the one of all pairs of labels. Nothing but the sums is stored: which
// source a maximum came from is found on the way back, for one label a token.
func (l *Lattice) Viterbi(path []pipeline.Tag) {
	if l.T == 0 {
		return
	}
	floor := l.first()
	for t := 1; t < l.T; t++ {
		floor = l.advance(t, floor)
	}
	l.back(path)
}

// first starts the Viterbi recursion and returns the pruning floor.
func (l *Lattice) first() (floor float32) {
	s := l.tr.Stride
	clear(l.alpha[:s])
	copy(l.alpha[s:2*s], l.State[:s])
	_, floor = kernels.AddShift(l.alpha[s:2*s], zeros[:s], l.tr.slack)
	return floor
}

// advance computes the row of token t.
func (l *Lattice) advance(t int, floor float32) float32 {
	tr, s := l.tr, l.tr.Stride
	prev, next := l.alpha[t*s:(t+1)*s], l.alpha[(t+1)*s:(t+2)*s]
	kernels.Band(next, l.alpha[t*s-2:], tr.band)
	kernels.MaxPlus(next, prev, tr.open, floor-slop)
	_, floor = kernels.AddShift(next, l.State[t*s:(t+1)*s], tr.slack)
	return floor
}

// Decode is Viterbi, and returns LogZ. Both recursions wait for the row before
// and not for each other, so that in step they take two thirds of their time.
func (l *Lattice) Decode(path []pipeline.Tag) (logZ float64) {
	if l.T == 0 {
		return 0
	}
	floor := l.first()
	l.firstSum()
	for t := 1; t < l.T; t++ {
		l.nextSum(t)
		floor = l.advance(t, floor)
	}
	l.back(path)
	return l.logZ()
}

var zeros [256]float32 // as long as the longest row: tags are numbered by a byte

// back traces the best path from the right.
func (l *Lattice) back(path []pipeline.Tag) {
	s := l.tr.Stride
	best := kernels.ArgMax(l.alpha[l.T*s:], zeros[:s])
	path[l.T-1] = pipeline.Tag(best)
	for t := l.T - 1; t > 0; t-- {
		best = kernels.ArgMax(l.alpha[t*s:], l.tr.source[best*s:(best+1)*s])
		path[t-1] = pipeline.Tag(best)
	}
}

// LogScore returns Σ_t s(t,y_t) + a(y_{t-1},y_t) of a path, less what Prepare
// took away, so that LogScore - LogZ is log p(path).
func (l *Lattice) LogScore(path []pipeline.Tag) float64 {
	sum := 0.0
	for t, y := range path[:l.T] {
		sum += float64(l.State[t*l.tr.Stride+int(y)])
		if t > 0 {
			sum += float64(l.tr.score[int(path[t-1])*l.tr.Stride+int(y)])
		}
	}
	return sum
}

// weak is the limit below which the recursion in float32 is not trusted. A label with a share of α below e^-87 is lost;
// that matters only if the sums of later rows fall by about as much, that is, if the tokens contradict all paths that
// were kept. So the product of the latest row sums is watched, counted from where it last exceeded one. Long lines fall
// below the limit, too, since their row sums are slightly less than one.
const weak = 1e-20

// LogZ returns the logarithm of the sum over all paths, less what Prepare
// took away.
//
//	α(0,y) = e^s(0,y)
//	α(t,y) = e^s(t,y) Σ_y' α(t-1,y') e^a(y',y) / c(t-1),  c(t) = Σ_y α(t,y)
//
// Z is the product of the sums c(t).
func (l *Lattice) LogZ() float64 {
	if l.T == 0 {
		return 0
	}
	l.sum()
	return l.logZ()
}

// sum computes all sums unless they are computed already.
func (l *Lattice) sum() {
	if l.summed {
		return
	}
	l.firstSum()
	for t := 1; t < l.T; t++ {
		l.nextSum(t)
	}
	l.lastSum()
}

func (l *Lattice) firstSum() {
	s := l.tr.Stride
	l.sums, l.total = kernels.Grow(l.sums, l.T*s), kernels.Grow(l.total, l.T)
	copy(l.sums[:s], l.exp[:s])
	l.total[0] = rowSum(l.exp[:s])
	if l.T > 1 { // as the other sums
		l.total[0] = float64(float32(l.total[0]))
	}
	l.dip, l.narrow = 1, l.tr.wide
}

func (l *Lattice) nextSum(t int) {
	if l.narrow {
		return
	}
	s := l.tr.Stride
	c := kernels.Forward(l.sums[t*s:(t+1)*s], l.sums[(t-1)*s:t*s], l.exp[t*s:(t+1)*s], l.tr.exp, l.tr.rows, float32(1/l.total[t-1]))
	l.total[t] = float64(c)
	l.dip = min(l.dip, 1) * c
	l.narrow = !(l.dip > weak)
}

func (l *Lattice) lastSum() {
	if l.narrow && !l.summed {
		l.widen()
	}
	l.summed, l.behind = true, -1
}

func (l *Lattice) logZ() float64 {
	if l.lastSum(); l.narrow {
		return l.wide.logZ
	}
	return sumLogs(l.total[:l.T])
}

// sumLogs is Σ log x, with one logarithm for many.
func sumLogs(x []float64) (sum float64) {
	product := 1.0
	for _, v := range x {
		if product *= v; product < 1e-200 || product > 1e200 {
			sum += math.Log(product)
			product = 1
		}
	}
	return sum + math.Log(product)
}

func rowSum(row []float32) float64 {
	sum := 0.0
	for _, v := range row {
		sum += float64(v)
	}
	return sum
}

// Marginals writes p(y_t = y | x) into dst, [T][Stride]; padding is 0.
func (l *Lattice) Marginals(dst []float32) {
	if l.T == 0 {
		return
	}
	l.sum()
	if l.narrow {
		l.wideMarginals(dst)
		return
	}
	// β(T-1,y) = 1, β(t,y) = Σ_y' e^(a(y,y')+s(t+1,y')) β(t+1,y')
	s := l.tr.Stride
	l.beta = kernels.Grow(l.beta, 3*s)
	beta, next, one := l.beta[:s], l.beta[s:2*s], l.beta[2*s:3*s]
	for y := range s {
		beta[y], one[y] = 1, 1
	}
	for t := l.T - 1; ; t-- {
		row, alpha, scale := dst[t*s:(t+1)*s], l.sums[t*s:(t+1)*s], float32(1/l.total[t])
		for y, b := range beta {
			row[y] = alpha[y] * (b * scale)
		}
		if t == 0 {
			return
		}
		for y, e := range l.exp[t*s : (t+1)*s] {
			next[y] = beta[y] * e
		}
		kernels.Forward(beta, next, one, l.tr.expT, l.tr.rows, scale)
	}
}

func (l *Lattice) wideMarginals(dst []float32) {
	clear(dst[:l.T*l.tr.Stride])
	for t := range l.T {
		for y := range l.tr.L {
			dst[t*l.tr.Stride+y] = float32(l.ahead(t, y) * l.after(t, y))
		}
	}
}
