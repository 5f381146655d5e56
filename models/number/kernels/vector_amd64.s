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
