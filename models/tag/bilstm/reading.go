package bilstm

import (
	"slices"

	"github.com/velum-health/velum/models/number/kernels"
)

// reader is a recurrent layer for tagging: the arithmetic of the training layer without anything kept for a backward
// pass. Inputs are requested step by step, and gates and memory cell are those of one step: a few kilobytes, which stay
// in the first-level cache.
type reader struct {
	units, gates int
	w, u, b, v   []float32 // as recurrent has them; v nil without

	// The matrices w and, for each direction, u in 8 bits; nil: they are used as they are.
	input     *kernels.Quantized
	recurrent [2]*kernels.Quantized

	h        []float32 // [n][2·units]
	gate     []float32 // [sequences][gates·units] of a step
	c        []float32 // [sequences][units] memory
	squashed []float32 // [units]
	state    []byte    // [sequences][units] h of the last step, as it is multiplied
	codes    []byte    // of rows of x
	scales   []float32
}

// incoming supplies the inputs of a layer.
type incoming interface {
	// begin starts a direction, whose gates have width numbers.
	begin(direction, width int)
	// gates writes the input of a direction's gates for token t of the n longest sequences: [n][width].
	gates(dst []float32, direction, width, t, n int)
}

// width is the number of columns of the gates of one direction.
func (r *reader) width() int { return r.gates * r.units }

// project writes from + x·w to dst, [n][2·gates·units]; from is one row.
func (r *reader) project(dst, x, from []float32, n int) {
	all := 2 * r.width()
	input := len(r.w) / all
	if r.input == nil {
		for i := range n {
			copy(dst[i*all:(i+1)*all], from)
		}
		kernels.Gemm(dst, all, x, input, r.w, all, n, input, all)
		return
	}
	width := r.input.Codes()
	r.codes, r.scales = kernels.Grow(r.codes, n*width), kernels.Grow(r.scales, n)
	for i := range n {
		row := x[i*input:][:input]
		scale, back := kernels.CodesScale(row)
		kernels.Codes(r.codes[i*width:], row, scale)
		r.scales[i] = back
	}
	r.input.Gemm(dst, from, all, r.codes, n, r.scales)
}

// unread is a queued piece.
type unread struct {
	length int32
	first  int32 // of its tokens, among those of all pieces that wait
	number int32 // among all pieces that wait
	wait   int32 // among those of the Labeller, some of which may have been read
}

// tileMost is the largest number of pieces processed side by side: their gates, memory and codes stay in the
// first-level cache beside a panel of the matrix.
const tileMost = 16

// tile holds the inputs of the first layer for pieces that are processed side by side.
type tile struct {
	Packed
	cache  *cache
	forms  []int32
	places *places
	bias   []float32
	pieces []unread
	length []int32
	base   []float32 // [pieces][gates·units] of a direction: what comes with every token of a piece
}

// read processes the queued pieces, those of similar length side by side, and calls done with each: it is sequence k of
// the packed rows.
func (x *network) read(c *cache, done func(p unread, k int, rows *Packed, scores []float32)) {
	slices.SortStableFunc(x.pieces, func(a, b unread) int { return int(b.length - a.length) })
	x.tile.cache, x.tile.forms, x.tile.places = c, x.forms, &x.places
	for all := x.pieces; len(all) > 0; {
		n := min(len(all), tileMost)
		x.tile.set(all[:n])
		scores := x.run()
		for k, p := range all[:n] {
			done(p, k, &x.tile.Packed, scores)
		}
		all = all[n:]
	}
	x.pieces, x.forms = x.pieces[:0], x.forms[:0]
	x.places.reset()
}

// run goes through the layers and returns the scores, [rows][output.width].
func (x *network) run() []float32 {
	p := &x.tile.Packed
	h := x.layers[0].run(p, &x.tile)
	for i := range x.layers[1:] {
		r := &x.layers[i+1]
		x.product = kernels.Grow(x.product, p.Rows()*2*r.width())
		r.project(x.product, h, r.b, p.Rows())
		x.second = projected{p, r.width(), x.product}
		h = r.run(p, &x.second)
	}
	n, width := p.Rows(), len(x.bias)
	x.scores = kernels.Grow(x.scores, n*width)
	kernels.GemmFrom(x.scores, width, x.bias, h, len(x.output)/width, x.output, width, n, len(x.output)/width, width)
	return x.scores
}

// set begins a tile of pieces, by falling length.
func (x *tile) set(pieces []unread) {
	x.pieces, x.length = pieces, x.length[:0]
	for _, p := range pieces {
		x.length = append(x.length, p.length)
	}
	x.Pack(x.length)
}

// begin implements incoming.
func (x *tile) begin(direction, width int) {
	x.base = kernels.Grow(x.base, len(x.pieces)*width)
	from := direction * width
	for k, p := range x.pieces {
		shared := x.places.shared[x.places.sharedEnds[p.number]:x.places.sharedEnds[p.number+1]]
		x.sum(x.base[k*width:], x.bias[from:], from, width, p.first, 0, shared)
	}
}

// gates implements incoming: the form's, and those of the places of the piece and
// of the token.
func (x *tile) gates(dst []float32, direction, width, t, n int) {
	from := direction * width
	for k, p := range x.pieces[:n] {
		token := p.first + int32(t)
		own := x.places.own[x.places.ends[token]:x.places.ends[token+1]]
		x.sum(dst[k*width:], x.base[k*width:], from, width, token, x.cache.forms[x.forms[token]].scale, own)
		if next := token + 1 - 2*int32(direction); next >= p.first && next < p.first+p.length {
			at := x.forms[next] // for the step behind: a cache of 64 MiB is far away
			kernels.Prefetch(x.cache.forms[at:][:1])
			kernels.Prefetch(x.cache.row(at)[from:][:width])
		}
	}
}

// sum writes start, what the form of a token contributes at a scale, and what some features do: width columns from
// the one at from on.
func (x *tile) sum(dst, start []float32, from, width int, token int32, scale float32, some []Valued) {
	row := x.cache.row(x.forms[token])[from:][:width]
	kernels.Widen(dst, start, row, scale, some, x.places.rows[min(from, len(x.places.rows)):], x.places.width)
}

// run processes all steps in both directions and returns the outputs, [n][2·units].
func (r *reader) run(p *Packed, in incoming) []float32 {
	n, most := p.Rows(), len(p.Order)
	r.h = kernels.Grow(r.h, 2*n*r.units)
	r.gate, r.c, r.state = kernels.Grow(r.gate, most*r.width()), kernels.Grow(r.c, most*r.units), kernels.Grow(r.state, most*r.units)
	for direction := range 2 {
		clear(r.c[:most*r.units])
		in.begin(direction, r.width())
		for i := range p.Steps() {
			t, before := i, i-1
			if direction == 1 {
				t, before = p.Steps()-1-i, p.Steps()-i
			}
			r.step(p, in, direction, t, before)
		}
	}
	return r.h
}

// step is step t of a direction; s is the one before it.
func (r *reader) step(p *Packed, in incoming, direction, t, s int) {
	lo, n, before, have := p.Pairs(t, s)
	H, g := r.units, r.width()
	in.gates(r.gate, direction, g, t, n)
	if have > 0 {
		if q := r.recurrent[direction]; q != nil {
			q.Gemm(r.gate, r.gate, g, r.state, have, wholes)
		} else {
			kernels.Gemm(r.gate, g, r.h[before*2*H+direction*H:], 2*H, r.u[direction*H*g:], g, have, H, g)
		}
	}
	h := r.h[lo*2*H+direction*H:]
	if r.v == nil {
		kernels.Cells(r.gate, r.c, h, 2*H, r.state, H, n)
		return
	}
	if have > 0 {
		kernels.Gemm(r.gate, g, r.c, H, r.v[direction*H*2*H:], 2*H, have, H, 2*H)
	}
	r.squashed = kernels.Grow(r.squashed, H)
	for k := range n {
		c, row := r.c[k*H:][:H], h[k*2*H:][:H]
		Coupled(r.gate[k*g:][:g], c, c, r.squashed, row)
		kernels.Codes(r.state[k*H:][:H], row, kernels.CodesMost)
	}
}

// Coupled computes one step of an LSTM cell with coupled gates and peephole connections. gates holds the inputs of the
// gates i, o and z and receives their activations; before and c are the memory cell before and after the step, squashed
// receives tanh(c), and h the output.
func Coupled(gates, before, c, squashed, h []float32) {
	n := len(c)
	i, o, z := gates[:n], gates[n:2*n], gates[2*n:]
	kernels.Sigmoid(gates[:2*n])
	kernels.Tanh(z)
	for k, m := range before {
		c[k] = (1-i[k])*m + i[k]*z[k]
	}
	copy(squashed, c)
	kernels.Tanh(squashed)
	for k, s := range squashed {
		h[k] = o[k] * s
	}
}

var wholes = []float32{1.0 / kernels.CodesMost} // h is at most 1

// projected holds the input of a second layer: rows that project has written.
type projected struct {
	p     *Packed
	width int
	rows  []float32 // [n][2·width]
}

func (x *projected) begin(direction, width int) {}

func (x *projected) gates(dst []float32, direction, width, t, n int) {
	lo, _ := x.p.Step(t)
	for k := range n {
		copy(dst[k*width:][:width], x.rows[(2*(lo+k)+direction)*width:])
	}
}
