#include "textflag.h"

// Products with matrices of eight bits, see quantized.go. A panel is 32 columns.

DATA codesConstants<>+0(SB)/4, $32767.0
DATA codesConstants<>+4(SB)/4, $-32767.0
DATA codesConstants<>+8(SB)/4, $32768
GLOBL codesConstants<>(SB), RODATA|NOPTR, $12

// What all products begin with: c in DI, a in SI, b in DX, the rows of b in CX,
// bytes of a row of c in R10, scales in R8.
#define PANEL(b) \
	MOVQ c+0(FP), DI; \
	MOVQ a+8(FP), SI; \
	MOVQ p+16(FP), R9; \
	MOVQ b(R9), DX; \
	MOVQ 16(R9), R8; \
	MOVQ 32(R9), CX; \
	MOVQ 40(R9), R10

#define CODESSTART \
	MOVQ dst+0(FP), DI; \
	MOVQ x+8(FP), SI; \
	MOVQ n+16(FP), CX; \
	VBROADCASTSS scale+24(FP), Y15; \
	VBROADCASTSS codesConstants<>+0(SB), Y14; \
	VBROADCASTSS codesConstants<>+4(SB), Y13

#define CODES8 \
	VMULPS (SI), Y15, Y0; \
	VMAXPS Y13, Y0, Y0; \
	VMINPS Y14, Y0, Y0; \
	VCVTPS2DQ Y0, Y0

// func codesVNNI(dst *byte, x *float32, n int, scale float32)
// The upper bytes of all numbers plus 2¹⁵, then the lower ones.
TEXT ·codesVNNI(SB), NOSPLIT, $0-28
	CODESSTART
	VPBROADCASTD codesConstants<>+8(SB), Y12
	LEAQ (DI)(CX*1), DX
codesvnniloop:
	CODES8
	VPADDD Y12, Y0, Y0
	VPSRLD $8, Y0, Y1
	VPMOVDB Y1, (DI)
	VPMOVDB Y0, (DX)
	ADDQ $32, SI
	ADDQ $8, DI
	ADDQ $8, DX
	SUBQ $8, CX
	JNZ  codesvnniloop
	VZEROUPPER
	RET

// func mostAVX2(x *float32, n int) float32
TEXT ·mostAVX2(SB), NOSPLIT, $0-20
	MOVQ x+0(FP), SI
	MOVQ n+8(FP), CX
	VPCMPEQD Y15, Y15, Y15
	VPSRLD $1, Y15, Y15
	VXORPS Y0, Y0, Y0
mostloop:
	VANDPS (SI), Y15, Y1
	VMAXPS Y1, Y0, Y0
	ADDQ $32, SI
	SUBQ $8, CX
	JNZ  mostloop
	VEXTRACTF128 $1, Y0, X1
	VMAXPS X1, X0, X0
	VPERMILPS $0x4e, X0, X1
	VMAXPS X1, X0, X0
	VPERMILPS $0xb1, X0, X1
	VMAXPS X1, X0, X0
	VMOVSS X0, ret+16(FP)
	VZEROUPPER
	RET

// func codesAVX2(dst *byte, x *float32, n int, scale float32)
TEXT ·codesAVX2(SB), NOSPLIT, $0-28
	CODESSTART
codesavx2loop:
	CODES8
	VEXTRACTI128 $1, Y0, X1
	VPACKSSDW X1, X0, X0
	VMOVDQU X0, (DI)
	ADDQ $32, SI
	ADDQ $16, DI
	SUBQ $8, CX
	JNZ  codesavx2loop
	VZEROUPPER
	RET

// Sums of upper and lower bytes of sixteen columns become numbers, which are
// added to c. The columns' scales in scale, the row's in Z28, what VPDPBUSD has
// too much in offset.
#define PUTVNNI(to, hi, lo, scale, offset) \
	VPSLLD $8, hi, hi; \
	VPADDD lo, hi, hi; \
	VPSUBD offset, hi, hi; \
	VCVTDQ2PS hi, hi; \
	VMULPS scale, hi, hi; \
	VMULPS Z28, hi, hi; \
	VADDPS to, hi, hi; \
	VMOVUPS hi, to

// The scale of the next row.
#define NEXTVNNI \
	VBROADCASTSS (R14), Z28; \
	ADDQ R15, R14

#define SCALESVNNI \
	MOVQ 24(R9), R13; \
	MOVQ 48(R9), R14; \
	MOVQ 56(R9), R15; \
	VMOVUPS (R8), Z24; \
	VMOVUPS 64(R8), Z25; \
	VMOVDQU32 (R13), Z26; \
	VMOVDQU32 64(R13), Z27

// Four numbers of a row of a, its upper bytes at x and the lower ones at y, with
// 32 columns in Z30 and Z31.
#define ROWVNNI(x, y, hi0, hi1, lo0, lo1) \
	VPBROADCASTD x, Z28; \
	VPBROADCASTD y, Z29; \
	VPDPBUSD Z30, Z28, hi0; \
	VPDPBUSD Z31, Z28, hi1; \
	VPDPBUSD Z30, Z29, lo0; \
	VPDPBUSD Z31, Z29, lo1

// func quantized4VNNI(c *float32, a *byte, p *quantizedPanel)
TEXT ·quantized4VNNI(SB), NOSPLIT, $0-24
	PANEL(0)
	LEAQ (CX)(CX*1), R11        // bytes of a row of a: upper, then lower
	LEAQ (R11)(R11*2), R12
	LEAQ (SI)(CX*1), AX         // the lower bytes
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
quantized4vnniloop:
	VMOVDQU32 (DX), Z30
	VMOVDQU32 64(DX), Z31
	ROWVNNI((SI), (AX), Z0, Z1, Z2, Z3)
	ROWVNNI((SI)(R11*1), (AX)(R11*1), Z4, Z5, Z6, Z7)
	ROWVNNI((SI)(R11*2), (AX)(R11*2), Z8, Z9, Z10, Z11)
	ROWVNNI((SI)(R12*1), (AX)(R12*1), Z12, Z13, Z14, Z15)
	ADDQ $128, DX
	ADDQ $4, SI
	ADDQ $4, AX
	SUBQ $4, CX
	JNZ  quantized4vnniloop
	SCALESVNNI
	LEAQ (R10)(R10*2), R12
	NEXTVNNI
	PUTVNNI((DI), Z0, Z2, Z24, Z26)
	PUTVNNI(64(DI), Z1, Z3, Z25, Z27)
	NEXTVNNI
	PUTVNNI((DI)(R10*1), Z4, Z6, Z24, Z26)
	PUTVNNI(64(DI)(R10*1), Z5, Z7, Z25, Z27)
	NEXTVNNI
	PUTVNNI((DI)(R10*2), Z8, Z10, Z24, Z26)
	PUTVNNI(64(DI)(R10*2), Z9, Z11, Z25, Z27)
	NEXTVNNI
	PUTVNNI((DI)(R12*1), Z12, Z14, Z24, Z26)
	PUTVNNI(64(DI)(R12*1), Z13, Z15, Z25, Z27)
	VZEROUPPER
	RET

// func quantized1VNNI(c *float32, a *byte, p *quantizedPanel)
// Eight sums, so that none waits for the one before.
TEXT ·quantized1VNNI(SB), NOSPLIT, $0-24
	PANEL(0)
	LEAQ (SI)(CX*1), AX
	VPXORQ Z0, Z0, Z0
	VPXORQ Z1, Z1, Z1
	VPXORQ Z2, Z2, Z2
	VPXORQ Z3, Z3, Z3
	VPXORQ Z4, Z4, Z4
	VPXORQ Z5, Z5, Z5
	VPXORQ Z6, Z6, Z6
	VPXORQ Z7, Z7, Z7
quantized1vnniloop:
	VMOVDQU32 (DX), Z30
	VMOVDQU32 64(DX), Z31
	ROWVNNI((SI), (AX), Z0, Z1, Z2, Z3)
	VMOVDQU32 128(DX), Z30
	VMOVDQU32 192(DX), Z31
	ROWVNNI(4(SI), 4(AX), Z4, Z5, Z6, Z7)
	ADDQ $256, DX
	ADDQ $8, SI
	ADDQ $8, AX
	SUBQ $8, CX
	JNZ  quantized1vnniloop
	SCALESVNNI
	VPADDD Z4, Z0, Z0
	VPADDD Z5, Z1, Z1
	VPADDD Z6, Z2, Z2
	VPADDD Z7, Z3, Z3
	NEXTVNNI
	PUTVNNI((DI), Z0, Z2, Z24, Z26)
	PUTVNNI(64(DI), Z1, Z3, Z25, Z27)
	VZEROUPPER
	RET

// The columns' scales at the places from at on, the row's in Y15.
#define PUTQ(to, sum, at) \
	VCVTDQ2PS sum, sum; \
	VMULPS at(R8), sum, sum; \
	VMULPS Y15, sum, sum; \
	VADDPS to, sum, sum; \
	VMOVUPS sum, to

#define NEXTQ \
	VBROADCASTSS (R14), Y15; \
	ADDQ R15, R14

// Two numbers of a row of a, in Y15, with eight columns at b.
#define ROWQ(b, x, sum) \
	VPMADDWD b, x, Y14; \
	VPADDD Y14, sum, sum

// func quantized1AVX2(c *float32, a *byte, p *quantizedPanel)
TEXT ·quantized1AVX2(SB), NOSPLIT, $0-24
	PANEL(8)
	VPXOR Y0, Y0, Y0
	VPXOR Y1, Y1, Y1
	VPXOR Y2, Y2, Y2
	VPXOR Y3, Y3, Y3
quantized1avx2loop:
	VPBROADCASTD (SI), Y15
	ROWQ((DX), Y15, Y0)
	ROWQ(32(DX), Y15, Y1)
	ROWQ(64(DX), Y15, Y2)
	ROWQ(96(DX), Y15, Y3)
	ADDQ $128, DX
	ADDQ $4, SI
	SUBQ $2, CX
	JNZ  quantized1avx2loop
	MOVQ 48(R9), R14
	MOVQ 56(R9), R15
	NEXTQ
	PUTQ((DI), Y0, 0)
	PUTQ(32(DI), Y1, 32)
	PUTQ(64(DI), Y2, 64)
	PUTQ(96(DI), Y3, 96)
	VZEROUPPER
	RET

// func quantized4AVX2(c *float32, a *byte, p *quantizedPanel)
// Sixteen columns at a time: four rows of them are eight sums.
TEXT ·quantized4AVX2(SB), NOSPLIT, $0-24
	PANEL(8)
	LEAQ (CX)(CX*1), R11
	LEAQ (R11)(R11*2), R12
	LEAQ (R10)(R10*2), R13
	MOVQ $2, BX
quantized4avx2half:
	MOVQ 32(R9), CX
	MOVQ SI, AX
	VPXOR Y0, Y0, Y0
	VPXOR Y1, Y1, Y1
	VPXOR Y2, Y2, Y2
	VPXOR Y3, Y3, Y3
	VPXOR Y4, Y4, Y4
	VPXOR Y5, Y5, Y5
	VPXOR Y6, Y6, Y6
	VPXOR Y7, Y7, Y7
quantized4avx2loop:
	VMOVDQU (DX), Y12
	VMOVDQU 32(DX), Y13
	VPBROADCASTD (AX), Y15
	ROWQ(Y12, Y15, Y0)
	ROWQ(Y13, Y15, Y1)
	VPBROADCASTD (AX)(R11*1), Y15
	ROWQ(Y12, Y15, Y2)
	ROWQ(Y13, Y15, Y3)
	VPBROADCASTD (AX)(R11*2), Y15
	ROWQ(Y12, Y15, Y4)
	ROWQ(Y13, Y15, Y5)
	VPBROADCASTD (AX)(R12*1), Y15
	ROWQ(Y12, Y15, Y6)
	ROWQ(Y13, Y15, Y7)
	ADDQ $128, DX
	ADDQ $4, AX
	SUBQ $2, CX
	JNZ  quantized4avx2loop
	MOVQ 48(R9), R14
	MOVQ 56(R9), R15
	NEXTQ
	PUTQ((DI), Y0, 0)
	PUTQ(32(DI), Y1, 32)
	NEXTQ
	PUTQ((DI)(R10*1), Y2, 0)
	PUTQ(32(DI)(R10*1), Y3, 32)
	NEXTQ
	PUTQ((DI)(R10*2), Y4, 0)
	PUTQ(32(DI)(R10*2), Y5, 32)
	NEXTQ
	PUTQ((DI)(R13*1), Y6, 0)
	PUTQ(32(DI)(R13*1), Y7, 32)
	MOVQ 8(R9), DX             // the other sixteen
	ADDQ $64, DX
	ADDQ $64, DI
	ADDQ $64, R8
	DECQ BX
	JNZ  quantized4avx2half
	VZEROUPPER
	RET
