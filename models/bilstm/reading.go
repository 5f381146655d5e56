package bilstm

import "github.com/velum-health/velum/models/kernels"

// reader is a recurrent layer as tagging runs it: the arithmetic of recurrent, and
// nothing kept for a way back. What comes in is asked for step by step, and the
// gates and the memory are those of a step: a few kilobytes, which stay in the
// first cache of the processor. (Gates of a whole group, 3 kB a token, did not
// stay in a second cache of half a megabyte.)
type reader struct {
	units, gates int
	w, u, b, v   []float32 // as recurrent has them; v nil without

	// What w and, a direction, u are multiplied as; nil: as they are.
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

// incoming gives what comes into a layer.
type incoming interface {
	// gates writes what the gates of a direction are given by token t of the k-th
	// longest sequence.
	gates(dst []float32, direction, t, k int)
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
	r.codes, r.scales = grow(r.codes, n*width), grow(r.scales, n)
	for i := range n {
		row := x[i*input:][:input]
		scale, back := kernels.CodesScale(row)
		kernels.Codes(r.codes[i*width:], row, scale)
		r.scales[i] = back
	}
	r.input.Gemm(dst, from, all, r.codes, n, r.scales, false)
}

// run goes through the steps in both directions and returns what these say,
// [n][2·units].
func (r *reader) run(p *packed, in incoming) []float32 {
	n, most := p.rows(), len(p.order)
	r.h, r.squashed = grow(r.h, 2*n*r.units), grow(r.squashed, r.units)
	r.gate, r.c, r.state = grow(r.gate, most*r.width()), grow(r.c, most*r.units), grow(r.state, most*r.units)
	for t := range p.steps() {
		r.step(p, in, 0, t, t-1)
	}
	for t := p.steps() - 1; t >= 0; t-- {
		r.step(p, in, 1, t, t+1)
	}
	return r.h
}

// step is step t of a direction; s is the one before it.
func (r *reader) step(p *packed, in incoming, direction, t, s int) {
	lo, n, before, have := p.pairs(t, s)
	H, g := r.units, r.width()
	for k := range n {
		in.gates(r.gate[k*g:][:g], direction, t, k)
	}
	if have > 0 {
		if q := r.recurrent[direction]; q != nil {
			q.Gemm(r.gate, r.gate, g, r.state, have, wholes, t%2 == 0)
		} else {
			kernels.Gemm(r.gate, g, r.h[before*2*H+direction*H:], 2*H, r.u[direction*H*g:], g, have, H, g)
		}
		if r.v != nil {
			kernels.Gemm(r.gate, g, r.c, H, r.v[direction*H*2*H:], 2*H, have, H, 2*H)
		}
	}
	for k := range n {
		c, gate, h, state := r.c[k*H:][:H], r.gate[k*g:][:g], r.h[(lo+k)*2*H+direction*H:][:H], r.state[k*H:][:H]
		if k >= have {
			clear(c)
		}
		if r.v == nil {
			kernels.Cell(gate, c, r.squashed, h, state)
		} else {
			coupled(gate, c, c, r.squashed, h)
			kernels.Codes(state, h, kernels.CodesMost)
		}
	}
}

var wholes = []float32{1.0 / kernels.CodesMost} // h is at most 1

// projected is what comes into a second layer: rows that project has written.
type projected struct {
	p     *packed
	width int
	rows  []float32 // [n][2·width]
}

func (x *projected) gates(dst []float32, direction, t, k int) {
	lo, _ := x.p.step(t)
	copy(dst, x.rows[(2*(lo+k)+direction)*x.width:][:x.width])
}
