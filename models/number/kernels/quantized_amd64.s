#include "textflag.h"

// Products with matrices of eight bits, see quantized.go. A panel is 32 columns.

DATA codesConstants<>+0(SB)/4, $63.0
DATA codesConstants<>+4(SB)/4, $-63.0
DATA codesConstants<>+8(SB)/4, $64
GLOBL codesConstants<>(SB), RODATA|NOPTR, $12

// What all products begin with: c in DI, a in SI, b in DX, the rows of b in CX,
// bytes of a row of c in R10, scales in R8, from in R13 and bytes of its rows in
// R11, the scales of rows in R14 and how far they are apart in R15; p in R9.
#define PANEL \
	MOVQ c+0(FP), DI; \
	MOVQ a+8(FP), SI; \
	MOVQ p+16(FP), R9; \
	MOVQ (R9), DX; \
	MOVQ 8(R9), R8; \
	MOVQ 24(R9), CX; \
	MOVQ 32(R9), R10; \
	MOVQ 40(R9), R14; \
	MOVQ 48(R9), R15; \
	MOVQ 56(R9), R13; \
	MOVQ 64(R9), R11

// func codesAVX2(dst *byte, x *float32, n int, scale float32)
// Numbers plus 2⁶, a byte each.
TEXT ·codesAVX2(SB), NOSPLIT, $0-28
	MOVQ dst+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ n+16(FP), CX
	VBROADCASTSS scale+24(FP), Y15
	VBROADCASTSS codesConstants<>+0(SB), Y14
	VBROADCASTSS codesConstants<>+4(SB), Y13
	VPBROADCASTD codesConstants<>+8(SB), Y12
codesavx2loop:
	VMULPS (SI), Y15, Y0
	VMAXPS Y13, Y0, Y0
	VMINPS Y14, Y0, Y0
	VCVTPS2DQ Y0, Y0
	VPADDD Y12, Y0, Y0
	VEXTRACTI128 $1, Y0, X1
	VPACKSSDW X1, X0, X0
	VPACKUSWB X0, X0, X0
	VMOVQ X0, (DI)
	ADDQ $32, SI
	ADDQ $8, DI
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

// Four numbers of a row of a with 32 columns in Z30 and Z31.
#define ROWVNNI(x, lo, hi) \
	VPBROADCASTD x, Z28; \
	VPDPBUSD Z30, Z28, lo; \
	VPDPBUSD Z31, Z28, hi

#define COLUMNSVNNI(at) \
	VMOVDQU32 at(DX), Z30; \
	VMOVDQU32 at+64(DX), Z31

// Sums of rows of c begin with nothing.
#define NONEVNNI4(a, b, c, d) \
	VPXORQ a, a, a; \
	VPXORQ b, b, b; \
	VPXORQ c, c, c; \
	VPXORQ d, d, d

// func quantizedVNNI(c *float32, a *byte, m int, p *quantizedPanel)
// All columns, a panel at a time, which stays in the first cache while all rows go
// by: eight of them at once, then four, then each by itself.
TEXT ·quantizedVNNI(SB), NOSPLIT, $0-32
	MOVQ p+24(FP), R9
	MOVQ (R9), DX              // b
	MOVQ 24(R9), AX            // its rows, which are bytes of a row of a
	LEAQ (AX)(AX*2), BX
	MOVQ 32(R9), R10           // bytes of a row of c
	MOVQ 48(R9), R15           // from a row's scale to the next
	MOVQ 64(R9), R11           // bytes of a row of from
quantizedvnnipanel:
	MOVQ 80(R9), CX            // bytes of c before this panel
	MOVQ 8(R9), R8
	VMOVUPS (R8)(CX*1), Z24
	VMOVUPS 64(R8)(CX*1), Z25
	MOVQ 16(R9), R8
	VMOVDQU32 (R8)(CX*1), Z26
	VMOVDQU32 64(R8)(CX*1), Z27
	MOVQ c+0(FP), DI
	ADDQ CX, DI
	MOVQ a+8(FP), SI
	MOVQ m+16(FP), R12
	MOVQ 40(R9), R14
	MOVQ 56(R9), R13
	ADDQ CX, R13
quantizedvnnirows:
	MOVQ AX, CX
	CMPQ R12, $8
	JLT  quantizedvnnifour
	NONEVNNI4(Z0, Z1, Z2, Z3)
	NONEVNNI4(Z4, Z5, Z6, Z7)
	NONEVNNI4(Z8, Z9, Z10, Z11)
	NONEVNNI4(Z12, Z13, Z14, Z15)
	LEAQ (SI)(AX*4), R8
quantizedvnnieightloop:
	COLUMNSVNNI(0)
	ROWVNNI((SI), Z0, Z1)
	ROWVNNI((SI)(AX*1), Z2, Z3)
	ROWVNNI((SI)(AX*2), Z4, Z5)
	ROWVNNI((SI)(BX*1), Z6, Z7)
	ROWVNNI((R8), Z8, Z9)
	ROWVNNI((R8)(AX*1), Z10, Z11)
	ROWVNNI((R8)(AX*2), Z12, Z13)
	ROWVNNI((R8)(BX*1), Z14, Z15)
	ADDQ $128, DX
	ADDQ $4, SI
	ADDQ $4, R8
	SUBQ $4, CX
	JNZ  quantizedvnnieightloop
	LEAQ (R8)(BX*1), SI        // eight rows on: R8 is five on
	PUTVNNI(Z0, Z1)
	PUTVNNI(Z2, Z3)
	PUTVNNI(Z4, Z5)
	PUTVNNI(Z6, Z7)
	PUTVNNI(Z8, Z9)
	PUTVNNI(Z10, Z11)
	PUTVNNI(Z12, Z13)
	PUTVNNI(Z14, Z15)
	MOVQ AX, CX
	SHLQ $5, CX
	SUBQ CX, DX                // the same panel again
	SUBQ $8, R12
	JNZ  quantizedvnnirows
	JMP  quantizedvnninext
quantizedvnnifour:
	CMPQ R12, $4
	JLT  quantizedvnnione
	NONEVNNI4(Z0, Z1, Z2, Z3)
	NONEVNNI4(Z4, Z5, Z6, Z7)
quantizedvnnifourloop:
	COLUMNSVNNI(0)
	ROWVNNI((SI), Z0, Z1)
	ROWVNNI((SI)(AX*1), Z2, Z3)
	ROWVNNI((SI)(AX*2), Z4, Z5)
	ROWVNNI((SI)(BX*1), Z6, Z7)
	ADDQ $128, DX
	ADDQ $4, SI
	SUBQ $4, CX
	JNZ  quantizedvnnifourloop
	ADDQ BX, SI
	PUTVNNI(Z0, Z1)
	PUTVNNI(Z2, Z3)
	PUTVNNI(Z4, Z5)
	PUTVNNI(Z6, Z7)
	MOVQ AX, CX
	SHLQ $5, CX
	SUBQ CX, DX
	SUBQ $4, R12
	JNZ  quantizedvnnirows
	JMP  quantizedvnninext
quantizedvnnione:              // eight sums, so that none waits for the one before
	NONEVNNI4(Z0, Z1, Z2, Z3)
	NONEVNNI4(Z4, Z5, Z6, Z7)
	JMP  quantizedvnnionenext
quantizedvnnioneloop:
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
quantizedvnnionenext:
	SUBQ $16, CX
	JGE  quantizedvnnioneloop
	ADDQ $16, CX
	JZ   quantizedvnnioneput
	COLUMNSVNNI(0)
	ROWVNNI((SI), Z0, Z1)
	COLUMNSVNNI(128)
	ROWVNNI(4(SI), Z2, Z3)
	ADDQ $256, DX
	ADDQ $8, SI
quantizedvnnioneput:
	VPADDD Z2, Z0, Z0
	VPADDD Z3, Z1, Z1
	VPADDD Z6, Z4, Z4
	VPADDD Z7, Z5, Z5
	VPADDD Z4, Z0, Z0
	VPADDD Z5, Z1, Z1
	PUTVNNI(Z0, Z1)
	MOVQ AX, CX
	SHLQ $5, CX
	SUBQ CX, DX
	DECQ R12
	JNZ  quantizedvnnirows
quantizedvnninext:
	MOVQ AX, CX
	SHLQ $5, CX
	ADDQ CX, DX
	ADDQ $128, 80(R9)
	SUBQ $32, 72(R9)
	JNZ  quantizedvnnipanel
	VZEROUPPER
	RET

// Eight columns from at on. The columns' scales at R8, the row's in Y15.
#define PUTQ(sum, at, from, to) \
	VCVTDQ2PS sum, sum; \
	VMULPS at(R8), sum, sum; \
	VMULPS Y15, sum, sum; \
	VADDPS at(from), sum, sum; \
	VMOVUPS sum, at(to)

// Eight numbers of a row of a, in Y15 and Y14, with eight columns at b and those
// of the four rows behind. Two products fit sixteen bits, since numbers of a have
// seven, and so do four, see narrowest; Y13 is ones.
#define ROWQ(b, behind, t, u, sum) \
	VPMADDUBSW b, Y15, t; \
	VPMADDUBSW behind, Y14, u; \
	VPADDW u, t, t; \
	VPMADDWD Y13, t, t; \
	VPADDD t, sum, sum

#define ONESQ \
	VPCMPEQW Y13, Y13, Y13; \
	VPSRLW $15, Y13, Y13

// func quantized1AVX2(c *float32, a *byte, p *quantizedPanel)
// All columns. Sums begin with what there will be too much.
TEXT ·quantized1AVX2(SB), NOSPLIT, $0-24
	PANEL
	ONESQ
	VPXOR Y12, Y12, Y12
	MOVQ 16(R9), AX
	MOVQ 72(R9), R12
	MOVQ CX, BX
	VBROADCASTSS (R14), Y11
quantized1avx2panel:
	VPSUBD (AX), Y12, Y0
	VPSUBD 32(AX), Y12, Y1
	VPSUBD 64(AX), Y12, Y2
	VPSUBD 96(AX), Y12, Y3
quantized1avx2loop:
	VPBROADCASTD (SI), Y15
	VPBROADCASTD 4(SI), Y14
	ROWQ((DX), 128(DX), Y4, Y8, Y0)
	ROWQ(32(DX), 160(DX), Y5, Y9, Y1)
	ROWQ(64(DX), 192(DX), Y6, Y10, Y2)
	ROWQ(96(DX), 224(DX), Y7, Y8, Y3)
	ADDQ $256, DX
	ADDQ $8, SI
	SUBQ $8, CX
	JNZ  quantized1avx2loop
	VMOVAPS Y11, Y15
	PUTQ(Y0, 0, R13, DI)
	PUTQ(Y1, 32, R13, DI)
	PUTQ(Y2, 64, R13, DI)
	PUTQ(Y3, 96, R13, DI)
	MOVQ BX, CX
	SUBQ BX, SI
	ADDQ $128, AX
	ADDQ $128, R8
	ADDQ $128, R13
	ADDQ $128, DI
	SUBQ $32, R12
	JNZ  quantized1avx2panel
	VZEROUPPER
	RET

// Eight numbers of a row with sixteen columns, those of four rows in Y8 and Y9.
#define ROW16Q(x, behind, lo, hi) \
	VPBROADCASTD x, Y15; \
	VPBROADCASTD behind, Y14; \
	ROWQ(Y8, 128(DX), Y10, Y11, lo); \
	ROWQ(Y9, 160(DX), Y12, Y11, hi)

#define PUT16Q(lo, hi) \
	VBROADCASTSS (R14), Y15; \
	PUTQ(lo, 0, CX, AX); \
	PUTQ(hi, 32, CX, AX); \
	ADDQ R15, R14; \
	ADDQ R11, CX; \
	ADDQ R10, AX

// func quantized4AVX2(c *float32, a *byte, p *quantizedPanel)
// All columns, sixteen at a time: four rows of them are eight sums.
TEXT ·quantized4AVX2(SB), NOSPLIT, $0-24
	PANEL
	ONESQ
	MOVQ CX, BX
	LEAQ (BX)(BX*2), R12
quantized4avx2half:
	MOVQ R8, AX                // offsets, as far on as the scales are
	SUBQ 8(R9), AX
	ADDQ 16(R9), AX
	VPXOR Y7, Y7, Y7
	VPSUBD (AX), Y7, Y0
	VPSUBD 32(AX), Y7, Y1
	VMOVDQA Y0, Y2
	VMOVDQA Y1, Y3
	VMOVDQA Y0, Y4
	VMOVDQA Y1, Y5
	VMOVDQA Y0, Y6
	VMOVDQA Y1, Y7
	MOVQ BX, CX
	MOVQ SI, AX
quantized4avx2loop:
	VMOVDQU (DX), Y8
	VMOVDQU 32(DX), Y9
	ROW16Q((AX), 4(AX), Y0, Y1)
	ROW16Q((AX)(BX*1), 4(AX)(BX*1), Y2, Y3)
	ROW16Q((AX)(BX*2), 4(AX)(BX*2), Y4, Y5)
	ROW16Q((AX)(R12*1), 4(AX)(R12*1), Y6, Y7)
	ADDQ $256, DX
	ADDQ $8, AX
	SUBQ $8, CX
	JNZ  quantized4avx2loop
	MOVQ 40(R9), R14
	MOVQ R13, CX
	MOVQ DI, AX
	PUT16Q(Y0, Y1)
	PUT16Q(Y2, Y3)
	PUT16Q(Y4, Y5)
	PUT16Q(Y6, Y7)
	ADDQ $64, R8
	ADDQ $64, R13
	ADDQ $64, DI
	SUBQ $64, DX               // the next panel begins behind this one
	MOVQ 72(R9), AX
	SUBQ $16, AX
	MOVQ AX, 72(R9)
	JZ   quantized4avx2end
	TESTQ $16, AX
	JZ   quantized4avx2half
	MOVQ BX, AX                // or the other half of this one
	SHLQ $5, AX
	SUBQ AX, DX
	ADDQ $128, DX
	JMP  quantized4avx2half
quantized4avx2end:
	VZEROUPPER
	RET
