package kernels

import (
	"math"
	"sync"
)

// Gemm adds a product of matrices:
//
//	c(i, j) += Σ_k a(i, k) · b(k, j)
//
// a is [m][k], b is [k][n], c is [m][n]; their rows are lda, ldb and ldc
// numbers apart. n is a multiple of Lanes. Columns are taken 32 or 16 at a
// time and depth (k) in blocks, so that the part of b that they need, a panel
// of one or two lines a row, stays in the first cache while all rows of a go
// by. Where these are many the panel is copied together first: rows of b a page
// apart fall on few sets of the cache and cost a look-up of their page each
// (Goto and van de Geijn 2008).
//
// A row of c has the same bits whatever rows are beside it.
func Gemm(c []float32, ldc int, a []float32, lda int, b []float32, ldb int, m, k, n int) {
	gemm(c, ldc, nil, a, lda, b, ldb, m, k, n)
}

// GemmFrom writes a product of matrices to c, whatever stood there, each row of
// it added to start, of n numbers; nil is n zeros:
//
//	c(i, j) = start(j) + Σ_k a(i, k) · b(k, j)
//
// The bits are those of Gemm after start was copied to every row. k is not 0.
func GemmFrom(c []float32, ldc int, start, a []float32, lda int, b []float32, ldb int, m, k, n int) {
	if start == nil {
		start = zeros[:min(n, len(zeros))]
	}
	gemm(c, ldc, start, a, lda, b, ldb, m, k, n)
}

// zeros begins a panel of c if no start is given.
var zeros [packColumns]float32

// gemm is Gemm if start is nil, else GemmFrom. start is of n numbers or is
// zeros.
func gemm(c []float32, ldc int, start, a []float32, lda int, b []float32, ldb int, m, k, n int) {
	if m == 0 || k == 0 || n == 0 {
		return
	}
	c, a, b = c[:(m-1)*ldc+n], a[:(m-1)*lda+k], b[:(k-1)*ldb+n]
	if portable {
		if start != nil {
			begin(c, ldc, start, m, n)
		}
		gemmGo(c, ldc, a, lda, b, ldb, m, k, n)
		return
	}
	for l := 0; l < k; l += gemmDepth {
		gemmBlock(c, ldc, start, a[l:], lda, b[l*ldb:], ldb, m, min(gemmDepth, k-l), n)
		start = nil
	}
}

// begin copies start to m rows of c, and zeros behind it.
func begin(c []float32, ldc int, start []float32, m, n int) {
	for i := range m {
		row := c[i*ldc:][:n]
		clear(row[copy(row, start):])
	}
}

// startAt returns what a panel of c from column j on begins with.
func startAt(start []float32, j, columns int) []float32 {
	if start == nil || j+columns > len(start) { // the latter of zeros
		return start
	}
	return start[j : j+columns]
}

// gemmDepth is how many rows of b a sum runs over before it is added to c.
const gemmDepth = 256

// gemmBlock is Gemm for k of at most gemmDepth.
func gemmBlock(c []float32, ldc int, start, a []float32, lda int, b []float32, ldb int, m, k, n int) {
	if m == 1 {
		if start != nil {
			begin(c, ldc, start, m, n)
		}
		gemvAVX2(&c[0], &a[0], &b[0], k, n, 4*ldb)
		return
	}
	if m >= packRows {
		gemmPacked(c, ldc, start, a, lda, b, ldb, m, k, n)
		return
	}
	for j := 0; j < n; {
		width := panelWidth(m, n-j)
		gemmColumns(c[j:], ldc, startAt(start, j, width), a, lda, b[j:], ldb, m, k, width)
		j += width
	}
}

const (
	packRows    = 96 // from how many rows of a on a panel of b is copied
	packColumns = 32 // of the widest panel
)

// panels is a pool of scratch space for gemmPacked, on the heap so that it is aligned to cache lines; on the stack
// every second load touched two lines.
var panels = sync.Pool{New: func() any { return new([gemmDepth * packColumns]float32) }}

// gemmPacked is gemmBlock with panels that are copied together.
func gemmPacked(c []float32, ldc int, start, a []float32, lda int, b []float32, ldb int, m, k, n int) {
	scratch := panels.Get().(*[gemmDepth * packColumns]float32)
	defer panels.Put(scratch)
	for j := 0; j < n; {
		width := panelWidth(m, n-j)
		panel := scratch[:k*width]
		packAVX2(&panel[0], &b[j], k, width/Lanes, 4*ldb)
		gemmColumns(c[j:], ldc, startAt(start, j, width), a, lda, panel, width, m, k, width)
		j += width
	}
}

func gemmGo(c []float32, ldc int, a []float32, lda int, b []float32, ldb int, m, k, n int) {
	for i := range m {
		row := c[i*ldc:][:n]
		for l, v := range a[i*lda:][:k] {
			for j, w := range b[l*ldb:][:n] {
				row[j] += v * w
			}
		}
	}
}

// Transpose writes the transposed of src, [rows][columns] with rows stride
// numbers apart, to dst, [columns][rows].
func Transpose(dst, src []float32, stride, rows, columns int) {
	if rows == 0 || columns == 0 {
		return
	}
	dst, src = dst[:rows*columns], src[:(rows-1)*stride+columns]
	squares, stripes := 0, 0 // squares of 8×8 in a stripe of eight columns
	if !portable {
		squares, stripes = rows/Lanes, columns/Lanes
	}
	for x := 0; x < stripes*Lanes && squares > 0; x += Lanes {
		transposeAVX2(&dst[x*rows], &src[x], squares, 4*rows, 4*stride)
	}
	transposeGo(dst, src, stride, rows, columns, squares*Lanes, 0)
	transposeGo(dst, src, stride, rows, columns, 0, stripes*Lanes)
}

// transposeGo is Transpose from a row and a column on.
func transposeGo(dst, src []float32, stride, rows, columns, row, column int) {
	const block = 16 // of both: the lines that are written stay in the cache until they are full
	for i := row; i < rows; i += block {
		for j := column; j < columns; j += block {
			for y := i; y < min(i+block, rows); y++ {
				row := src[y*stride:]
				for x := j; x < min(j+block, columns); x++ {
					dst[x*rows+y] = row[x]
				}
			}
		}
	}
}

// Multiply writes the products of corresponding numbers of x and y to dst, which may be x or y. len(x) is a multiple of
// Lanes.
func Multiply(dst, x, y []float32) {
	if len(x) == 0 {
		return
	}
	dst, y = dst[:len(x)], y[:len(x)]
	if portable {
		for i, v := range x {
			dst[i] = v * y[i]
		}
		return
	}
	multiplyAVX2(&dst[0], &x[0], &y[0], len(x))
}

// Largest is one step of an element-wise maximum over rows: where x exceeds most, it writes x to most and number to at.
// len(x) is a multiple of Lanes.
func Largest(most []float32, at []int32, x []float32, number int32) {
	if len(x) == 0 {
		return
	}
	most, at = most[:len(x)], at[:len(x)]
	if portable {
		for i, v := range x {
			if v > most[i] {
				most[i], at[i] = v, number
			}
		}
		return
	}
	largestAVX2(&most[0], &at[0], &x[0], len(x), number)
}

// LSTM is a step of a long short-term memory cell (Hochreiter and Schmidhuber
// 1997, with the forget gate of Gers et al. 2000) of len(c) units, a multiple
// of Lanes. gates holds what the gates i, f, g, o are given, [4][units], and
// then what they say:
//
//	c = σ(f)·before + σ(i)·tanh(g),  h = σ(o)·tanh(c)
//
// squashed receives tanh(c), for LSTMBack. before may be c.
func LSTM(gates, before, c, squashed, h []float32) {
	n := len(c)
	gates, before, squashed, h = gates[:4*n], before[:n], squashed[:n], h[:n]
	if portable {
		lstmGo(gates, before, c, squashed, h)
		return
	}
	if avx512 {
		lstmAVX512(&gates[0], &before[0], &c[0], &squashed[0], &h[0], n)
		return
	}
	lstmAVX2(&gates[0], &before[0], &c[0], &squashed[0], &h[0], n)
}

// LSTMBack is the way back through LSTM: gates, before and squashed as it left
// them, dh the gradient of h, dc that of c from the step behind. gates receives
// the gradient of what the gates were given, dc that of before.
func LSTMBack(gates, before, squashed, dh, dc []float32) {
	n := len(dc)
	gates, before, squashed, dh = gates[:4*n], before[:n], squashed[:n], dh[:n]
	if portable {
		lstmBackGo(gates, before, squashed, dh, dc)
		return
	}
	lstmBackAVX2(&gates[0], &before[0], &squashed[0], &dh[0], &dc[0], n)
}

// Sigmoid replaces x by 1/(1+e^-x).
func Sigmoid(x []float32) {
	for i, v := range x {
		x[i] = sigmoid(v)
	}
}

// Tanh replaces x by its hyperbolic tangent.
func Tanh(x []float32) {
	for i, v := range x {
		x[i] = 2*sigmoid(2*v) - 1
	}
}

func sigmoid(x float32) float32 {
	x = min(max(x, under), -under)
	if x > 0 {
		return 1 / (1 + exp32(-x))
	}
	e := exp32(x)
	return e / (1 + e)
}

func lstmGo(gates, before, c, squashed, h []float32) {
	n := len(c)
	Sigmoid(gates[:2*n])
	Tanh(gates[2*n : 3*n])
	Sigmoid(gates[3*n:])
	i, f, g, o := gates[:n], gates[n:2*n], gates[2*n:3*n], gates[3*n:]
	for k := range c {
		c[k] = f[k]*before[k] + i[k]*g[k]
		squashed[k] = 2*sigmoid(2*c[k]) - 1
		h[k] = o[k] * squashed[k]
	}
}

func lstmBackGo(gates, before, squashed, dh, dc []float32) {
	n := len(dc)
	i, f, g, o := gates[:n], gates[n:2*n], gates[2*n:3*n], gates[3*n:]
	for k, s := range squashed {
		d := dc[k] + dh[k]*o[k]*(1-s*s)
		dc[k] = d * f[k]
		o[k] = dh[k] * s * o[k] * (1 - o[k])
		f[k] = d * before[k] * f[k] * (1 - f[k])
		i[k], g[k] = d*g[k]*i[k]*(1-i[k]), d*i[k]*(1-g[k]*g[k])
	}
}

// AdamStep holds the factors of one step of Adam (Kingma and Ba 2015).
type AdamStep struct {
	Beta1, Beta2 float32
	Rate         float32 // with the correction of the first moment
	Second       float32 // 1/√(1-β₂ᵗ), the correction of the root of the second
	Epsilon      float32
	Scale        float32 // of the gradient
	Decay        float32 // share of the weight that a step takes away
}

// Adam moves weights w against their gradient g:
//
//	m = β₁m + (1-β₁)g,  v = β₂v + (1-β₂)g²,  w -= rate·m / (second·√v + ε) + decay·w
//
// len(w) is a multiple of Lanes. g is left as it is.
func Adam(w, g, m, v []float32, s *AdamStep) {
	if len(w) == 0 {
		return
	}
	g, m, v = g[:len(w)], m[:len(w)], v[:len(w)]
	if portable {
		adamGo(w, g, m, v, s)
		return
	}
	adamAVX2(&w[0], &g[0], &m[0], &v[0], len(w), s)
}

func adamGo(w, g, m, v []float32, s *AdamStep) {
	for i, d := range g {
		d *= s.Scale
		m[i] = s.Beta1*m[i] + (1-s.Beta1)*d
		v[i] = s.Beta2*v[i] + (1-s.Beta2)*d*d
		w[i] -= s.Rate*m[i]/(s.Second*float32(math.Sqrt(float64(v[i])))+s.Epsilon) + s.Decay*w[i]
	}
}
