#include "textflag.h"

// The loops of a recurrent network: products of matrices, the cell, Adam.
// AVX2 and FMA, as in kernels_amd64.s.

// What all products begin with: c in DI, a in SI, b in DX, k in CX, strides in
// R8 (a), R9 (b) and R10 (c), three rows of a further on R11, of c R12.
#define GEMMSTART \
	MOVQ c+0(FP), DI; \
	MOVQ a+8(FP), SI; \
	MOVQ b+16(FP), DX; \
	MOVQ k+24(FP), CX; \
	MOVQ lda+32(FP), R8; \
	MOVQ ldb+40(FP), R9; \
	MOVQ ldc+48(FP), R10; \
	LEAQ (R8)(R8*2), R11; \
	ADDQ SI, R11; \
	LEAQ (R10)(R10*2), R12; \
	ADDQ DI, R12

// One number of a with sixteen columns of b, in Y14 and Y15.
#define ROW16(x, lo, hi) \
	VBROADCASTSS x, Y13; \
	VFMADD231PS Y14, Y13, lo; \
	VFMADD231PS Y15, Y13, hi

// With eight.
#define ROW8(x, sum) \
	VBROADCASTSS x, Y13; \
	VFMADD231PS Y14, Y13, sum

#define PUT(to, sum) \
	VADDPS to, sum, sum; \
	VMOVUPS sum, to

#define SUM(from, sum, to) \
	VADDPS from, sum, sum; \
	VMOVUPS sum, to

// func gemm6x16AVX2(c, a, b *float32, k, lda, ldb, ldc int, from *float32, stride int)
// The lines of c are asked for at once: they are needed at the end, a page
// apart, and no prefetcher knows of them.
TEXT ·gemm6x16AVX2(SB), NOSPLIT, $0-72
	GEMMSTART
	PREFETCHT0 (DI)
	PREFETCHT0 (DI)(R10*1)
	PREFETCHT0 (DI)(R10*2)
	PREFETCHT0 (R12)
	PREFETCHT0 (R12)(R10*1)
	PREFETCHT0 (R12)(R10*2)
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	VXORPS Y2, Y2, Y2
	VXORPS Y3, Y3, Y3
	VXORPS Y4, Y4, Y4
	VXORPS Y5, Y5, Y5
	VXORPS Y6, Y6, Y6
	VXORPS Y7, Y7, Y7
	VXORPS Y8, Y8, Y8
	VXORPS Y9, Y9, Y9
	VXORPS Y10, Y10, Y10
	VXORPS Y11, Y11, Y11
gemm6x16loop:
	VMOVUPS (DX), Y14
	VMOVUPS 32(DX), Y15
	ROW16((SI), Y0, Y1)
	ROW16((SI)(R8*1), Y2, Y3)
	ROW16((SI)(R8*2), Y4, Y5)
	ROW16((R11), Y6, Y7)
	ROW16((R11)(R8*1), Y8, Y9)
	ROW16((R11)(R8*2), Y10, Y11)
	ADDQ R9, DX
	ADDQ $4, SI
	ADDQ $4, R11
	DECQ CX
	JNZ  gemm6x16loop
	MOVQ from+56(FP), SI
	MOVQ stride+64(FP), R8
	LEAQ (R8)(R8*2), R11
	ADDQ SI, R11
	SUM((SI), Y0, (DI))
	SUM(32(SI), Y1, 32(DI))
	SUM((SI)(R8*1), Y2, (DI)(R10*1))
	SUM(32(SI)(R8*1), Y3, 32(DI)(R10*1))
	SUM((SI)(R8*2), Y4, (DI)(R10*2))
	SUM(32(SI)(R8*2), Y5, 32(DI)(R10*2))
	SUM((R11), Y6, (R12))
	SUM(32(R11), Y7, 32(R12))
	SUM((R11)(R8*1), Y8, (R12)(R10*1))
	SUM(32(R11)(R8*1), Y9, 32(R12)(R10*1))
	SUM((R11)(R8*2), Y10, (R12)(R10*2))
	SUM(32(R11)(R8*2), Y11, 32(R12)(R10*2))
	VZEROUPPER
	RET

// func gemm4x16AVX2(c, a, b *float32, k, lda, ldb, ldc int)
TEXT ·gemm4x16AVX2(SB), NOSPLIT, $0-56
	GEMMSTART
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	VXORPS Y2, Y2, Y2
	VXORPS Y3, Y3, Y3
	VXORPS Y4, Y4, Y4
	VXORPS Y5, Y5, Y5
	VXORPS Y6, Y6, Y6
	VXORPS Y7, Y7, Y7
gemm4x16loop:
	VMOVUPS (DX), Y14
	VMOVUPS 32(DX), Y15
	ROW16((SI), Y0, Y1)
	ROW16((SI)(R8*1), Y2, Y3)
	ROW16((SI)(R8*2), Y4, Y5)
	ROW16((R11), Y6, Y7)
	ADDQ R9, DX
	ADDQ $4, SI
	ADDQ $4, R11
	DECQ CX
	JNZ  gemm4x16loop
	PUT((DI), Y0)
	PUT(32(DI), Y1)
	PUT((DI)(R10*1), Y2)
	PUT(32(DI)(R10*1), Y3)
	PUT((DI)(R10*2), Y4)
	PUT(32(DI)(R10*2), Y5)
	PUT((R12), Y6)
	PUT(32(R12), Y7)
	VZEROUPPER
	RET

// func gemm1x16AVX2(c, a, b *float32, k, lda, ldb, ldc int)
TEXT ·gemm1x16AVX2(SB), NOSPLIT, $0-56
	GEMMSTART
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
gemm1x16loop:
	VMOVUPS (DX), Y14
	VMOVUPS 32(DX), Y15
	ROW16((SI), Y0, Y1)
	ADDQ R9, DX
	ADDQ $4, SI
	DECQ CX
	JNZ  gemm1x16loop
	PUT((DI), Y0)
	PUT(32(DI), Y1)
	VZEROUPPER
	RET

// func gemm6x8AVX2(c, a, b *float32, k, lda, ldb, ldc int)
TEXT ·gemm6x8AVX2(SB), NOSPLIT, $0-56
	GEMMSTART
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	VXORPS Y2, Y2, Y2
	VXORPS Y3, Y3, Y3
	VXORPS Y4, Y4, Y4
	VXORPS Y5, Y5, Y5
gemm6x8loop:
	VMOVUPS (DX), Y14
	ROW8((SI), Y0)
	ROW8((SI)(R8*1), Y1)
	ROW8((SI)(R8*2), Y2)
	ROW8((R11), Y3)
	ROW8((R11)(R8*1), Y4)
	ROW8((R11)(R8*2), Y5)
	ADDQ R9, DX
	ADDQ $4, SI
	ADDQ $4, R11
	DECQ CX
	JNZ  gemm6x8loop
	PUT((DI), Y0)
	PUT((DI)(R10*1), Y1)
	PUT((DI)(R10*2), Y2)
	PUT((R12), Y3)
	PUT((R12)(R10*1), Y4)
	PUT((R12)(R10*2), Y5)
	VZEROUPPER
	RET

// func gemm4x8AVX2(c, a, b *float32, k, lda, ldb, ldc int)
TEXT ·gemm4x8AVX2(SB), NOSPLIT, $0-56
	GEMMSTART
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	VXORPS Y2, Y2, Y2
	VXORPS Y3, Y3, Y3
gemm4x8loop:
	VMOVUPS (DX), Y14
	ROW8((SI), Y0)
	ROW8((SI)(R8*1), Y1)
	ROW8((SI)(R8*2), Y2)
	ROW8((R11), Y3)
	ADDQ R9, DX
	ADDQ $4, SI
	ADDQ $4, R11
	DECQ CX
	JNZ  gemm4x8loop
	PUT((DI), Y0)
	PUT((DI)(R10*1), Y1)
	PUT((DI)(R10*2), Y2)
	PUT((R12), Y3)
	VZEROUPPER
	RET

// func gemm1x8AVX2(c, a, b *float32, k, lda, ldb, ldc int)
TEXT ·gemm1x8AVX2(SB), NOSPLIT, $0-56
	GEMMSTART
	VXORPS Y0, Y0, Y0
gemm1x8loop:
	VMOVUPS (DX), Y14
	ROW8((SI), Y0)
	ADDQ R9, DX
	ADDQ $4, SI
	DECQ CX
	JNZ  gemm1x8loop
	PUT((DI), Y0)
	VZEROUPPER
	RET

// func packAVX2(dst, b *float32, k, lines, ldb int)
// Rows of b of so many half lines (8 numbers), one after the other.
TEXT ·packAVX2(SB), NOSPLIT, $0-40
	MOVQ dst+0(FP), DI
	MOVQ b+8(FP), SI
	MOVQ k+16(FP), CX
	MOVQ lines+24(FP), BX
	MOVQ ldb+32(FP), R9
	CMPQ BX, $2
	JNE  packrow
pack16:
	VMOVUPS (SI), Y0
	VMOVUPS 32(SI), Y1
	VMOVUPS Y0, (DI)
	VMOVUPS Y1, 32(DI)
	ADDQ R9, SI
	ADDQ $64, DI
	DECQ CX
	JNZ  pack16
	VZEROUPPER
	RET
packrow:
	MOVQ SI, DX
	MOVQ BX, AX
packline:
	VMOVUPS (DX), Y0
	VMOVUPS Y0, (DI)
	ADDQ $32, DX
	ADDQ $32, DI
	DECQ AX
	JNZ  packline
	ADDQ R9, SI
	DECQ CX
	JNZ  packrow
	VZEROUPPER
	RET

// func transposeAVX2(dst, src *float32, squares, rows, stride int)
// Squares of 8x8 numbers, one below the other in src and side by side in dst;
// rows of dst and src are so many bytes apart. Halves of rows k and k+4 share a
// register, so that two rounds of unpacking do.
TEXT ·transposeAVX2(SB), NOSPLIT, $0-40
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ squares+16(FP), CX
	MOVQ rows+24(FP), R8
	MOVQ stride+32(FP), R9
	LEAQ (R8)(R8*2), R10
	LEAQ (R9)(R9*2), R11
square:
	LEAQ (SI)(R9*4), BX
	LEAQ (DI)(R8*4), DX
	VMOVUPS (SI), X0
	VMOVUPS (SI)(R9*1), X1
	VMOVUPS (SI)(R9*2), X2
	VMOVUPS (SI)(R11*1), X3
	VINSERTF128 $1, (BX), Y0, Y0
	VINSERTF128 $1, (BX)(R9*1), Y1, Y1
	VINSERTF128 $1, (BX)(R9*2), Y2, Y2
	VINSERTF128 $1, (BX)(R11*1), Y3, Y3
	VMOVUPS 16(SI), X4
	VMOVUPS 16(SI)(R9*1), X5
	VMOVUPS 16(SI)(R9*2), X6
	VMOVUPS 16(SI)(R11*1), X7
	VINSERTF128 $1, 16(BX), Y4, Y4
	VINSERTF128 $1, 16(BX)(R9*1), Y5, Y5
	VINSERTF128 $1, 16(BX)(R9*2), Y6, Y6
	VINSERTF128 $1, 16(BX)(R11*1), Y7, Y7
	VUNPCKLPS Y1, Y0, Y8
	VUNPCKHPS Y1, Y0, Y9
	VUNPCKLPS Y3, Y2, Y10
	VUNPCKHPS Y3, Y2, Y11
	VUNPCKLPD Y10, Y8, Y0
	VUNPCKHPD Y10, Y8, Y1
	VUNPCKLPD Y11, Y9, Y2
	VUNPCKHPD Y11, Y9, Y3
	VMOVUPS Y0, (DI)
	VMOVUPS Y1, (DI)(R8*1)
	VMOVUPS Y2, (DI)(R8*2)
	VMOVUPS Y3, (DI)(R10*1)
	VUNPCKLPS Y5, Y4, Y8
	VUNPCKHPS Y5, Y4, Y9
	VUNPCKLPS Y7, Y6, Y10
	VUNPCKHPS Y7, Y6, Y11
	VUNPCKLPD Y10, Y8, Y0
	VUNPCKHPD Y10, Y8, Y1
	VUNPCKLPD Y11, Y9, Y2
	VUNPCKHPD Y11, Y9, Y3
	VMOVUPS Y0, (DX)
	VMOVUPS Y1, (DX)(R8*1)
	VMOVUPS Y2, (DX)(R8*2)
	VMOVUPS Y3, (DX)(R10*1)
	LEAQ (BX)(R9*4), SI
	ADDQ $32, DI
	DECQ CX
	JNZ  square
	VZEROUPPER
	RET

// func multiplyAVX2(dst, x, y *float32, n int)
TEXT ·multiplyAVX2(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ y+16(FP), DX
	MOVQ n+24(FP), CX
multiply8:
	VMOVUPS (SI), Y0
	VMULPS (DX), Y0, Y0
	VMOVUPS Y0, (DI)
	ADDQ $32, SI
	ADDQ $32, DX
	ADDQ $32, DI
	SUBQ $8, CX
	JNZ  multiply8
	VZEROUPPER
	RET

// func largestAVX2(most *float32, at *int32, x *float32, n int, number int32)
TEXT ·largestAVX2(SB), NOSPLIT, $0-36
	MOVQ most+0(FP), DI
	MOVQ at+8(FP), DX
	MOVQ x+16(FP), SI
	MOVQ n+24(FP), CX
	VBROADCASTSS number+32(FP), Y3
largest8:
	VMOVUPS (SI), Y0
	VMOVUPS (DI), Y1
	VCMPPS $0x1e, Y1, Y0, Y2
	VBLENDVPS Y2, Y0, Y1, Y1
	VMOVUPS (DX), Y4
	VBLENDVPS Y2, Y3, Y4, Y4
	VMOVUPS Y1, (DI)
	VMOVUPS Y4, (DX)
	ADDQ $32, SI
	ADDQ $32, DI
	ADDQ $32, DX
	SUBQ $8, CX
	JNZ  largest8
	VZEROUPPER
	RET

// The same with AVX-512: 32 columns, in Z30 and Z31, and up to twelve rows.
#define ROW32(x, lo, hi) \
	VBROADCASTSS x, Z29; \
	VFMADD231PS Z30, Z29, lo; \
	VFMADD231PS Z31, Z29, hi

// func gemm12x32AVX512(c, a, b *float32, k, lda, ldb, ldc int)
TEXT ·gemm12x32AVX512(SB), NOSPLIT, $0-56
	GEMMSTART
	LEAQ (R8)(R8*2), R13
	LEAQ (R11)(R13*1), R14
	XCHGQ R13, R14
	ADDQ R13, R14
	LEAQ (R10)(R10*2), AX
	LEAQ (R12)(AX*1), BX
	ADDQ BX, AX
	VPXORQ Z0, Z0, Z0
	VPXORQ Z1, Z1, Z1
	VPXORQ Z2, Z2, Z2
	VPXORQ Z3, Z3, Z3
	VPXORQ Z4, Z4, Z4
	VPXORQ Z5, Z5, Z5
	VPXORQ Z6, Z6, Z6
	VPXORQ Z7, Z7, Z7
	VPXORQ Z8, Z8, Z8
	VPXORQ Z9, Z9, Z9
	VPXORQ Z10, Z10, Z10
	VPXORQ Z11, Z11, Z11
	VPXORQ Z12, Z12, Z12
	VPXORQ Z13, Z13, Z13
	VPXORQ Z14, Z14, Z14
	VPXORQ Z15, Z15, Z15
	VPXORQ Z16, Z16, Z16
	VPXORQ Z17, Z17, Z17
	VPXORQ Z18, Z18, Z18
	VPXORQ Z19, Z19, Z19
	VPXORQ Z20, Z20, Z20
	VPXORQ Z21, Z21, Z21
	VPXORQ Z22, Z22, Z22
	VPXORQ Z23, Z23, Z23
gemm12x32loop:
	VMOVUPS (DX), Z30
	VMOVUPS 64(DX), Z31
	ROW32((SI), Z0, Z1)
	ROW32((SI)(R8*1), Z2, Z3)
	ROW32((SI)(R8*2), Z4, Z5)
	ROW32((R11), Z6, Z7)
	ROW32((R11)(R8*1), Z8, Z9)
	ROW32((R11)(R8*2), Z10, Z11)
	ROW32((R13), Z12, Z13)
	ROW32((R13)(R8*1), Z14, Z15)
	ROW32((R13)(R8*2), Z16, Z17)
	ROW32((R14), Z18, Z19)
	ROW32((R14)(R8*1), Z20, Z21)
	ROW32((R14)(R8*2), Z22, Z23)
	ADDQ R9, DX
	ADDQ $4, SI
	ADDQ $4, R11
	ADDQ $4, R13
	ADDQ $4, R14
	DECQ CX
	JNZ  gemm12x32loop
	PUT((DI), Z0)
	PUT(64(DI), Z1)
	PUT((DI)(R10*1), Z2)
	PUT(64(DI)(R10*1), Z3)
	PUT((DI)(R10*2), Z4)
	PUT(64(DI)(R10*2), Z5)
	PUT((R12), Z6)
	PUT(64(R12), Z7)
	PUT((R12)(R10*1), Z8)
	PUT(64(R12)(R10*1), Z9)
	PUT((R12)(R10*2), Z10)
	PUT(64(R12)(R10*2), Z11)
	PUT((BX), Z12)
	PUT(64(BX), Z13)
	PUT((BX)(R10*1), Z14)
	PUT(64(BX)(R10*1), Z15)
	PUT((BX)(R10*2), Z16)
	PUT(64(BX)(R10*2), Z17)
	PUT((AX), Z18)
	PUT(64(AX), Z19)
	PUT((AX)(R10*1), Z20)
	PUT(64(AX)(R10*1), Z21)
	PUT((AX)(R10*2), Z22)
	PUT(64(AX)(R10*2), Z23)
	VZEROUPPER
	RET

// func gemvAVX2(c, a, b *float32, k, n, ldb int)
// One row of a. Columns 64 at a time, then eight: eight sums hide the latency
// of FMA. Sums begin at 0 as in all products here, so that a row has the same
// bits whatever rows stand beside it.
TEXT ·gemvAVX2(SB), NOSPLIT, $0-48
	MOVQ c+0(FP), DI
	MOVQ b+16(FP), R13
	MOVQ n+32(FP), BX
	MOVQ ldb+40(FP), R9
gemv64:
	CMPQ BX, $64
	JLT  gemv8
	MOVQ a+8(FP), SI
	MOVQ k+24(FP), CX
	MOVQ R13, DX
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	VXORPS Y2, Y2, Y2
	VXORPS Y3, Y3, Y3
	VXORPS Y4, Y4, Y4
	VXORPS Y5, Y5, Y5
	VXORPS Y6, Y6, Y6
	VXORPS Y7, Y7, Y7
gemv64loop:
	VBROADCASTSS (SI), Y15
	VFMADD231PS (DX), Y15, Y0
	VFMADD231PS 32(DX), Y15, Y1
	VFMADD231PS 64(DX), Y15, Y2
	VFMADD231PS 96(DX), Y15, Y3
	VFMADD231PS 128(DX), Y15, Y4
	VFMADD231PS 160(DX), Y15, Y5
	VFMADD231PS 192(DX), Y15, Y6
	VFMADD231PS 224(DX), Y15, Y7
	ADDQ R9, DX
	ADDQ $4, SI
	DECQ CX
	JNZ  gemv64loop
	PUT((DI), Y0)
	PUT(32(DI), Y1)
	PUT(64(DI), Y2)
	PUT(96(DI), Y3)
	PUT(128(DI), Y4)
	PUT(160(DI), Y5)
	PUT(192(DI), Y6)
	PUT(224(DI), Y7)
	ADDQ $256, DI
	ADDQ $256, R13
	SUBQ $64, BX
	JMP  gemv64
gemv8:
	TESTQ BX, BX
	JZ   gemvend
	MOVQ a+8(FP), SI
	MOVQ k+24(FP), CX
	MOVQ R13, DX
	VXORPS Y0, Y0, Y0
gemv8loop:
	VBROADCASTSS (SI), Y15
	VFMADD231PS (DX), Y15, Y0
	ADDQ R9, DX
	ADDQ $4, SI
	DECQ CX
	JNZ  gemv8loop
	PUT((DI), Y0)
	ADDQ $32, DI
	ADDQ $32, R13
	SUBQ $8, BX
	JMP  gemv8
gemvend:
	VZEROUPPER
	RET

// x becomes σ(x); y and z are scratch. The exponential is that of
// shiftExpAVX2, whose constants stand in Y4, Y5 and Y7 to Y13; -87 in Y15, 87
// in Y14.
#define SIGMOID(x, y, z) \
	VMAXPS Y15, x, x; \
	VMINPS Y14, x, x; \
	VXORPS y, y, y; \
	VSUBPS x, y, x; \
	VMULPS Y13, x, y; \
	VROUNDPS $8, y, y; \
	VFMADD231PS Y12, y, x; \
	VFMADD231PS Y11, y, x; \
	VBROADCASTSS ·exp32Constants+12(SB), z; \
	VFMADD213PS Y10, x, z; \
	VFMADD213PS Y9, x, z; \
	VFMADD213PS Y8, x, z; \
	VFMADD213PS Y7, x, z; \
	VFMADD213PS Y5, x, z; \
	VCVTPS2DQ y, y; \
	VPSLLD $23, y, y; \
	VFMADD213PS Y4, x, z; \
	VFMADD213PS Y4, x, z; \
	VPADDD y, z, z; \
	VADDPS Y4, z, z; \
	VDIVPS z, Y4, x

// x becomes tanh(x) = 2σ(2x) - 1.
#define TANH(x, y, z) \
	VADDPS x, x, x; \
	SIGMOID(x, y, z); \
	VADDPS x, x, x; \
	VSUBPS Y4, x, x

// func lstmAVX2(gates, before, c, squashed, h *float32, n int)
TEXT ·lstmAVX2(SB), NOSPLIT, $0-48
	MOVQ gates+0(FP), R8
	MOVQ before+8(FP), SI
	MOVQ c+16(FP), DI
	MOVQ squashed+24(FP), DX
	MOVQ h+32(FP), R12
	MOVQ n+40(FP), CX
	SHLQ $2, CX
	LEAQ (R8)(CX*1), R9
	LEAQ (R9)(CX*1), R10
	LEAQ (R10)(CX*1), R11
	VBROADCASTSS ·exp32Constants+40(SB), Y15
	VXORPS Y14, Y14, Y14
	VSUBPS Y15, Y14, Y14
	VBROADCASTSS ·exp32Constants+0(SB), Y13
	VBROADCASTSS ·exp32Constants+4(SB), Y12
	VBROADCASTSS ·exp32Constants+8(SB), Y11
	VBROADCASTSS ·exp32Constants+16(SB), Y10
	VBROADCASTSS ·exp32Constants+20(SB), Y9
	VBROADCASTSS ·exp32Constants+24(SB), Y8
	VBROADCASTSS ·exp32Constants+28(SB), Y7
	VBROADCASTSS ·exp32Constants+32(SB), Y5
	VBROADCASTSS ·exp32Constants+36(SB), Y4
	XORQ AX, AX
lstmloop:
	VMOVUPS (R8)(AX*1), Y0
	SIGMOID(Y0, Y1, Y2)
	VMOVUPS Y0, (R8)(AX*1)
	VMOVUPS (R10)(AX*1), Y3
	TANH(Y3, Y1, Y2)
	VMOVUPS Y3, (R10)(AX*1)
	VMULPS Y3, Y0, Y6          // i·g
	VMOVUPS (R9)(AX*1), Y0
	SIGMOID(Y0, Y1, Y2)
	VMOVUPS Y0, (R9)(AX*1)
	VFMADD231PS (SI)(AX*1), Y0, Y6
	VMOVUPS Y6, (DI)(AX*1)     // c
	TANH(Y6, Y1, Y2)
	VMOVUPS Y6, (DX)(AX*1)
	VMOVUPS (R11)(AX*1), Y0
	SIGMOID(Y0, Y1, Y2)
	VMOVUPS Y0, (R11)(AX*1)
	VMULPS Y0, Y6, Y0
	VMOVUPS Y0, (R12)(AX*1)
	ADDQ $32, AX
	CMPQ AX, CX
	JLT  lstmloop
	VZEROUPPER
	RET

// The same in sixteen lanes; constants in Z4, Z5 and Z7 to Z15.
#define SIGMOID16(x, y, z) \
	VMAXPS Z15, x, x; \
	VMINPS Z14, x, x; \
	VPXORD y, y, y; \
	VSUBPS x, y, x; \
	VMULPS Z13, x, y; \
	VRNDSCALEPS $8, y, y; \
	VFMADD231PS Z12, y, x; \
	VFMADD231PS Z11, y, x; \
	VMOVAPS Z16, z; \
	VFMADD213PS Z10, x, z; \
	VFMADD213PS Z9, x, z; \
	VFMADD213PS Z8, x, z; \
	VFMADD213PS Z7, x, z; \
	VFMADD213PS Z5, x, z; \
	VCVTPS2DQ y, y; \
	VPSLLD $23, y, y; \
	VFMADD213PS Z4, x, z; \
	VFMADD213PS Z4, x, z; \
	VPADDD y, z, z; \
	VADDPS Z4, z, z; \
	VDIVPS z, Z4, x

#define TANH16(x, y, z) \
	VADDPS x, x, x; \
	SIGMOID16(x, y, z); \
	VADDPS x, x, x; \
	VSUBPS Z4, x, x

// func lstmAVX512(gates, before, c, squashed, h *float32, n int)
// The last lanes of a number of units that is no multiple of sixteen are masked.
TEXT ·lstmAVX512(SB), NOSPLIT, $0-48
	MOVQ gates+0(FP), R8
	MOVQ before+8(FP), SI
	MOVQ c+16(FP), DI
	MOVQ squashed+24(FP), DX
	MOVQ h+32(FP), R12
	MOVQ n+40(FP), CX
	MOVQ CX, BX
	SHLQ $2, CX
	LEAQ (R8)(CX*1), R9
	LEAQ (R9)(CX*1), R10
	LEAQ (R10)(CX*1), R11
	VBROADCASTSS ·exp32Constants+40(SB), Z15
	VPXORD Z14, Z14, Z14
	VSUBPS Z15, Z14, Z14
	VBROADCASTSS ·exp32Constants+0(SB), Z13
	VBROADCASTSS ·exp32Constants+4(SB), Z12
	VBROADCASTSS ·exp32Constants+8(SB), Z11
	VBROADCASTSS ·exp32Constants+12(SB), Z16
	VBROADCASTSS ·exp32Constants+16(SB), Z10
	VBROADCASTSS ·exp32Constants+20(SB), Z9
	VBROADCASTSS ·exp32Constants+24(SB), Z8
	VBROADCASTSS ·exp32Constants+28(SB), Z7
	VBROADCASTSS ·exp32Constants+32(SB), Z5
	VBROADCASTSS ·exp32Constants+36(SB), Z4
	MOVL $0xffff, R13
	KMOVW R13, K1
	XORQ AX, AX
lstm512loop:
	CMPQ BX, $16
	JGE  lstm512whole
	MOVL $0x00ff, R13
	KMOVW R13, K1
lstm512whole:
	VMOVUPS.Z (R8)(AX*1), K1, Z0
	VMOVUPS.Z (R10)(AX*1), K1, Z3
	VMOVUPS.Z (R9)(AX*1), K1, Z17
	VMOVUPS.Z (R11)(AX*1), K1, Z18
	SIGMOID16(Z0, Z1, Z2)
	TANH16(Z3, Z19, Z20)
	SIGMOID16(Z17, Z21, Z22)
	SIGMOID16(Z18, Z23, Z24)
	VMOVUPS Z0, K1, (R8)(AX*1)
	VMOVUPS Z3, K1, (R10)(AX*1)
	VMOVUPS Z17, K1, (R9)(AX*1)
	VMOVUPS Z18, K1, (R11)(AX*1)
	VMULPS Z3, Z0, Z6          // i·g
	VMOVUPS.Z (SI)(AX*1), K1, Z1
	VFMADD231PS Z1, Z17, Z6
	VMOVUPS Z6, K1, (DI)(AX*1) // c
	TANH16(Z6, Z1, Z2)
	VMOVUPS Z6, K1, (DX)(AX*1)
	VMULPS Z18, Z6, Z0
	VMOVUPS Z0, K1, (R12)(AX*1)
	ADDQ $64, AX
	SUBQ $16, BX
	CMPQ AX, CX
	JLT  lstm512loop
	VZEROUPPER
	RET

// func lstmBackAVX2(gates, before, squashed, dh, dc *float32, n int)
TEXT ·lstmBackAVX2(SB), NOSPLIT, $0-48
	MOVQ gates+0(FP), R8
	MOVQ before+8(FP), SI
	MOVQ squashed+16(FP), DX
	MOVQ dh+24(FP), R12
	MOVQ dc+32(FP), DI
	MOVQ n+40(FP), CX
	SHLQ $2, CX
	LEAQ (R8)(CX*1), R9
	LEAQ (R9)(CX*1), R10
	LEAQ (R10)(CX*1), R11
	VBROADCASTSS ·exp32Constants+36(SB), Y15
	XORQ AX, AX
lstmback:
	VMOVUPS (DX)(AX*1), Y0     // s = tanh c
	VMOVUPS (R12)(AX*1), Y1    // dh
	VMOVUPS (R11)(AX*1), Y2    // o
	VMULPS Y1, Y2, Y3          // dh·o
	VMULPS Y0, Y3, Y4          // dh·o·s
	VSUBPS Y2, Y15, Y5
	VMULPS Y4, Y5, Y5          // dh·s·o·(1-o)
	VMOVUPS Y5, (R11)(AX*1)
	VFNMADD231PS Y0, Y4, Y3    // dh·o·(1-s²)
	VADDPS (DI)(AX*1), Y3, Y3  // d
	VMOVUPS (R9)(AX*1), Y6     // f
	VMULPS Y3, Y6, Y7
	VMOVUPS Y7, (DI)(AX*1)     // dc = d·f
	VMULPS (SI)(AX*1), Y7, Y7
	VSUBPS Y6, Y15, Y6
	VMULPS Y7, Y6, Y6
	VMOVUPS Y6, (R9)(AX*1)
	VMOVUPS (R8)(AX*1), Y8     // i
	VMOVUPS (R10)(AX*1), Y9    // g
	VMULPS Y3, Y8, Y10         // d·i
	VMULPS Y9, Y10, Y11        // d·i·g
	VSUBPS Y8, Y15, Y12
	VMULPS Y11, Y12, Y12
	VMOVUPS Y12, (R8)(AX*1)
	VFNMADD231PS Y9, Y11, Y10  // d·i·(1-g²)
	VMOVUPS Y10, (R10)(AX*1)
	ADDQ $32, AX
	CMPQ AX, CX
	JLT  lstmback
	VZEROUPPER
	RET

// func adamAVX2(w, grad, m, v *float32, n int, s *AdamStep)
TEXT ·adamAVX2(SB), NOSPLIT, $0-48
	MOVQ w+0(FP), DI
	MOVQ grad+8(FP), SI
	MOVQ m+16(FP), R8
	MOVQ v+24(FP), R9
	MOVQ n+32(FP), CX
	MOVQ s+40(FP), DX
	VBROADCASTSS ·exp32Constants+36(SB), Y15
	VBROADCASTSS (DX), Y14     // beta1
	VSUBPS Y14, Y15, Y13
	VBROADCASTSS 4(DX), Y12    // beta2
	VSUBPS Y12, Y15, Y11
	VBROADCASTSS 8(DX), Y10    // rate
	VBROADCASTSS 12(DX), Y9    // second
	VBROADCASTSS 16(DX), Y8    // epsilon
	VBROADCASTSS 20(DX), Y7    // scale
	VBROADCASTSS 24(DX), Y6    // decay
	SHLQ $2, CX
	XORQ AX, AX
adamloop:
	VMULPS (SI)(AX*1), Y7, Y0
	VMULPS (R8)(AX*1), Y14, Y1
	VFMADD231PS Y0, Y13, Y1
	VMOVUPS Y1, (R8)(AX*1)
	VMULPS Y0, Y0, Y0
	VMULPS (R9)(AX*1), Y12, Y2
	VFMADD231PS Y0, Y11, Y2
	VMOVUPS Y2, (R9)(AX*1)
	VSQRTPS Y2, Y2
	VFMADD213PS Y8, Y9, Y2
	VMULPS Y10, Y1, Y1
	VDIVPS Y2, Y1, Y1
	VMOVUPS (DI)(AX*1), Y3
	VFMADD231PS Y3, Y6, Y1
	VSUBPS Y1, Y3, Y3
	VMOVUPS Y3, (DI)(AX*1)
	ADDQ $32, AX
	CMPQ AX, CX
	JLT  adamloop
	VZEROUPPER
	RET
