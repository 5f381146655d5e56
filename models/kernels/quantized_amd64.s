#include "textflag.h"

// Products with matrices of eight bits, see quantized.go. A panel is 32 columns.

DATA codesConstants<>+0(SB)/4, $127.0
DATA codesConstants<>+4(SB)/4, $-127.0
DATA codesConstants<>+8(SB)/4, $128
GLOBL codesConstants<>(SB), RODATA|NOPTR, $12

// What all products begin with: c in DI, a in SI, b in DX, the rows of b in CX,
// bytes of a row of c in R10, scales in R8, from in R13 and bytes of its rows in
// R11, the scales of rows in R14 and how far they are apart in R15.
#define PANEL(b) \
	MOVQ c+0(FP), DI; \
	MOVQ a+8(FP), SI; \
	MOVQ p+16(FP), R9; \
	MOVQ b(R9), DX; \
	MOVQ 16(R9), R8; \
	MOVQ 32(R9), CX; \
	MOVQ 40(R9), R10; \
	MOVQ 48(R9), R14; \
	MOVQ 56(R9), R15; \
	MOVQ 64(R9), R13; \
	MOVQ 72(R9), R11

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
// Numbers plus 2⁷, a byte each.
TEXT ·codesVNNI(SB), NOSPLIT, $0-28
	CODESSTART
	VPBROADCASTD codesConstants<>+8(SB), Y12
codesvnniloop:
	CODES8
	VPADDD Y12, Y0, Y0
	VPMOVDB Y0, X0
	VMOVQ X0, (DI)
	ADDQ $32, SI
	ADDQ $8, DI
	SUBQ $8, CX
	JNZ  codesvnniloop
	VZEROUPPER
	RET

// func codesAVX2(dst *byte, x *float32, n int, scale float32)
// Sixteen bits each.
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

// The sums of 32 columns of a row become numbers, to which from is added. The
// columns' scales in Z24 and Z25, what VPDPBUSD has too much in Z26 and Z27.
#define PUTVNNI(lo, hi) \
	VBROADCASTSS (R14), Z28; \
	ADDQ R15, R14; \
	VPSUBD Z26, lo, lo; \
	VPSUBD Z27, hi, hi; \
	VCVTDQ2PS lo, lo; \
	VCVTDQ2PS hi, hi; \
	VMULPS Z24, lo, lo; \
	VMULPS Z25, hi, hi; \
	VMULPS Z28, lo, lo; \
	VMULPS Z28, hi, hi; \
	VADDPS (R13), lo, lo; \
	VADDPS 64(R13), hi, hi; \
	VMOVUPS lo, (DI); \
	VMOVUPS hi, 64(DI); \
	ADDQ R11, R13; \
	ADDQ R10, DI

#define SCALESVNNI \
	MOVQ 24(R9), AX; \
	VMOVUPS (R8), Z24; \
	VMOVUPS 64(R8), Z25; \
	VMOVDQU32 (AX), Z26; \
	VMOVDQU32 64(AX), Z27

// Four numbers of a row of a with 32 columns in Z30 and Z31.
#define ROWVNNI(x, lo, hi) \
	VPBROADCASTD x, Z28; \
	VPDPBUSD Z30, Z28, lo; \
	VPDPBUSD Z31, Z28, hi

#define COLUMNSVNNI(at) \
	VMOVDQU32 at(DX), Z30; \
	VMOVDQU32 at+64(DX), Z31

// func quantized4VNNI(c *float32, a *byte, p *quantizedPanel)
TEXT ·quantized4VNNI(SB), NOSPLIT, $0-24
	PANEL(0)
	LEAQ (CX)(CX*1), AX         // bytes of a row of a
	LEAQ (AX)(AX*2), BX
	VPXORQ Z0, Z0, Z0
	VPXORQ Z1, Z1, Z1
	VPXORQ Z2, Z2, Z2
	VPXORQ Z3, Z3, Z3
	VPXORQ Z4, Z4, Z4
	VPXORQ Z5, Z5, Z5
	VPXORQ Z6, Z6, Z6
	VPXORQ Z7, Z7, Z7
quantized4vnniloop:
	COLUMNSVNNI(0)
	ROWVNNI((SI), Z0, Z1)
	ROWVNNI((SI)(AX*1), Z2, Z3)
	ROWVNNI((SI)(AX*2), Z4, Z5)
	ROWVNNI((SI)(BX*1), Z6, Z7)
	ADDQ $128, DX
	ADDQ $4, SI
	SUBQ $4, CX
	JNZ  quantized4vnniloop
	SCALESVNNI
	PUTVNNI(Z0, Z1)
	PUTVNNI(Z2, Z3)
	PUTVNNI(Z4, Z5)
	PUTVNNI(Z6, Z7)
	VZEROUPPER
	RET

// func quantized1VNNI(c *float32, a *byte, p *quantizedPanel)
// Eight sums, so that none waits for the one before.
TEXT ·quantized1VNNI(SB), NOSPLIT, $0-24
	PANEL(0)
	VPXORQ Z0, Z0, Z0
	VPXORQ Z1, Z1, Z1
	VPXORQ Z2, Z2, Z2
	VPXORQ Z3, Z3, Z3
	VPXORQ Z4, Z4, Z4
	VPXORQ Z5, Z5, Z5
	VPXORQ Z6, Z6, Z6
	VPXORQ Z7, Z7, Z7
	JMP  quantized1vnninext
quantized1vnniloop:
	COLUMNSVNNI(0)
	ROWVNNI((SI), Z0, Z1)
	COLUMNSVNNI(128)
	ROWVNNI(4(SI), Z2, Z3)
	COLUMNSVNNI(256)
	ROWVNNI(8(SI), Z4, Z5)
	COLUMNSVNNI(384)
	ROWVNNI(12(SI), Z6, Z7)
	ADDQ $512, DX
	ADDQ $16, SI
quantized1vnninext:
	SUBQ $16, CX
	JGE  quantized1vnniloop
	ADDQ $16, CX
	JZ   quantized1vnniput
	COLUMNSVNNI(0)
	ROWVNNI((SI), Z0, Z1)
	COLUMNSVNNI(128)
	ROWVNNI(4(SI), Z2, Z3)
quantized1vnniput:
	SCALESVNNI
	VPADDD Z2, Z0, Z0
	VPADDD Z3, Z1, Z1
	VPADDD Z6, Z4, Z4
	VPADDD Z7, Z5, Z5
	VPADDD Z4, Z0, Z0
	VPADDD Z5, Z1, Z1
	PUTVNNI(Z0, Z1)
	VZEROUPPER
	RET

// Eight columns from at on. The columns' scales at R8, the row's in Y15.
#define PUTQ(sum, at) \
	VCVTDQ2PS sum, sum; \
	VMULPS at(R8), sum, sum; \
	VMULPS Y15, sum, sum; \
	VADDPS at(R13), sum, sum; \
	VMOVUPS sum, at(DI)

#define SCALEQ \
	VBROADCASTSS (R14), Y15; \
	ADDQ R15, R14

// Two numbers of a row of a, in x, with eight columns at b.
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
	SCALEQ
	PUTQ(Y0, 0)
	PUTQ(Y1, 32)
	PUTQ(Y2, 64)
	PUTQ(Y3, 96)
	VZEROUPPER
	RET

// func quantized4AVX2(c *float32, a *byte, p *quantizedPanel)
// Sixteen columns at a time: four rows of them are eight sums.
TEXT ·quantized4AVX2(SB), NOSPLIT, $0-24
	PANEL(8)
	LEAQ (CX)(CX*1), BX
	LEAQ (BX)(BX*2), R12
	MOVQ $2, R9
quantized4avx2half:
	MOVQ BX, CX
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
	VPBROADCASTD (AX)(BX*1), Y15
	ROWQ(Y12, Y15, Y2)
	ROWQ(Y13, Y15, Y3)
	VPBROADCASTD (AX)(BX*2), Y15
	ROWQ(Y12, Y15, Y4)
	ROWQ(Y13, Y15, Y5)
	VPBROADCASTD (AX)(R12*1), Y15
	ROWQ(Y12, Y15, Y6)
	ROWQ(Y13, Y15, Y7)
	ADDQ $128, DX
	ADDQ $4, AX
	SUBQ $4, CX
	JNZ  quantized4avx2loop
	SCALEQ
	PUTQ(Y0, 0)
	PUTQ(Y1, 32)
	ADDQ R11, R13
	ADDQ R10, DI
	SCALEQ
	PUTQ(Y2, 0)
	PUTQ(Y3, 32)
	ADDQ R11, R13
	ADDQ R10, DI
	SCALEQ
	PUTQ(Y4, 0)
	PUTQ(Y5, 32)
	ADDQ R11, R13
	ADDQ R10, DI
	SCALEQ
	PUTQ(Y6, 0)
	PUTQ(Y7, 32)
	MOVQ c+0(FP), DI           // the other sixteen
	MOVQ p+16(FP), AX
	MOVQ 8(AX), DX
	MOVQ 48(AX), R14
	MOVQ 64(AX), R13
	ADDQ $64, DX
	ADDQ $64, DI
	ADDQ $64, R8
	ADDQ $64, R13
	DECQ R9
	JNZ  quantized4avx2half
	VZEROUPPER
	RET
