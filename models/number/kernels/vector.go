package kernels

import "math"

// Dot returns Σ x(i)·y(i). len(x) is a multiple of Lanes.
func Dot(x, y []float32) float32 {
	if len(x) == 0 {
		return 0
	}
	y = y[:len(x)]
	if portable {
		return dotGo(x, y)
	}
	return dotAVX2(&x[0], &y[0], len(x))
}

// Axpy adds a·x to y, with fused additions where the machine has them (unlike
// AddScaled). len(x) is a multiple of Lanes.
func Axpy(a float32, x, y []float32) {
	if len(x) == 0 {
		return
	}
	y = y[:len(x)]
	if portable {
		AddScaled(y, a, x)
		return
	}
	axpyAVX2(&y[0], &x[0], a, len(x))
}

// AxpyCodes is Axpy of scale·x, rounded to float32. len(x) is a multiple of Lanes.
func AxpyCodes(a, scale float32, x []int8, y []float32) {
	if len(x) == 0 {
		return
	}
	y = y[:len(x)]
	if portable {
		for i, v := range x {
			y[i] += float32(a * float32(scale*float32(v)))
		}
		return
	}
	axpyCodesAVX2(&y[0], &x[0], a, scale, len(x))
}

// Narrow writes x/scale, rounded, to dst, and returns scale: that at which the
// largest number of x is the largest of sixteen bits. len(x) is a multiple of Lanes.
func Narrow(dst []int16, x []float32) (scale float32) {
	dst = dst[:len(x)]
	top := most(x)
	if top == 0 {
		clear(dst)
		return 0
	}
	if portable {
		narrowGo(dst, x, math.MaxInt16/top)
	} else {
		narrowAVX2(&dst[0], &x[0], math.MaxInt16/top, len(x))
	}
	return top / math.MaxInt16
}

// Widen writes from + scale·x to dst, rounded after the product and after the
// sum whatever code the machine runs. len(x) is a multiple of Lanes.
func Widen(dst, from []float32, x []int16, scale float32) {
	if len(x) == 0 {
		return
	}
	dst, from = dst[:len(x)], from[:len(x)]
	if portable {
		widenGo(dst, from, x, scale)
		return
	}
	widenAVX2(&dst[0], &from[0], &x[0], scale, len(x))
}

// most returns the largest absolute value of x.
func most(x []float32) (top float32) {
	if portable || len(x) == 0 {
		for _, v := range x {
			top = max(top, v, -v)
		}
		return top
	}
	return mostAVX2(&x[0], len(x))
}

func narrowGo(dst []int16, x []float32, scale float32) {
	for i, v := range x {
		dst[i] = int16(math.RoundToEven(float64(v * scale)))
	}
}

func widenGo(dst, from []float32, x []int16, scale float32) {
	for i, v := range x {
		dst[i] = from[i] + float32(scale*float32(v))
	}
}

// windowOutputs is how many output rows a step of Window takes: one true word
// and the usual five against it. Their products with two input rows are twelve
// of the sixteen registers there are.
const windowOutputs = 6

// windowStep is what a step of Window works on.
type windowStep struct {
	outputs [windowOutputs]int // first number of each row; unused places repeat the first
	rate    [Lanes]float32     // 0 in unused places
	label   [Lanes]float32     // 1 for the true word
	errors  [2][Lanes]float32  // rate·(label - σ) of two input rows
}

// Window is a step of gradient ascent of negative sampling for all pairs of an
// input row x and an output row o, the first output true and the others drawn
// against it (Mikolov et al. 2013):
//
//	Σ_x (log σ(x·o₀) + Σ_k>0 log σ(-x·o_k))
//
// The output rows are shared by all inputs of a window, so that products are
// small matrix products and a row is loaded for several pairs (Ji et al. 2016):
//
//	E = rate·(label - σ(X·Oᵀ)); dst += E·O; O += Eᵀ·X
//
// They take a whole window at once; here it is two inputs and six outputs,
// whose products are taken before any of the rows changes. A whole window
// saves a twentieth of the time more, but ten steps that know nothing of each
// other are too long together: vectors become noisier (BENCHMARKS.md).
//
// in, dst and out have rows of width numbers, a multiple of Lanes; inputs are
// numbers of rows of in and of dst, outputs of out. dst may be in: then rows
// learn in place.
func Window(dst, in, out []float32, width int, inputs, outputs []int32, rate float32) {
	if len(inputs) == 0 {
		return
	}
	for _, i := range inputs {
		start(dst, i, width)
		start(in, i, width)
	}
	var s windowStep
	for o := 0; o < len(outputs); o += windowOutputs {
		s.setOutputs(out, width, outputs[o:min(o+windowOutputs, len(outputs))], rate, o == 0)
		if portable {
			s.do(dst, in, out, width, inputs)
			continue
		}
		windowAVX2(&dst[0], &in[0], &out[0], width, &inputs[0], len(inputs), &s)
	}
}

func (s *windowStep) setOutputs(out []float32, width int, rows []int32, rate float32, first bool) {
	s.label[0] = 0
	if first {
		s.label[0] = 1
	}
	for k := range s.outputs {
		s.rate[k], s.outputs[k] = 0, s.outputs[0]
		if k < len(rows) {
			s.rate[k], s.outputs[k] = rate, start(out, rows[k], width)
		}
	}
}

// start returns where a row begins, and panics if x does not hold all of it:
// the assembly looks at no bounds.
func start(x []float32, row int32, width int) int {
	at := int(row) * width
	_ = x[at : at+width]
	return at
}

// TileRows and TileColumns are the shape of Tile's result: four rows of two
// registers keep eight sums in flight, which is what two multipliers with a
// delay of four cycles need.
const (
	TileRows    = 4
	TileColumns = 16
)

// Tile multiplies a small matrix:
//
//	dst(i, j) = Σ_k a(i, k) · b(k, j)
//
// a is [TileRows][n], b is [n][TileColumns]. n is what b has room for.
func Tile(dst *[TileRows * TileColumns]float32, a, b []float32) {
	n := len(b) / TileColumns
	if n == 0 {
		*dst = [TileRows * TileColumns]float32{}
		return
	}
	a = a[:TileRows*n]
	if portable {
		tileGo(dst, a, b, n)
		return
	}
	tileAVX2(&dst[0], &a[0], &b[0], n)
}

func dotGo(x, y []float32) float32 {
	var s0, s1 float32 // two sums: half the delay
	for i := 0; i+1 < len(x); i += 2 {
		s0 += x[i] * y[i]
		s1 += x[i+1] * y[i+1]
	}
	return s0 + s1
}

// do is a step with all inputs, two at a time; the last of an odd number goes
// with itself and no error.
func (s *windowStep) do(dst, in, out []float32, width int, inputs []int32) {
	for ; len(inputs) > 1; inputs = inputs[2:] {
		a, b := int(inputs[0])*width, int(inputs[1])*width
		s.setErrors(0, in[a:][:width], out)
		s.setErrors(1, in[b:][:width], out)
		s.exchange(dst, in, out, width, a, b)
	}
	if len(inputs) == 1 {
		a := int(inputs[0]) * width
		s.setErrors(0, in[a:][:width], out)
		s.errors[1] = [Lanes]float32{}
		s.exchange(dst, in, out, width, a, a)
	}
}

func (s *windowStep) setErrors(i int, x, out []float32) {
	for k, o := range s.outputs {
		e := exp32(-min(max(dotGo(x, out[o:][:len(x)]), under), -under))
		s.errors[i][k] = s.rate[k] * (s.label[k] - 1/(1+e))
	}
}

// exchange changes the rows of two inputs and all outputs. It takes numbers in
// the order of the assembly, so that a row that is there twice is the same in
// both.
func (s *windowStep) exchange(dst, in, out []float32, width, a, b int) {
	for c := range width {
		x, y, dx, dy := in[a+c], in[b+c], float32(0), float32(0)
		for k, at := range s.outputs {
			ex, ey, o := s.errors[0][k], s.errors[1][k], out[at+c]
			dx += ex * o
			o += ex * x
			dy += ey * o
			out[at+c] = o + ey*y
		}
		dst[a+c] += dx
		dst[b+c] += dy
	}
}

func tileGo(dst *[TileRows * TileColumns]float32, a, b []float32, n int) {
	clear(dst[:])
	for i := range TileRows {
		row := dst[i*TileColumns:][:TileColumns]
		for k, v := range a[i*n:][:n] {
			for j, w := range b[k*TileColumns:][:TileColumns] {
				row[j] += v * w
			}
		}
	}
}
