#include "textflag.h"

// Loops of embeddings: see vector.go. The conventions are those of
// kernels_amd64.s.

// func dotAVX2(x, y *float32, n int) float32
TEXT ·dotAVX2(SB), NOSPLIT, $0-28
	MOVQ x+0(FP), SI
	MOVQ y+8(FP), DI
	MOVQ n+16(FP), CX
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	VXORPS Y2, Y2, Y2
	VXORPS Y3, Y3, Y3
dot4:
	CMPQ CX, $32
	JLT  dot1
	VMOVUPS (SI), Y4
	VMOVUPS 32(SI), Y5
	VMOVUPS 64(SI), Y6
	VMOVUPS 96(SI), Y7
	VFMADD231PS (DI), Y4, Y0
	VFMADD231PS 32(DI), Y5, Y1
	VFMADD231PS 64(DI), Y6, Y2
	VFMADD231PS 96(DI), Y7, Y3
	ADDQ $128, SI
	ADDQ $128, DI
	SUBQ $32, CX
	JMP  dot4
dot1:
	TESTQ CX, CX
	JZ    dotend
	VMOVUPS (SI), Y4
	VFMADD231PS (DI), Y4, Y0
	ADDQ $32, SI
	ADDQ $32, DI
	SUBQ $8, CX
	JMP  dot1
dotend:
	VADDPS Y1, Y0, Y0
	VADDPS Y3, Y2, Y2
	VADDPS Y2, Y0, Y0
	VEXTRACTF128 $1, Y0, X1
	VADDPS X1, X0, X0
	VPERMILPS $0x4e, X0, X1
	VADDPS X1, X0, X0
	VPERMILPS $0xb1, X0, X1
	VADDPS X1, X0, X0
	MOVSS X0, ret+24(FP)
	VZEROUPPER
	RET

// func axpyAVX2(y, x *float32, a float32, n int)
TEXT ·axpyAVX2(SB), NOSPLIT, $0-32
	MOVQ y+0(FP), DI
	MOVQ x+8(FP), SI
	VBROADCASTSS a+16(FP), Y15
	MOVQ n+24(FP), CX
axpy1:
	TESTQ CX, CX
	JZ    axpyend
	VMOVUPS (DI), Y0
	VFMADD231PS (SI), Y15, Y0
	VMOVUPS Y0, (DI)
	ADDQ $32, DI
	ADDQ $32, SI
	SUBQ $8, CX
	JMP  axpy1
axpyend:
	VZEROUPPER
	RET

// func narrowAVX2(dst *int16, x *float32, scale float32, n int)
TEXT ·narrowAVX2(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ x+8(FP), SI
	VBROADCASTSS scale+16(FP), Y15
	MOVQ n+24(FP), CX
narrowloop:
	VMULPS (SI), Y15, Y0
	VCVTPS2DQ Y0, Y0
	VEXTRACTI128 $1, Y0, X1
	VPACKSSDW X1, X0, X0
	VMOVDQU X0, (DI)
	ADDQ $32, SI
	ADDQ $16, DI
	SUBQ $8, CX
	JNZ  narrowloop
	VZEROUPPER
	RET

// func axpyCodesAVX2(y *float32, x *int8, a, scale float32, n int)
TEXT ·axpyCodesAVX2(SB), NOSPLIT, $0-32
	MOVQ y+0(FP), DI
	MOVQ x+8(FP), SI
	VBROADCASTSS a+16(FP), Y14
	VBROADCASTSS scale+20(FP), Y15
	MOVQ n+24(FP), CX
axpycodesloop:
	VPMOVSXBD (SI), Y0
	VCVTDQ2PS Y0, Y0
	VMULPS Y15, Y0, Y0
	VMOVUPS (DI), Y1
	VFMADD231PS Y14, Y0, Y1
	VMOVUPS Y1, (DI)
	ADDQ $8, SI
	ADDQ $32, DI
	SUBQ $8, CX
	JNZ  axpycodesloop
	VZEROUPPER
	RET

// func widenAVX2(dst, from *float32, x *int16, scale float32, n int)
TEXT ·widenAVX2(SB), NOSPLIT, $0-40
	MOVQ dst+0(FP), DI
	MOVQ from+8(FP), DX
	MOVQ x+16(FP), SI
	VBROADCASTSS scale+24(FP), Y15
	MOVQ n+32(FP), CX
widenloop:
	VPMOVSXWD (SI), Y0
	VCVTDQ2PS Y0, Y0
	VMULPS Y15, Y0, Y0
	VADDPS (DX), Y0, Y0
	VMOVUPS Y0, (DI)
	ADDQ $16, SI
	ADDQ $32, DX
	ADDQ $32, DI
	SUBQ $8, CX
	JNZ  widenloop
	VZEROUPPER
	RET

// Where windowStep has its fields.
#define WINDOW_RATE 48
#define WINDOW_LABEL 80
#define WINDOW_ERRORS 112

// Sums of the lanes of r0-r5 side by side in r0; what is in the last two places
// is multiplied by a rate of 0.
#define HSUMS6(r0, r1, r2, r3, r4, r5) \
	VHADDPS r1, r0, r0; \
	VHADDPS r3, r2, r2; \
	VHADDPS r5, r4, r4; \
	VHADDPS r2, r0, r0; \
	VHADDPS r4, r4, r4; \
	VPERM2F128 $0x20, r4, r0, r1; \
	VPERM2F128 $0x31, r4, r0, r2; \
	VADDPS r1, r2, r0

// One output row with two input rows.
#define WINDOWDOT(row, sum1, sum2) \
	VMOVUPS (row)(AX*1), Y14; \
	VFMADD231PS Y14, Y12, sum1; \
	VFMADD231PS Y14, Y13, sum2

// x becomes rate·(label - σ(x)); y and z are scratch. The exponential is that
// of shiftExpAVX2.
#define WINDOWERROR(x, y, z) \
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
	VDIVPS z, Y4, z; \
	VMOVUPS WINDOW_LABEL(CX), x; \
	VSUBPS z, x, x; \
	VMULPS WINDOW_RATE(CX), x, x

// Eight columns of one output row, which gives to and takes from two input rows.
#define WINDOWEXCHANGE(k, row, o, e1, e2) \
	VMOVUPS (row)(AX*1), o; \
	VBROADCASTSS (WINDOW_ERRORS+4*k)(CX), e1; \
	VBROADCASTSS (WINDOW_ERRORS+32+4*k)(CX), e2; \
	VFMADD231PS o, e1, Y14; \
	VFMADD231PS Y12, e1, o; \
	VFMADD231PS o, e2, Y15; \
	VFMADD231PS Y13, e2, o; \
	VMOVUPS o, (row)(AX*1)

// func windowAVX2(dst, in, out *float32, width int, inputs *int32, n int, s *windowStep)
// Output rows are in R8-R13, the two input rows in SI and DI, theirs of dst in
// R14 and R15. Twelve products are under way at once.
TEXT ·windowAVX2(SB), NOSPLIT, $0-56
	MOVQ s+48(FP), CX
	MOVQ width+24(FP), BX
	SHLQ $2, BX                // bytes a row
	MOVQ out+16(FP), AX
	MOVQ 0(CX), R8
	MOVQ 8(CX), R9
	MOVQ 16(CX), R10
	MOVQ 24(CX), R11
	MOVQ 32(CX), R12
	MOVQ 40(CX), R13
	LEAQ (AX)(R8*4), R8
	LEAQ (AX)(R9*4), R9
	LEAQ (AX)(R10*4), R10
	LEAQ (AX)(R11*4), R11
	LEAQ (AX)(R12*4), R12
	LEAQ (AX)(R13*4), R13
	XORQ DX, DX                // input
wnpair:
	MOVQ inputs+32(FP), AX
	MOVLQSX (AX)(DX*4), SI
	MOVQ SI, DI
	INCQ DX
	CMPQ DX, n+40(FP)
	JGE  wnlast                // of an odd number: goes with itself
	MOVLQSX (AX)(DX*4), DI
wnlast:
	IMULQ BX, SI
	IMULQ BX, DI
	MOVQ dst+0(FP), AX
	LEAQ (AX)(SI*1), R14
	LEAQ (AX)(DI*1), R15
	MOVQ in+8(FP), AX
	ADDQ AX, SI
	ADDQ AX, DI
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
	XORQ AX, AX
wndot:
	VMOVUPS (SI)(AX*1), Y12
	VMOVUPS (DI)(AX*1), Y13
	WINDOWDOT(R8, Y0, Y6)
	WINDOWDOT(R9, Y1, Y7)
	WINDOWDOT(R10, Y2, Y8)
	WINDOWDOT(R11, Y3, Y9)
	WINDOWDOT(R12, Y4, Y10)
	WINDOWDOT(R13, Y5, Y11)
	ADDQ $32, AX
	CMPQ AX, BX
	JLT  wndot
	HSUMS6(Y0, Y1, Y2, Y3, Y4, Y5)
	HSUMS6(Y6, Y7, Y8, Y9, Y10, Y11)

	VBROADCASTSS ·exp32Constants+40(SB), Y15
	VXORPS Y14, Y14, Y14
	VSUBPS Y15, Y14, Y14       // 87
	VBROADCASTSS ·exp32Constants+0(SB), Y13
	VBROADCASTSS ·exp32Constants+4(SB), Y12
	VBROADCASTSS ·exp32Constants+8(SB), Y11
	VBROADCASTSS ·exp32Constants+16(SB), Y10
	VBROADCASTSS ·exp32Constants+20(SB), Y9
	VBROADCASTSS ·exp32Constants+24(SB), Y8
	VBROADCASTSS ·exp32Constants+28(SB), Y7
	VBROADCASTSS ·exp32Constants+32(SB), Y5
	VBROADCASTSS ·exp32Constants+36(SB), Y4
	WINDOWERROR(Y0, Y1, Y2)
	WINDOWERROR(Y6, Y1, Y2)
	CMPQ DX, n+40(FP)
	JLT  wnboth
	VXORPS Y6, Y6, Y6          // the second is the first again
wnboth:
	VMOVUPS Y0, WINDOW_ERRORS(CX)
	VMOVUPS Y6, (WINDOW_ERRORS+32)(CX)

	XORQ AX, AX
wnexchange:
	VMOVUPS (SI)(AX*1), Y12
	VMOVUPS (DI)(AX*1), Y13
	VXORPS Y14, Y14, Y14
	VXORPS Y15, Y15, Y15
	WINDOWEXCHANGE(0, R8, Y0, Y1, Y2)
	WINDOWEXCHANGE(1, R9, Y3, Y4, Y5)
	WINDOWEXCHANGE(2, R10, Y6, Y7, Y8)
	WINDOWEXCHANGE(3, R11, Y9, Y10, Y11)
	WINDOWEXCHANGE(4, R12, Y0, Y1, Y2)
	WINDOWEXCHANGE(5, R13, Y3, Y4, Y5)
	VADDPS (R14)(AX*1), Y14, Y14
	VMOVUPS Y14, (R14)(AX*1)
	VADDPS (R15)(AX*1), Y15, Y15 // after the store: both may be one row
	VMOVUPS Y15, (R15)(AX*1)
	ADDQ $32, AX
	CMPQ AX, BX
	JLT  wnexchange
	INCQ DX
	CMPQ DX, n+40(FP)
	JLT  wnpair
	VZEROUPPER
	RET

// func tileAVX2(dst, a, b *float32, n int)
// Eight sums of eight lanes live in Y0-Y7.
TEXT ·tileAVX2(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ a+8(FP), SI
	MOVQ b+16(FP), DX
	MOVQ n+24(FP), CX
	LEAQ (SI)(CX*4), R8
	LEAQ (R8)(CX*4), R9
	LEAQ (R9)(CX*4), R10
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	VXORPS Y2, Y2, Y2
	VXORPS Y3, Y3, Y3
	VXORPS Y4, Y4, Y4
	VXORPS Y5, Y5, Y5
	VXORPS Y6, Y6, Y6
	VXORPS Y7, Y7, Y7
tile1:
	TESTQ CX, CX
	JZ    tileend
	VMOVUPS (DX), Y8
	VMOVUPS 32(DX), Y9
	VBROADCASTSS (SI), Y10
	VBROADCASTSS (R8), Y11
	VBROADCASTSS (R9), Y12
	VBROADCASTSS (R10), Y13
	VFMADD231PS Y8, Y10, Y0
	VFMADD231PS Y9, Y10, Y1
	VFMADD231PS Y8, Y11, Y2
	VFMADD231PS Y9, Y11, Y3
	VFMADD231PS Y8, Y12, Y4
	VFMADD231PS Y9, Y12, Y5
	VFMADD231PS Y8, Y13, Y6
	VFMADD231PS Y9, Y13, Y7
	ADDQ $64, DX
	ADDQ $4, SI
	ADDQ $4, R8
	ADDQ $4, R9
	ADDQ $4, R10
	DECQ CX
	JMP  tile1
tileend:
	VMOVUPS Y0, (DI)
	VMOVUPS Y1, 32(DI)
	VMOVUPS Y2, 64(DI)
	VMOVUPS Y3, 96(DI)
	VMOVUPS Y4, 128(DI)
	VMOVUPS Y5, 160(DI)
	VMOVUPS Y6, 192(DI)
	VMOVUPS Y7, 224(DI)
	VZEROUPPER
	RET
