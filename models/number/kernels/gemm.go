package kernels

// panelWidth returns how many of n columns gemmColumns processes at once.
func panelWidth(m, n int) int {
	switch {
	case avx512 && n >= 32 && m >= 12:
		return 32
	case n >= 16:
		return 16
	}
	return 8
}

// gemmColumns is gemm for a panel: width columns, as panelWidth says.
func gemmColumns(c []float32, ldc int, start, a []float32, lda int, b []float32, ldb int, m, k, width int) {
	if width == 16 {
		gemmRows16(c, ldc, start, a, lda, b, ldb, m, k)
		return
	}
	if start != nil {
		begin(c, ldc, start, m, width)
	}
	if width == 8 {
		gemmRows8(c, 4*ldc, a, 4*lda, b, 4*ldb, m, k)
		return
	}
	at := 0
	for ; m-at >= 12; at += 12 {
		gemm12x32AVX512(&c[at*ldc], &a[at*lda], &b[0], k, 4*lda, 4*ldb, 4*ldc)
	}
	if at < m {
		gemmRows16(c[at*ldc:], ldc, nil, a[at*lda:], lda, b, ldb, m-at, k)
		gemmRows16(c[at*ldc+16:], ldc, nil, a[at*lda:], lda, b[16:], ldb, m-at, k)
	}
}

// gemmRows16 is gemmColumns for sixteen columns.
func gemmRows16(c []float32, ldc int, start, a []float32, lda int, b []float32, ldb, m, k int) {
	at := 0
	for ; m-at >= 6; at += 6 {
		if start != nil {
			gemm6x16AVX2(&c[at*ldc], &a[at*lda], &b[0], k, 4*lda, 4*ldb, 4*ldc, &start[0], 0)
			continue
		}
		gemm6x16AVX2(&c[at*ldc], &a[at*lda], &b[0], k, 4*lda, 4*ldb, 4*ldc, &c[at*ldc], 4*ldc)
	}
	if at == m {
		return
	}
	if start != nil {
		begin(c[at*ldc:], ldc, start, m-at, 16)
	}
	gemmRest16(c[at*ldc:], 4*ldc, a[at*lda:], 4*lda, b, 4*ldb, m-at, k)
}

// gemmRest16 is gemmRows16 for up to five rows; strides are in bytes. There are
// kernels for four and for one.
func gemmRest16(c []float32, ldc int, a []float32, lda int, b []float32, ldb, m, k int) {
	at := 0
	if m >= 4 {
		gemm4x16AVX2(&c[0], &a[0], &b[0], k, lda, ldb, ldc)
		at += 4
	}
	for ; at < m; at++ {
		gemm1x16AVX2(&c[at*ldc/4], &a[at*lda/4], &b[0], k, lda, ldb, ldc)
	}
}

// gemmRows8 is gemmColumns for eight columns; strides are in bytes.
func gemmRows8(c []float32, ldc int, a []float32, lda int, b []float32, ldb, m, k int) {
	at := 0
	for ; m-at >= 6; at += 6 {
		gemm6x8AVX2(&c[at*ldc/4], &a[at*lda/4], &b[0], k, lda, ldb, ldc)
	}
	if m-at >= 4 {
		gemm4x8AVX2(&c[at*ldc/4], &a[at*lda/4], &b[0], k, lda, ldb, ldc)
		at += 4
	}
	for ; at < m; at++ {
		gemm1x8AVX2(&c[at*ldc/4], &a[at*lda/4], &b[0], k, lda, ldb, ldc)
	}
}
