package crftrain

import (
	"math"
	"math/rand/v2"
	"slices"
)

// descent is stochastic gradient descent (VIGI §9; Zhang 2004) on
//
//	f(w) = Σ_x v(x) (log Z(x) - score(y, x)) + λ2/2 ‖w‖²
//
// one sequence after the other, in an order that is drawn anew for every pass: with
// λ = λ2/n of n sequences, the t-th step is
//
//	w ← (1 - η_t λ) w - η_t ∂/∂w of the sequence,   η_t = 1/(λ (t_0 + t)), t_0 = 1/(λ η_0)
//
// (Shalev-Shwartz, Singer and Srebro 2007; Bottou's schedule, as CRFsuite's l2sgd has
// it). η_0 is the best of some on the first sequences of that order. Steps follow one
// another, so there is nothing to divide among workers. The weights are scale times
// what is stored, so that a step touches the features of its sequence alone.
type descent struct {
	o      *objective
	m      *minimizer // its w are the weights, and it evaluates the whole between passes
	lambda float64
	begin  float64 // t_0
	steps  float64 // so far: t
	scale  float64
	order  []int32
	random *rand.Rand
	x      *scratch
	pairs  []float64 // as observed in a sequence
}

const (
	calibrated = 1000 // sequences on which first rates are tried
	firstRate  = 0.1
	lowestRate = 1e-4 // and its inverse the highest: each is double the one before, or half, while the loss falls
)

// newDescent calibrates from the weights of m.
func newDescent(o *objective, m *minimizer) *descent {
	n := len(o.c.sequences)
	d := &descent{o: o, m: m, lambda: m.l2 / float64(n), scale: 1, random: rand.New(rand.NewPCG(uint64(n), 2004)), x: &o.scratch[0],
		pairs: make([]float64, o.stride*o.stride)}
	for i := range n {
		d.order = append(d.order, int32(i))
	}
	d.shuffle()
	d.begin = 1 / (d.lambda * d.calibrate(d.order[:min(n, calibrated)]))
	return d
}

// calibrate returns the first rate whose pass over some sequences has the least loss.
func (d *descent) calibrate(order []int32) float64 {
	first := slices.Clone(d.m.w)
	best, bestRate := math.Inf(1), firstRate
	for _, factor := range []float64{2, 0.5} {
		for rate := firstRate; ; rate *= factor {
			d.begin, d.steps = 1/(d.lambda*rate), 0
			loss := d.run(order)
			copy(d.m.w, first)
			if loss < best {
				best, bestRate = loss, rate
			} else if rate != firstRate || factor > 1 {
				break // no less, or not a number
			}
			if rate < lowestRate || rate > 1/lowestRate {
				break
			}
		}
	}
	d.steps = 0
	return bestRate
}

func (d *descent) shuffle() {
	d.random.Shuffle(len(d.order), func(i, j int) { d.order[i], d.order[j] = d.order[j], d.order[i] })
}

// step makes a pass over all sequences and evaluates the whole.
func (d *descent) step() bool {
	d.shuffle()
	d.run(d.order)
	d.m.start()
	return !math.IsInf(d.m.value, 1)
}

// run makes a step for each of the sequences, and returns the sum of their losses, each
// before its step.
func (d *descent) run(order []int32) (loss float64) {
	for _, i := range order {
		eta := 1 / (d.lambda * (d.begin + d.steps))
		d.steps++
		d.scale *= 1 - eta*d.lambda
		loss += d.sequence(int(i), eta)
		if d.scale < 1e-9 {
			d.settle()
		}
	}
	d.settle()
	return loss
}

// settle multiplies the scale into the weights.
func (d *descent) settle() {
	for k := range d.m.w {
		d.m.w[k] *= d.scale
	}
	d.scale = 1
}

// sequence makes the step of one sequence.
func (d *descent) sequence(i int, eta float64) (loss float64) {
	o, c, w := d.o, d.o.c, d.m.w
	seq, T, _ := c.sequence(i)
	states := w[len(o.slot):]
	for k, p := range o.pairs {
		o.tr.Score[int(p.from)*o.stride+int(p.to)] = d.scale * states[k]
	}
	o.tr.Update()
	d.x.reset(T+2*c.margin, o.stride, c.set.Len())
	rows := d.x.rows
	d.features(i, func(f, at int, v float64) {
		for k := o.weightStart[f]; k < o.weightStart[f+1]; k++ {
			rows[at+int(o.slot[k])] += d.scale * v * w[k]
		}
	})
	loss = d.expect(i, rows)
	excess := o.excess[(int(seq.row)-c.margin)*o.stride:]
	gain := eta / d.scale
	d.features(i, func(f, at int, v float64) {
		for k := o.weightStart[f]; k < o.weightStart[f+1]; k++ {
			w[k] -= gain * v * excess[at+int(o.slot[k])]
		}
	})
	for k, p := range o.pairs {
		at := int(p.from)*o.stride + int(p.to)
		states[k] -= gain * (d.x.pair[at]*o.tr.Exp[at] - d.pairs[at])
	}
	return loss
}

// expect writes expected minus observed tags of a sequence into excess, pairs of
// tags into x.pair and pairs, and returns the loss.
func (d *descent) expect(i int, rows []float64) float64 {
	o, c := d.o, d.o.c
	seq, T, _ := c.sequence(i)
	state, excess := rows[c.margin*o.stride:][:T*o.stride], o.excess[int(seq.row)*o.stride:][:T*o.stride]
	tags, score := c.tag[seq.token:][:T], 0.0
	clear(d.pairs)
	for t, y := range tags {
		score += state[t*o.stride+int(y)]
		if t > 0 {
			at := int(tags[t-1])*o.stride + int(y)
			score += o.tr.Score[at]
			d.pairs[at]++
		}
	}
	clear(d.x.pair)
	logZ := d.x.expct.Add(o.tr, T, state, excess, d.x.pair)
	for t, y := range tags {
		excess[t*o.stride+int(y)]--
	}
	return logZ - score
}

// features calls do for every feature of a sequence, its block's place in the rows of
// the sequence with their margins, and its value.
func (d *descent) features(i int, do func(f, at int, v float64)) {
	o, c := d.o, d.o.c
	seq, T, marks := c.sequence(i)
	for t, form := range c.form[seq.token:][:T] {
		at := (t + c.margin - c.template.Hi) * o.stride
		for k := c.formStart[form]; k < c.formStart[form+1]; k++ {
			f := int(c.formFeature[k])
			do(f, at+o.shift(o.group(f)), 1)
		}
	}
	for _, m := range marks {
		do(int(m.feature), (int(m.at)+c.margin-o.group(int(m.feature)).Hi)*o.stride, float64(m.value))
	}
}
