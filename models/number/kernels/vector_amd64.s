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

// func axpyHalvesAVX2(y *float32, x *byte, levels *[16]int8, a, scale float32, n int)
TEXT ·axpyHalvesAVX2(SB), NOSPLIT, $0-40
	MOVQ y+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ levels+16(FP), DX
	VMOVDQU (DX), X13
	VBROADCASTSS a+24(FP), Y14
	VBROADCASTSS scale+28(FP), Y15
	MOVQ n+32(FP), CX
	VPCMPEQB X12, X12, X12
	VPSRLW $12, X12, X12
	VPACKUSWB X12, X12, X12    // fifteens
axpyhalvesloop:
	VMOVD (SI), X0
	VPSRLW $4, X0, X1
	VPUNPCKLBW X1, X0, X0      // low half, high half
	VPAND X12, X0, X0
	VPSHUFB X0, X13, X0        // their levels
	VPMOVSXBD X0, Y0
	VCVTDQ2PS Y0, Y0
	VMULPS Y15, Y0, Y0
	VMOVUPS (DI), Y1
	VFMADD231PS Y14, Y0, Y1
	VMOVUPS Y1, (DI)
	ADDQ $4, SI
	ADDQ $32, DI
	SUBQ $8, CX
	JNZ  axpyhalvesloop
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

// Sixteen columns from the at-th on: from + scale·x.
#define WIDEN16(at, sum) \
	VPMOVSXWD (2*at)(SI), sum; \
	VCVTDQ2PS sum, sum; \
	VMULPS Z15, sum, sum; \
	VADDPS (4*at)(DX), sum, sum

// func widenAVX512(dst, from *float32, x *int16, scale float32, n int, some *Valued, count int, rows *float32, stride int)
// The sums of 128 columns stay in registers while all rows go by, then those of 32.
TEXT ·widenAVX512(SB), NOSPLIT, $0-72
	MOVQ dst+0(FP), DI
	MOVQ from+8(FP), DX
	MOVQ x+16(FP), SI
	VBROADCASTSS scale+24(FP), Z15
	MOVQ n+32(FP), CX
	MOVQ some+40(FP), R8
	MOVQ count+48(FP), R9
	MOVQ rows+56(FP), R10
	MOVQ stride+64(FP), R11    // bytes
	SUBQ $128, CX
	JLT  widen32
widen128:
	WIDEN16(0, Z0)
	WIDEN16(16, Z1)
	WIDEN16(32, Z2)
	WIDEN16(48, Z3)
	WIDEN16(64, Z4)
	WIDEN16(80, Z5)
	WIDEN16(96, Z6)
	WIDEN16(112, Z7)
	MOVQ R8, R12
	MOVQ R9, R13
	TESTQ R13, R13
	JZ   widen128put
widen128term:
	MOVLQSX (R12), BX
	IMULQ R11, BX
	ADDQ R10, BX
	VBROADCASTSS 4(R12), Z14
	VFMADD231PS (BX), Z14, Z0
	VFMADD231PS 64(BX), Z14, Z1
	VFMADD231PS 128(BX), Z14, Z2
	VFMADD231PS 192(BX), Z14, Z3
	VFMADD231PS 256(BX), Z14, Z4
	VFMADD231PS 320(BX), Z14, Z5
	VFMADD231PS 384(BX), Z14, Z6
	VFMADD231PS 448(BX), Z14, Z7
	ADDQ $8, R12
	DECQ R13
	JNZ  widen128term
widen128put:
	VMOVUPS Z0, (DI)
	VMOVUPS Z1, 64(DI)
	VMOVUPS Z2, 128(DI)
	VMOVUPS Z3, 192(DI)
	VMOVUPS Z4, 256(DI)
	VMOVUPS Z5, 320(DI)
	VMOVUPS Z6, 384(DI)
	VMOVUPS Z7, 448(DI)
	ADDQ $512, DI
	ADDQ $512, DX
	ADDQ $512, R10
	ADDQ $256, SI
	SUBQ $128, CX
	JGE  widen128
widen32:
	ADDQ $128, CX
	JZ   widenend
widen32columns:
	WIDEN16(0, Z0)
	WIDEN16(16, Z1)
	MOVQ R8, R12
	MOVQ R9, R13
	TESTQ R13, R13
	JZ   widen32put
widen32term:
	MOVLQSX (R12), BX
	IMULQ R11, BX
	ADDQ R10, BX
	VBROADCASTSS 4(R12), Z14
	VFMADD231PS (BX), Z14, Z0
	VFMADD231PS 64(BX), Z14, Z1
	ADDQ $8, R12
	DECQ R13
	JNZ  widen32term
widen32put:
	VMOVUPS Z0, (DI)
	VMOVUPS Z1, 64(DI)
	ADDQ $128, DI
	ADDQ $128, DX
	ADDQ $128, R10
	ADDQ $64, SI
	SUBQ $32, CX
	JNZ  widen32columns
widenend:
	VZEROUPPER
	RET
