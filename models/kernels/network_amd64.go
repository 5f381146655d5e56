package kernels

import "github.com/klauspost/cpuid/v2"

// avx512 tells whether products may use the registers of 64 bytes: on the
// machine of BENCHMARKS.md they are twice as fast.
var avx512 = simdAvailable() && cpuid.CPU.Supports(cpuid.AVX512F)

// tile is a product of a few rows of a with sixteen or eight columns of b,
// added to c; strides are in bytes.
type tile = func(c, a, b *float32, k, lda, ldb, ldc int)

// tiles are the kernels for six, four, two and one rows.
var tiles16 = [...]tile{gemm6x16AVX2, gemm4x16AVX2, gemm2x16AVX2, gemm1x16AVX2}
var tiles8 = [...]tile{gemm6x8AVX2, gemm4x8AVX2, gemm2x8AVX2, gemm1x8AVX2}

// gemmColumns is Gemm for some of the columns, as many as one of the kernels
// takes, and returns how many. Strides are in bytes.
func gemmColumns(c []float32, ldc int, a []float32, lda int, b []float32, ldb int, m, k, n int) int {
	at := 0
	run := func(do tile, rows int) {
		for ; m-at >= rows; at += rows {
			do(&c[at*ldc/4], &a[at*lda/4], &b[0], k, lda, ldb, ldc)
		}
	}
	if avx512 && n >= 32 && m >= 6 {
		run(gemm12x32AVX512, 12)
		run(gemm6x32AVX512, 6)
		if at < m {
			rest := func(j int) { gemmRows(tiles16[:], c[j:], ldc, a, lda, b[j:], ldb, at, m, k) }
			rest(0)
			rest(16)
		}
		return 32
	}
	if n >= 16 {
		gemmRows(tiles16[:], c, ldc, a, lda, b, ldb, 0, m, k)
		return 16
	}
	gemmRows(tiles8[:], c, ldc, a, lda, b, ldb, 0, m, k)
	return 8
}

// gemmRows is gemmColumns from row at on.
func gemmRows(tiles []tile, c []float32, ldc int, a []float32, lda int, b []float32, ldb int, at, m, k int) {
	for i, rows := range [...]int{6, 4, 2, 1} {
		for ; m-at >= rows; at += rows {
			tiles[i](&c[at*ldc/4], &a[at*lda/4], &b[0], k, lda, ldb, ldc)
		}
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
func gemvAVX2(c, a, b *float32, k, n, ldb int)

//go:noescape
func lstmAVX512(gates, before, c, squashed, h *float32, n int)

//go:noescape
func lstmAVX2(gates, before, c, squashed, h *float32, n int)

//go:noescape
func lstmBackAVX2(gates, before, squashed, dh, dc *float32, n int)

//go:noescape
func adamAVX2(w, grad, m, v *float32, n int, s *AdamStep)
