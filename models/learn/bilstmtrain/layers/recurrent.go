package layers

import (
	"github.com/velum-health/velum/models/number/kernels"
	"github.com/velum-health/velum/models/tag/bilstm"
)

// Recurrent is a layer that reads packed sequences in both directions, as
// training runs it; what tags has one without a way back.
//
//	in:  x [n][input], w [input][2·gates·units], u [2·units][gates·units],
//	     b [1][2·gates·units], and v [2·units][2·units] for coupled cells
//	out: h [n][2·units], what the two directions say, side by side
//
// The standard cell is that of kernels.LSTM. NGRID's (appendix C) couples the
// gates and lets them see the memory:
//
//	z = tanh(W_z x + U_z h + b_z)
//	i = σ(W_i x + U_i h + V_i c + b_i),  o = σ(W_o x + U_o h + V_o c + b_o)
//	c = (1-i)·c + i·z,  h = o·tanh(c)
//
// with h and c on the right those of the step before, and the gates in the
// order i, o, z.
type Recurrent struct {
	Units, Gates int
	p            *bilstm.Packed

	given    Affine    // x·w + b
	gate     []float32 // [n][2·gates·units] what gates are given, what they say, and on the way back its gradient
	h        []float32 // [n][2·units]
	c        []float32 // [n][2·units] memory
	squashed []float32 // [n][2·units] tanh of it
	none     []float32 // [units] memory before the first step

	dh, dc     []float32 // [n][2·units], [sequences][units]
	transposed []float32
	ut, vt     []float32
	before     []float32 // [n][units]
	du, dv     []float32
}

// width is the number of columns of the gates of one direction.
func (r *Recurrent) width() int { return r.Gates * r.Units }

// reset makes room for n rows.
func (r *Recurrent) reset(p *bilstm.Packed) {
	r.p = p
	n := p.Rows()
	r.h, r.c, r.squashed = kernels.Grow(r.h, 2*n*r.Units), kernels.Grow(r.c, 2*n*r.Units), kernels.Grow(r.squashed, 2*n*r.Units)
	r.given.Width = 2 * r.width()
	r.none = zero(r.none, r.Units)
}

// run processes all steps in both directions. gate holds the input part of the gates.
func (r *Recurrent) run(u, v []float32) {
	for t := range r.p.Steps() {
		r.step(0, t, t-1, u, v)
	}
	for t := r.p.Steps() - 1; t >= 0; t-- {
		r.step(1, t, t+1, u, v)
	}
}

// step computes step t of one direction; s is the step before it.
func (r *Recurrent) step(direction, t, s int, u, v []float32) {
	lo, n, before, have := r.p.Pairs(t, s)
	H, g, all := r.Units, r.width(), 2*r.width()
	gate := r.gate[lo*all+direction*g:]
	at := before*2*H + direction*H
	if have > 0 {
		kernels.Gemm(gate, all, r.h[at:], 2*H, u[direction*H*g:], g, have, H, g)
		if v != nil {
			kernels.Gemm(gate, all, r.c[at:], 2*H, v[direction*H*2*H:], 2*H, have, H, 2*H)
		}
	}
	for k := range n {
		memory := r.none
		if k < have {
			memory = r.c[at+k*2*H:][:H]
		}
		to := (lo+k)*2*H + direction*H
		c, s, h := r.c[to:to+H], r.squashed[to:to+H], r.h[to:to+H]
		if v == nil {
			kernels.LSTM(gate[k*all:][:g], memory, c, s, h)
		} else {
			bilstm.Coupled(gate[k*all:][:g], memory, c, s, h)
		}
	}
}

func coupledBack(gates, before, squashed, dh, dc []float32) {
	n := len(dc)
	i, o, z := gates[:n], gates[n:2*n], gates[2*n:]
	for k, s := range squashed {
		d := dc[k] + dh[k]*o[k]*(1-s*s)
		dc[k] = d * (1 - i[k])
		o[k] = dh[k] * s * o[k] * (1 - o[k])
		i[k], z[k] = d*(z[k]-before[k])*i[k]*(1-i[k]), d*i[k]*(1-z[k]*z[k])
	}
}

// Forward implements Layer.
func (r *Recurrent) Forward(in [][]float32) []float32 {
	given, u, v := recurrentInputs(in)
	r.gate = r.given.Forward(given)
	r.run(u, v)
	return r.h[:r.p.Rows()*2*r.Units]
}

func recurrentInputs(in [][]float32) (given [][]float32, u, v []float32) {
	if len(in) == 5 {
		v = in[4]
	}
	return [][]float32{in[0], in[1], in[3]}, in[2], v
}

func (r *Recurrent) Backward(in [][]float32, grad []float32) [][]float32 {
	given, u, v := recurrentInputs(in)
	r.dh = grad
	for direction := range 2 {
		r.back(direction, u, v)
	}
	grads := r.given.Backward(given, r.gate)
	r.du = r.outer(r.du, len(u), r.h, r.width(), r.width())
	grads = [][]float32{grads[0], grads[1], r.du, grads[2]}
	if v != nil {
		r.dv = r.outer(r.dv, len(v), r.c, 2*r.Units, 2*r.Units)
		grads = append(grads, r.dv)
	}
	return grads
}

// back is the backward pass of one direction. It leaves the gradient of the gates' inputs in gate.
func (r *Recurrent) back(direction int, u, v []float32) {
	H, g := r.Units, r.width()
	r.ut = transpose(r.ut, u[direction*H*g:][:H*g], H, g)
	ut, vt := r.ut, []float32(nil)
	if v != nil {
		r.vt = transpose(r.vt, v[direction*H*2*H:][:H*2*H], H, 2*H)
		vt = r.vt
	}
	r.dc = zero(r.dc, len(r.p.Order)*H)
	if direction == 1 {
		for t := range r.p.Steps() {
			r.stepBack(1, t, t+1, ut, vt)
		}
		return
	}
	for t := r.p.Steps() - 1; t >= 0; t-- {
		r.stepBack(0, t, t-1, ut, vt)
	}
}

func transpose(dst, src []float32, rows, cols int) []float32 {
	dst = kernels.Grow(dst, rows*cols)
	kernels.Transpose(dst, src, cols, rows, cols)
	return dst
}

func (r *Recurrent) stepBack(direction, t, s int, ut, vt []float32) {
	lo, n, before, have := r.p.Pairs(t, s)
	H, g, all := r.Units, r.width(), 2*r.width()
	gate := r.gate[lo*all+direction*g:]
	at := before*2*H + direction*H
	for k := range n {
		memory := r.none
		if k < have {
			memory = r.c[at+k*2*H:][:H]
		}
		from := (lo+k)*2*H + direction*H
		dh, squashed, dc := r.dh[from:from+H], r.squashed[from:from+H], r.dc[k*H:(k+1)*H]
		if vt == nil {
			kernels.LSTMBack(gate[k*all:][:g], memory, squashed, dh, dc)
		} else {
			coupledBack(gate[k*all:][:g], memory, squashed, dh, dc)
		}
	}
	if have == 0 {
		return
	}
	kernels.Gemm(r.dh[at:], 2*H, gate, all, ut, H, have, g, H)
	if vt != nil {
		kernels.Gemm(r.dc, H, gate, all, vt, H, have, 2*H, H)
	}
}

// outer computes for each direction the products of the previous states with the gates' gradients: [2·units][columns].
func (r *Recurrent) outer(d []float32, size int, state []float32, columns, width int) []float32 {
	d = kernels.Grow(d, size)
	H, n, all := r.Units, r.p.Rows(), 2*r.width()
	r.transposed = kernels.Grow(r.transposed, H*n)
	for direction := range 2 {
		r.before = kernels.Grow(r.before, n*H)
		for t := range r.p.Steps() {
			lo, rows, before, have := r.p.Pairs(t, t-1+2*direction)
			for k := range have {
				copy(r.before[(lo+k)*H:][:H], state[(before+k)*2*H+direction*H:])
			}
			clear(r.before[(lo+have)*H : (lo+rows)*H])
		}
		kernels.Transpose(r.transposed, r.before, H, n, H)
		kernels.GemmFrom(d[direction*H*width:], width, nil, r.transposed, n, r.gate[direction*r.width():], all, H, n, columns)
	}
	return d
}

// Running is a recurrent layer bound to the tokens of a batch.
type Running struct {
	Recurrent
	B *Batch
}

func (r *Running) Forward(in [][]float32) []float32 {
	r.reset(&r.B.Packed)
	return r.Recurrent.Forward(in)
}
