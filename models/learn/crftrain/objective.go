package crftrain

import (
	"math"

	"github.com/velum-health/velum/models/number/kernels"
	"github.com/velum-health/velum/models/tag/chain"
	"github.com/velum-health/velum/models/tag/features"
)

// objective is the negative log likelihood of a corpus and its gradient.
//
//	f(w)    = Σ_x v(x) (log Z(x) - score(y, x))
//	∂f/∂w_k = Σ_x v(x) (E[count of k] - observed count of k)
//
// where v(x) is the weight of a sequence, 1 for most.
//
// A feature has weights at some slots of its block, [rows][stride]: row r
// stands for window offset Hi - r, so that the rows of a block lie as the rows
// of the tokens that it speaks to. The work of an evaluation is arranged by
// units, a unit being a form (with all its features) or a mark (one feature):
//
//  1. expand   weights → block a form (adding up its features once)
//  2. sum      blocks → scores of every sequence → forward-backward → expected
//     minus observed, a row a token
//  3. gather   those rows, around every occurrence of a unit → block → weights
//
// Every form pays for its features once an evaluation, not once a token, which
// is where the time goes in programs that walk the features of every token.
// Nothing is added across workers in the order in which they finish: shares
// are fixed, and added in their order.
type objective struct {
	c       *Corpus
	workers int
	tr      *chain.Transitions64
	stride  int
	block   int // numbers in a form's block: rows of the template's window × stride

	weightStart []int32  // [features+1] first weight of a feature
	slot        []uint16 // [weights]    place in the feature's block

	pairs    []pair // transitions with a weight; they follow the state weights
	observed []float64

	occurrenceStart []int32   // [units+1]
	occurrence      []int32   // row
	occurrenceValue []float32 // nil for forms: units < forms have value 1

	forms  []float64   // [forms][block]
	excess []float64   // [c.rows][stride] expected minus observed; margins stay 0
	grads  [][]float64 // [gatherShares][state weights]

	scratch []scratch // a worker
	shares  []share   // of the sequences
}

type pair struct{ from, to uint8 }

type scratch struct {
	rows  []float64 // [margin+T+margin][stride]
	expct chain.Expectation
	block []float64
}

// share is a fixed run of sequences with the sums over them.
type share struct {
	lo, hi int // sequences
	value  float64
	pair   []float64 // [stride][stride]
}

const (
	sumShares    = 64 // enough to even out long and short sequences
	gatherShares = 8  // each has a gradient of its own
)

// size returns the number of weights.
func (o *objective) size() int { return len(o.slot) + len(o.pairs) }

// newObjective lays out the weights. See TrainOptions for what it takes from
// them.
func newObjective(c *Corpus, opt TrainOptions) *objective {
	L := c.set.Len()
	o := &objective{c: c, workers: opt.Workers, tr: chain.NewTransitions64(chain.NewWeights(c.set, true))}
	o.stride = o.tr.Stride
	o.block = (c.template.Hi - c.template.Lo + 1) * o.stride
	o.index()
	o.layout(opt)
	o.observe(L)
	o.forms = make([]float64, len(c.formOf)*o.block)
	o.excess = make([]float64, c.rows*o.stride)
	for range gatherShares {
		o.grads = append(o.grads, make([]float64, len(o.slot)))
	}
	o.scratch = make([]scratch, max(opt.Workers, 1))
	for i := range o.scratch {
		o.scratch[i].block = make([]float64, o.block)
	}
	for s := range sumShares {
		lo, hi := kernels.Share(len(c.sequences), s, sumShares)
		o.shares = append(o.shares, share{lo: lo, hi: hi, pair: make([]float64, o.stride*o.stride)})
	}
	return o
}

// index lists the rows where each unit occurs. Units are the forms, then the
// features (of which only marks occur).
func (o *objective) index() {
	c := o.c
	forms := len(c.formOf)
	count := make([]int32, forms+len(c.features)+1)
	for _, f := range c.form {
		count[f+1]++
	}
	for _, m := range c.marks {
		count[forms+int(m.feature)+1]++
	}
	for i := 1; i < len(count); i++ {
		count[i] += count[i-1]
	}
	o.occurrenceStart = append([]int32(nil), count...)
	o.occurrence = make([]int32, len(c.form)+len(c.marks))
	o.occurrenceValue = make([]float32, len(c.marks))
	for i := range c.sequences {
		s, T, marks := c.sequence(i)
		for t, f := range c.form[s.token:][:T] {
			o.occurrence[count[f]] = s.row + int32(t)
			count[f]++
		}
		for _, m := range marks {
			u := forms + int(m.feature)
			o.occurrence[count[u]] = s.row + m.at
			o.occurrenceValue[int(count[u])-len(c.form)] = m.value
			count[u]++
		}
	}
}

// shift returns where the block of a group begins in the block of a form.
func (o *objective) shift(g *features.Group) int { return (o.c.template.Hi - g.Hi) * o.stride }

// layout finds the slots that have a weight: those that were seen, with rows
// seen less than MinCount times left out.
func (o *objective) layout(opt TrainOptions) {
	c := o.c
	first, places := c.places()
	L := c.set.Len()
	count, seen := make([]float64, places), make([]uint64, (places*L+63)/64)
	for i := range c.sequences {
		s, _, _ := c.sequence(i)
		c.walk(i, func(t int, f int32, row int, value float32, _ bool) {
			place := first[f] + row
			count[place] += math.Abs(float64(value))
			if value != 0 {
				at := place*L + int(c.tag[int(s.token)+t])
				seen[at/64] |= 1 << (at % 64)
			}
		})
	}
	o.weightStart = make([]int32, 1, len(c.features)+1)
	for f := range c.features {
		for row := range c.group(int32(f)).Rows() {
			place := first[f] + row
			for y := 0; y < L && count[place] >= float64(opt.MinCount); y++ {
				if at := place*L + y; seen[at/64]>>(at%64)&1 != 0 {
					o.slot = append(o.slot, uint16(row*o.stride+y))
				}
			}
		}
		o.weightStart = append(o.weightStart, int32(len(o.slot)))
	}
}

// window returns the largest offset and the number of rows of a unit's block.
func (o *objective) window(u int) (hi, rows int) {
	if u < len(o.c.formOf) {
		return o.c.template.Hi, o.block / o.stride
	}
	g := o.c.group(int32(u - len(o.c.formOf)))
	return g.Hi, g.Rows()
}

// value returns the value of occurrence k, which belongs to unit u.
func (o *objective) value(u int, k int32) float64 {
	if u < len(o.c.formOf) {
		return 1
	}
	return float64(o.occurrenceValue[int(k)-len(o.c.form)])
}

// observe counts transitions and gives weights to those that were seen.
func (o *objective) observe(labels int) {
	seen := make([]float64, labels*labels)
	for i := range o.c.sequences {
		s, T, _ := o.c.sequence(i)
		tags := o.c.tag[s.token:][:T]
		for t := 1; t < T; t++ {
			seen[int(tags[t-1])*labels+int(tags[t])]++
		}
	}
	for i := range labels {
		for j := range labels {
			legal := o.tr.Score[i*o.stride+j] > chain.Forbidden
			if n := seen[i*labels+j]; legal && n > 0 {
				o.pairs = append(o.pairs, pair{uint8(i), uint8(j)})
				o.observed = append(o.observed, n)
			}
		}
	}
}

// evaluate writes the gradient at w into g and returns the objective. It is
// infinite where the scores have run out of range.
func (o *objective) evaluate(w, g []float64) float64 {
	states := len(o.slot)
	for k, p := range o.pairs {
		o.tr.Score[int(p.from)*o.stride+int(p.to)] = w[states+k]
	}
	o.tr.Update()
	o.expand(w)
	kernels.Parallel(o.workers, len(o.shares), func(worker, s int) { o.sum(&o.scratch[worker], &o.shares[s], w) })
	value := 0.0
	expected := make([]float64, o.stride*o.stride)
	for i := range o.shares {
		value += o.shares[i].value
		kernels.Add64(expected, o.shares[i].pair)
	}
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return math.Inf(1)
	}
	kernels.Parallel(o.workers, gatherShares, func(worker, s int) { o.gather(&o.scratch[worker], s) })
	o.reduce(g[:states])
	for k, p := range o.pairs {
		at := int(p.from)*o.stride + int(p.to)
		g[states+k] = expected[at]*o.tr.Exp[at] - o.observed[k]
	}
	return value
}

// expand is step 1.
func (o *objective) expand(w []float64) {
	const shares = 64
	kernels.Parallel(o.workers, shares, func(_, s int) {
		lo, hi := kernels.Share(len(o.c.formOf), s, shares)
		for u := lo; u < hi; u++ {
			o.expandForm(u, w)
		}
	})
}

func (o *objective) expandForm(u int, w []float64) {
	c := o.c
	block := o.forms[u*o.block:][:o.block]
	clear(block)
	for k := c.formStart[u]; k < c.formStart[u+1]; k++ {
		f := int(c.formFeature[k])
		o.addFeature(block[o.shift(o.c.group(int32(f))):], f, 1, w)
	}
}

// addFeature adds the weights of feature f, times v, to rows.
func (o *objective) addFeature(rows []float64, f int, v float64, w []float64) {
	lo, hi := o.weightStart[f], o.weightStart[f+1]
	if lo == hi {
		return
	}
	w = w[lo:hi]
	for k, at := range o.slot[lo:hi] {
		rows[at] += v * w[k]
	}
}

// sum is step 2 for one share.
func (o *objective) sum(x *scratch, s *share, w []float64) {
	s.value = 0
	clear(s.pair)
	for i := s.lo; i < s.hi; i++ {
		s.value += o.sequence(x, i, w, s.pair)
	}
}

func (o *objective) sequence(x *scratch, i int, w, pairs []float64) float64 {
	c := o.c
	seq, T, marks := c.sequence(i)
	n := T * o.stride
	x.reset(T+2*c.margin, o.stride, c.set.Len())
	for t, f := range c.form[seq.token:][:T] {
		at := (t + c.margin - c.template.Hi) * o.stride
		kernels.Add64(x.rows[at:], o.forms[int(f)*o.block:][:o.block])
	}
	for _, m := range marks {
		at := (int(m.at) + c.margin - o.c.group(m.feature).Hi) * o.stride
		o.addFeature(x.rows[at:], int(m.feature), float64(m.value), w)
	}
	state := x.rows[c.margin*o.stride:][:n]
	excess := o.excess[int(seq.row)*o.stride:][:n]
	score := 0.0
	tags := c.tag[seq.token:][:T]
	for t, y := range tags {
		score += state[t*o.stride+int(y)]
		if t > 0 {
			score += o.tr.Score[int(tags[t-1])*o.stride+int(y)]
		}
	}
	logZ := x.expct.Add(o.tr, T, state, excess, pairs)
	for t, y := range tags {
		excess[t*o.stride+int(y)]--
	}
	return logZ - score
}

// reset makes n rows of zeros with padding Forbidden.
func (s *scratch) reset(n, stride, labels int) {
	if cap(s.rows) < n*stride {
		s.rows = make([]float64, n*stride*3/2)
	}
	s.rows = s.rows[:n*stride]
	clear(s.rows)
	for at := 0; at < len(s.rows); at += stride {
		for y := labels; y < stride; y++ {
			s.rows[at+y] = chain.Forbidden
		}
	}
}

// gather is step 3 for one share: units s, s+gatherShares and so on, so that
// the frequent forms, which come first, are dealt out evenly.
func (o *objective) gather(x *scratch, s int) {
	clear(o.grads[s])
	forms := len(o.c.formOf)
	for u := s; u < len(o.occurrenceStart)-1; u += gatherShares {
		lo, hi := o.occurrenceStart[u], o.occurrenceStart[u+1]
		if lo == hi {
			continue
		}
		top, rows := o.window(u)
		n := rows * o.stride
		block := x.block[:n]
		clear(block)
		for k := lo; k < hi; k++ {
			from := o.excess[(int(o.occurrence[k])-top)*o.stride:][:n]
			if v := o.value(u, k); v == 1 {
				kernels.Add64(block, from)
			} else {
				kernels.Axpy64(v, from, block)
			}
		}
		if u < forms {
			o.spread(u, s, block)
		} else {
			o.spreadFeature(u-forms, s, block)
		}
	}
}

// spread distributes the block of form u to its features.
func (o *objective) spread(u, s int, block []float64) {
	c := o.c
	for k := c.formStart[u]; k < c.formStart[u+1]; k++ {
		f := int(c.formFeature[k])
		o.spreadFeature(f, s, block[o.shift(o.c.group(int32(f))):])
	}
}

func (o *objective) spreadFeature(f, s int, block []float64) {
	lo, hi := o.weightStart[f], o.weightStart[f+1]
	if lo == hi {
		return
	}
	g, slots := o.grads[s][lo:hi], o.slot[lo:hi]
	for k, at := range slots {
		g[k] += block[at]
	}
}

// reduce adds up the shares in their order.
func (o *objective) reduce(g []float64) {
	const shares = 64
	kernels.Parallel(o.workers, shares, func(_, s int) {
		lo, hi := kernels.Share(len(g), s, shares)
		copy(g[lo:hi], o.grads[0][lo:hi])
		for _, x := range o.grads[1:] {
			kernels.Axpy64(1, x[lo:hi], g[lo:hi])
		}
	})
}
