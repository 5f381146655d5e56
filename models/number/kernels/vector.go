package kernels

import (
	"math"
	"unsafe"
)

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

// AxpyHalves adds a·scale·x to y, with scale·x rounded to float32, of numbers x that are four bits each: the place of a
// level, in the low half of a byte before that in the high one. len(y) is twice len(x) and a multiple of Lanes.
func AxpyHalves(a, scale float32, x []byte, levels *[16]int8, y []float32) {
	y = y[:2*len(x)]
	if portable || len(x) == 0 {
		for i := range y {
			y[i] += float32(a * float32(scale*float32(levels[x[i/2]>>(i%2*4)&15])))
		}
		return
	}
	axpyHalvesAVX2(&y[0], &x[0], levels, a, scale, len(y))
}

// Narrow quantizes x to 16 bits: it writes x/scale, rounded, to dst and returns scale, chosen so that the largest
// number of x becomes the largest of 16 bits. len(x) is a multiple of Lanes.
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

// Valued is a row of a table with the factor by which it is multiplied.
type Valued struct {
	Row   int32
	Value float32
}

// Widen writes from + scale·x to dst, and adds some rows of a table, as Axpy does; these are stride numbers apart. It
// rounds after the product and after the sum on every machine. len(x) is a multiple of Lanes.
func Widen(dst, from []float32, x []int16, scale float32, some []Valued, rows []float32, stride int) {
	n := len(x)
	if n == 0 {
		return
	}
	dst, from = dst[:n], from[:n]
	switch {
	case portable:
		for i, v := range x {
			dst[i] = from[i] + float32(scale*float32(v))
		}
	case avx512 && n%32 == 0:
		widenAVX512(&dst[0], &from[0], &x[0], scale, n, unsafe.SliceData(some), len(some), unsafe.SliceData(rows), 4*stride)
		return
	default:
		widenAVX2(&dst[0], &from[0], &x[0], scale, n)
	}
	for _, f := range some {
		Axpy(f.Value, rows[int(f.Row)*stride:][:n], dst)
	}
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

func dotGo(x, y []float32) float32 {
	var s0, s1 float32 // two sums: half the delay
	for i := 0; i+1 < len(x); i += 2 {
		s0 += x[i] * y[i]
		s1 += x[i+1] * y[i+1]
	}
	return s0 + s1
}
