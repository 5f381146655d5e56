package kernels

import (
	"unsafe"

	"github.com/klauspost/cpuid/v2"
)

// Features of this processor. FMA3 and AVX2 are separate flags, though every processor since 2013 has both; cpuid also
// checks that the operating system saves the wide registers.
var (
	simdAvailable = cpuid.CPU.Supports(cpuid.AVX2, cpuid.FMA3)

	// avx512 says that products may use 64-byte registers. On the machine of BENCHMARKS.md they are twice as fast.
	avx512 = simdAvailable && cpuid.CPU.Supports(cpuid.AVX512F, cpuid.AVX512DQ)

	// vnni says that one instruction multiplies four pairs of bytes and adds the products, on 64-byte registers.
	vnni = simdAvailable && cpuid.CPU.Supports(cpuid.AVX512F, cpuid.AVX512BW, cpuid.AVX512VL, cpuid.AVX512VNNI)
)

// The assembly, which lies in *_amd64.s. On other processors other.s stands in its place
// and nobody calls it.

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

//go:noescape
func gemm12x32AVX512(c, a, b *float32, k, lda, ldb, ldc int)

// gemm6x16AVX2 adds to rows of from, which are stride bytes apart, and writes
// to c.
//
//go:noescape
func gemm6x16AVX2(c, a, b *float32, k, lda, ldb, ldc int, from *float32, stride int)

//go:noescape
func gemm4x16AVX2(c, a, b *float32, k, lda, ldb, ldc int)

//go:noescape
func gemm1x16AVX2(c, a, b *float32, k, lda, ldb, ldc int)

//go:noescape
func gemm6x8AVX2(c, a, b *float32, k, lda, ldb, ldc int)

//go:noescape
func gemm4x8AVX2(c, a, b *float32, k, lda, ldb, ldc int)

//go:noescape
func gemm1x8AVX2(c, a, b *float32, k, lda, ldb, ldc int)

//go:noescape
func packAVX2(dst, b *float32, k, lines, ldb int)

//go:noescape
func transposeAVX2(dst, src *float32, squares, rows, stride int)

//go:noescape
func multiplyAVX2(dst, x, y *float32, n int)

//go:noescape
func largestAVX2(most *float32, at *int32, x *float32, n int, number int32)

//go:noescape
func gemvAVX2(c, a, b *float32, k, n, ldb int)

//go:noescape
func lstmAVX512(gates, before, c, squashed, h *float32, n int)

//go:noescape
func lstmAVX2(gates, before, c, squashed, h *float32, n int)

//go:noescape
func lstmBackAVX2(gates, before, squashed, dh, dc *float32, n int)

//go:noescape
func adamAVX2(w, grad, m, v *float32, n int, s *AdamStep)

//go:noescape
func codesAVX2(dst *byte, x *float32, n int, scale float32)

//go:noescape
func quantizedVNNI(c *float32, a *byte, m int, p *quantizedPanel)

//go:noescape
func quantized4AVX2(c *float32, a *byte, p *quantizedPanel)

//go:noescape
func quantized1AVX2(c *float32, a *byte, p *quantizedPanel)

//go:noescape
func mostAVX2(x *float32, n int) float32

//go:noescape
func dotAVX2(x, y *float32, n int) float32

//go:noescape
func axpyAVX2(y, x *float32, a float32, n int)

//go:noescape
func narrowAVX2(dst *int16, x *float32, scale float32, n int)

//go:noescape
func widenAVX2(dst, from *float32, x *int16, scale float32, n int)

//go:noescape
func widenAVX512(dst, from *float32, x *int16, scale float32, n int, some *Valued, count int, rows *float32, stride int)

//go:noescape
func axpyHalvesAVX2(y *float32, x *byte, levels *[16]int8, a, scale float32, n int)

//go:noescape
func cellAVX2(gates, c, h *float32, codes *byte, n int)

//go:noescape
func cellsAVX512(gates, c, h *float32, codes *byte, n, rows, stride int)
