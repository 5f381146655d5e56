package kernels

import "github.com/klauspost/cpuid/v2"

// avx512 tells whether products may use the registers of 64 bytes: on the
// machine of BENCHMARKS.md they are twice as fast.
var avx512 = simdAvailable() && cpuid.CPU.Supports(cpuid.AVX512F)

// panelWidth is how many columns gemmColumns takes at once of n.
func panelWidth(m, n int) int {
	switch {
	case avx512 && n >= 32 && m >= 6:
		return 32
	case n >= 16:
		return 16
	}
	return 8
}

// gemmColumns is Gemm for some of the columns, panelWidth of them, and returns
// how many. Strides are in bytes.
func gemmColumns(c []float32, ldc int, a []float32, lda int, b []float32, ldb int, m, k, n int) int {
	width, at := panelWidth(m, n), 0
	switch width {
	case 32:
		for ; m-at >= 12; at += 12 {
			gemm12x32AVX512(&c[at*ldc/4], &a[at*lda/4], &b[0], k, lda, ldb, ldc)
		}
		for ; m-at >= 6; at += 6 {
			gemm6x32AVX512(&c[at*ldc/4], &a[at*lda/4], &b[0], k, lda, ldb, ldc)
		}
		if at < m {
			gemmRows16(c[at*ldc/4:], ldc, a[at*lda/4:], lda, b, ldb, m-at, k)
			gemmRows16(c[at*ldc/4+16:], ldc, a[at*lda/4:], lda, b[16:], ldb, m-at, k)
		}
	case 16:
		gemmRows16(c, ldc, a, lda, b, ldb, m, k)
	default:
		gemmRows8(c, ldc, a, lda, b, ldb, m, k)
	}
	return width
}

// gemmRows16 is gemmColumns for sixteen columns. The kernels for six, four,
// two and one rows are called by name: what goes through a variable would take
// the panel from the stack to the heap.
func gemmRows16(c []float32, ldc int, a []float32, lda int, b []float32, ldb, m, k int) {
	at := 0
	for ; m-at >= 6; at += 6 {
		gemm6x16AVX2(&c[at*ldc/4], &a[at*lda/4], &b[0], k, lda, ldb, ldc)
	}
	if m-at >= 4 {
		gemm4x16AVX2(&c[at*ldc/4], &a[at*lda/4], &b[0], k, lda, ldb, ldc)
		at += 4
	}
	if m-at >= 2 {
		gemm2x16AVX2(&c[at*ldc/4], &a[at*lda/4], &b[0], k, lda, ldb, ldc)
		at += 2
	}
	if m > at {
		gemm1x16AVX2(&c[at*ldc/4], &a[at*lda/4], &b[0], k, lda, ldb, ldc)
	}
}

// gemmRows8 is gemmRows16 for eight columns.
func gemmRows8(c []float32, ldc int, a []float32, lda int, b []float32, ldb, m, k int) {
	at := 0
	for ; m-at >= 6; at += 6 {
		gemm6x8AVX2(&c[at*ldc/4], &a[at*lda/4], &b[0], k, lda, ldb, ldc)
	}
	if m-at >= 4 {
		gemm4x8AVX2(&c[at*ldc/4], &a[at*lda/4], &b[0], k, lda, ldb, ldc)
		at += 4
	}
	if m-at >= 2 {
		gemm2x8AVX2(&c[at*ldc/4], &a[at*lda/4], &b[0], k, lda, ldb, ldc)
		at += 2
	}
	if m > at {
		gemm1x8AVX2(&c[at*ldc/4], &a[at*lda/4], &b[0], k, lda, ldb, ldc)
	}
}

//go:noescape
func gemm12x32AVX512(c, a, b *float32, k, lda, ldb, ldc int)

//go:noescape
func gemm6x32AVX512(c, a, b *float32, k, lda, ldb, ldc int)

//go:noescape
func gemm6x16AVX2(c, a, b *float32, k, lda, ldb, ldc int)

//go:noescape
func gemm4x16AVX2(c, a, b *float32, k, lda, ldb, ldc int)

//go:noescape
func gemm2x16AVX2(c, a, b *float32, k, lda, ldb, ldc int)

//go:noescape
func gemm1x16AVX2(c, a, b *float32, k, lda, ldb, ldc int)

//go:noescape
func gemm6x8AVX2(c, a, b *float32, k, lda, ldb, ldc int)

//go:noescape
func gemm4x8AVX2(c, a, b *float32, k, lda, ldb, ldc int)

//go:noescape
func gemm2x8AVX2(c, a, b *float32, k, lda, ldb, ldc int)

//go:noescape
func gemm1x8AVX2(c, a, b *float32, k, lda, ldb, ldc int)

//go:noescape
func packAVX2(dst, b *float32, k, lines, ldb int)

//go:noescape
func transposeAVX2(dst, src *float32, squares, rows, stride int)

//go:noescape
func multiplyAVX2(dst, x, y *float32, n int)

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
