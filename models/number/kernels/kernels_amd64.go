package kernels

import (
	"unsafe"

	"github.com/klauspost/cpuid/v2"
)

// simdAvailable tells whether the assembly can run here. FMA3 and AVX2 came
// together in every processor since 2013 but are separate flags; cpuid also
// checks that the operating system saves the wide registers.
func simdAvailable() bool { return cpuid.CPU.Supports(cpuid.AVX2, cpuid.FMA3) }

//go:noescape
func addAVX2(dst, src *float32, n int)

//go:noescape
func addRowsAVX2(dst *float32, stride int, src *float32, width, rows int)

//go:noescape
func probeAVX2(at *int32, hash *uint64, n int, tags *[Ways]uint32, sets int, beside unsafe.Pointer)

//go:noescape
func prefetch(x *float32, bytes int)

//go:noescape
func prefetchWrite(x *float32, bytes int)

//go:noescape
func shiftExpAVX2(exp, row *float32, n int) float32

//go:noescape
func logAVX2(x *float32, n int, floor float32)

//go:noescape
func forwardAVX2(dst, prev, e, m *float32, rows, n int, scale float32) float32

//go:noescape
func maxPlusAVX2(dst, a, m *float32, rows, n int, floor float32)

//go:noescape
func bandAVX2(dst, prev, d *float32, n int)

//go:noescape
func argMaxAVX2(a, b *float32, n int) int

//go:noescape
func addShiftAVX2(dst, e, slack *float32, n int) (largest, floor float32)

//go:noescape
func add64AVX2(dst, src *float64, n int)

//go:noescape
func axpy64AVX2(a float64, x, y *float64, n int)

//go:noescape
func dot64AVX2(x, y *float64, n int) float64

//go:noescape
func shiftExp64AVX2(exp, row *float64, n int) float64

//go:noescape
func product64AVX2(dst, a, b *float64, n int, scale float64)

//go:noescape
func rowSum64AVX2(dst, a, e, m *float64, rows, n int, scale float64) float64

//go:noescape
func outer64AVX2(m, a, b *float64, steps, width int)
