#include "textflag.h"

// AVX2 and FMA. Operands in Go's order: sources first, destination last.
// Y15 and Y14 hold what lives through a whole function; every function ends
// with VZEROUPPER.

// Horizontal maximum of Y0 into X0; uses X1.
#define HMAX32 \
	VEXTRACTF128 $1, Y0, X1; \
	VMAXPS X1, X0, X0; \
	VPERMILPS $0x4e, X0, X1; \
	VMAXPS X1, X0, X0; \
	VPERMILPS $0xb1, X0, X1; \
	VMAXPS X1, X0, X0

// Horizontal sum of Y0 into X0; uses X1.
#define HSUM32 \
	VEXTRACTF128 $1, Y0, X1; \
	VADDPS X1, X0, X0; \
	VPERMILPS $0x4e, X0, X1; \
	VADDPS X1, X0, X0; \
	VPERMILPS $0xb1, X0, X1; \
	VADDPS X1, X0, X0

#define HMAX64 \
	VEXTRACTF128 $1, Y0, X1; \
	VMAXPD X1, X0, X0; \
	VPERMILPD $1, X0, X1; \
	VMAXPD X1, X0, X0

#define HSUM64 \
	VEXTRACTF128 $1, Y0, X1; \
	VADDPD X1, X0, X0; \
	VPERMILPD $1, X0, X1; \
	VADDPD X1, X0, X0

// func addAVX2(dst, src *float32, n int)
TEXT ·addAVX2(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ n+16(FP), CX
add4:
	CMPQ CX, $32
	JLT  add1
	VMOVUPS (DI), Y0
	VMOVUPS 32(DI), Y1
	VMOVUPS 64(DI), Y2
	VMOVUPS 96(DI), Y3
	VADDPS (SI), Y0, Y0
	VADDPS 32(SI), Y1, Y1
	VADDPS 64(SI), Y2, Y2
	VADDPS 96(SI), Y3, Y3
	VMOVUPS Y0, (DI)
	VMOVUPS Y1, 32(DI)
	VMOVUPS Y2, 64(DI)
	VMOVUPS Y3, 96(DI)
	ADDQ $128, DI
	ADDQ $128, SI
	SUBQ $32, CX
	JMP  add4
add1:
	TESTQ CX, CX
	JZ    addend
	VMOVUPS (DI), Y0
	VADDPS (SI), Y0, Y0
	VMOVUPS Y0, (DI)
	ADDQ $32, DI
	ADDQ $32, SI
	SUBQ $8, CX
	JMP  add1
addend:
	VZEROUPPER
	RET

// func addRowsAVX2(dst *float32, stride int, src *float32, width, rows int)
// A row is whole registers and, perhaps, half of one.
TEXT ·addRowsAVX2(SB), NOSPLIT, $0-40
	MOVQ dst+0(FP), DI
	MOVQ stride+8(FP), R9
	MOVQ src+16(FP), SI
	MOVQ width+24(FP), R8
	MOVQ rows+32(FP), CX
	SHLQ $2, R9                // bytes a row
arrow:
	MOVQ DI, AX
	MOVQ R8, BX
	JMP  arnext
arwhole:
	VMOVUPS (AX), Y0
	VADDPS (SI), Y0, Y0
	VMOVUPS Y0, (AX)
	ADDQ $32, AX
	ADDQ $32, SI
arnext:
	SUBQ $8, BX
	JGE  arwhole
	CMPQ BX, $-8
	JEQ  arend
	VMOVUPS (AX), X0
	VADDPS (SI), X0, X0
	VMOVUPS X0, (AX)
	ADDQ $16, SI
arend:
	ADDQ R9, DI
	DECQ CX
	JNZ  arrow
	VZEROUPPER
	RET

// func probeAVX2(at *int32, hash *uint64, n int, tags *[Ways]uint32, sets int)
// No branch depends on what is found, so that the next hashes are looked up
// while memory is still awaited for this one.
TEXT ·probeAVX2(SB), NOSPLIT, $0-40
	MOVQ at+0(FP), DI
	MOVQ hash+8(FP), SI
	MOVQ n+16(FP), CX
	MOVQ tags+24(FP), R8
	MOVQ sets+32(FP), R9
	MOVL $-1, R10
probe:
	MOVQ (SI), AX
	MOVQ AX, BX
	SHRQ $32, BX
	IMULQ R9, BX
	SHRQ $32, BX               // set
	SHLQ $3, BX                // first place of it
	ORL  $1, AX
	VMOVD AX, X0               // not MOVL: without VEX it would wait for the last comparison, which it leaves in the upper half
	VPBROADCASTD X0, Y0
	VPCMPEQD (R8)(BX*4), Y0, Y0
	VMOVMSKPS Y0, DX
	TZCNTL DX, R11             // unlike BSF it does not wait for the old R11
	ADDL BX, R11
	TESTL DX, DX
	CMOVLEQ R10, R11
	MOVL R11, (DI)
	ADDQ $8, SI
	ADDQ $4, DI
	DECQ CX
	JNZ  probe
	VZEROUPPER
	RET

// func prefetch(x *float32, bytes int)
TEXT ·prefetch(SB), NOSPLIT, $0-16
	MOVQ x+0(FP), SI
	MOVQ bytes+8(FP), CX
	ADDQ SI, CX
	ANDQ $-64, SI
ask:
	PREFETCHT0 (SI)
	ADDQ $64, SI
	CMPQ SI, CX
	JLT  ask
	RET

// func prefetchWrite(x *float32, bytes int)
TEXT ·prefetchWrite(SB), NOSPLIT, $0-16
	MOVQ x+0(FP), SI
	MOVQ bytes+8(FP), CX
	ADDQ SI, CX
	ANDQ $-64, SI
askwrite:
	BYTE $0x0f; BYTE $0x0d; BYTE $0x0e // PREFETCHW (SI), which Go's assembler lacks; does nothing before Broadwell
	ADDQ $64, SI
	CMPQ SI, CX
	JLT  askwrite
	RET

DATA ·exp32Constants+0(SB)/4, $1.44269504088896341
DATA ·exp32Constants+4(SB)/4, $-0.693359375
DATA ·exp32Constants+8(SB)/4, $2.12194440e-4
DATA ·exp32Constants+12(SB)/4, $1.9875691500e-4
DATA ·exp32Constants+16(SB)/4, $1.3981999507e-3
DATA ·exp32Constants+20(SB)/4, $8.3334519073e-3
DATA ·exp32Constants+24(SB)/4, $4.1665795894e-2
DATA ·exp32Constants+28(SB)/4, $1.6666665459e-1
DATA ·exp32Constants+32(SB)/4, $5.0000001201e-1
DATA ·exp32Constants+36(SB)/4, $1.0
DATA ·exp32Constants+40(SB)/4, $-87.0
DATA ·exp32Constants+44(SB)/4, $127
DATA ·exp32Constants+48(SB)/4, $-1.0e30
GLOBL ·exp32Constants(SB), RODATA|NOPTR, $52

// func shiftExpAVX2(exp, row *float32, n int) float32
// See exp32 in portable.go for the method.
TEXT ·shiftExpAVX2(SB), NOSPLIT, $0-28
	MOVQ exp+0(FP), DI
	MOVQ row+8(FP), SI
	MOVQ n+16(FP), CX
	MOVQ SI, AX
	MOVQ CX, BX
	VMOVUPS (SI), Y0
	JMP  semaxnext
semax:
	VMAXPS (AX), Y0, Y0
semaxnext:
	ADDQ $32, AX
	SUBQ $8, BX
	JNZ  semax
	HMAX32
	MOVSS X0, ret+24(FP)
	VBROADCASTSS X0, Y15
	VBROADCASTSS ·exp32Constants+0(SB), Y14
	VBROADCASTSS ·exp32Constants+4(SB), Y13
	VBROADCASTSS ·exp32Constants+8(SB), Y12
	VBROADCASTSS ·exp32Constants+16(SB), Y11
	VBROADCASTSS ·exp32Constants+20(SB), Y10
	VBROADCASTSS ·exp32Constants+24(SB), Y9
	VBROADCASTSS ·exp32Constants+28(SB), Y8
	VBROADCASTSS ·exp32Constants+32(SB), Y7
	VBROADCASTSS ·exp32Constants+36(SB), Y6
	VBROADCASTSS ·exp32Constants+40(SB), Y5
seloop:
	VMOVUPS (SI), Y0
	VSUBPS Y15, Y0, Y0
	VMOVUPS Y0, (SI)
	VMAXPS Y5, Y0, Y1          // clamped, so that the exponent stays normal
	VMULPS Y14, Y1, Y2
	VROUNDPS $8, Y2, Y2        // n, to even
	VFMADD231PS Y13, Y2, Y1
	VFMADD231PS Y12, Y2, Y1    // r
	VBROADCASTSS ·exp32Constants+12(SB), Y3
	VFMADD213PS Y11, Y1, Y3
	VFMADD213PS Y10, Y1, Y3
	VFMADD213PS Y9, Y1, Y3
	VFMADD213PS Y8, Y1, Y3
	VFMADD213PS Y7, Y1, Y3     // p
	VMULPS Y1, Y1, Y4
	VFMADD213PS Y1, Y4, Y3     // p·r² + r
	VADDPS Y6, Y3, Y3
	VCVTPS2DQ Y2, Y2
	VPSLLD $23, Y2, Y2
	VPADDD Y2, Y3, Y3          // times 2^n
	VCMPPS $5, Y5, Y0, Y4      // not less than -87
	VANDPS Y4, Y3, Y3
	VMOVUPS Y3, (DI)
	ADDQ $32, SI
	ADDQ $32, DI
	SUBQ $8, CX
	JNZ  seloop
	VZEROUPPER
	RET

// func forwardAVX2(dst, prev, e, m *float32, rows, n int, scale float32) float32
// Columns in tiles of 24, 16 or 8; two rows at a time, so that six sums are
// under way and the latency of FMA is hidden.
TEXT ·forwardAVX2(SB), NOSPLIT, $0-60
	MOVQ dst+0(FP), DI
	MOVQ prev+8(FP), SI
	MOVQ e+16(FP), DX
	MOVQ m+24(FP), R8
	MOVQ rows+32(FP), R9
	MOVQ n+40(FP), R10
	VBROADCASTSS scale+48(FP), Y15
	VXORPS Y14, Y14, Y14
	MOVQ R10, R11
	SHLQ $2, R11
fwtile3:
	CMPQ R10, $24
	JLT  fwtile2
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	VXORPS Y2, Y2, Y2
	VXORPS Y3, Y3, Y3
	VXORPS Y4, Y4, Y4
	VXORPS Y5, Y5, Y5
	MOVQ SI, AX
	MOVQ R8, BX
	MOVQ R9, CX
fwrow3:
	VBROADCASTSS (AX), Y6
	VBROADCASTSS 4(AX), Y7
	VFMADD231PS (BX), Y6, Y0
	VFMADD231PS 32(BX), Y6, Y1
	VFMADD231PS 64(BX), Y6, Y2
	VFMADD231PS (BX)(R11*1), Y7, Y3
	VFMADD231PS 32(BX)(R11*1), Y7, Y4
	VFMADD231PS 64(BX)(R11*1), Y7, Y5
	LEAQ (BX)(R11*2), BX
	ADDQ $8, AX
	SUBQ $2, CX
	JNZ  fwrow3
	VADDPS Y3, Y0, Y0
	VADDPS Y4, Y1, Y1
	VADDPS Y5, Y2, Y2
	VMULPS Y15, Y0, Y0
	VMULPS Y15, Y1, Y1
	VMULPS Y15, Y2, Y2
	VMULPS (DX), Y0, Y0
	VMULPS 32(DX), Y1, Y1
	VMULPS 64(DX), Y2, Y2
	VMOVUPS Y0, (DI)
	VMOVUPS Y1, 32(DI)
	VMOVUPS Y2, 64(DI)
	VADDPS Y0, Y14, Y14
	VADDPS Y1, Y14, Y14
	VADDPS Y2, Y14, Y14
	ADDQ $96, DI
	ADDQ $96, DX
	ADDQ $96, R8
	SUBQ $24, R10
	JMP  fwtile3
fwtile2:
	CMPQ R10, $16
	JLT  fwtile1
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	VXORPS Y3, Y3, Y3
	VXORPS Y4, Y4, Y4
	MOVQ SI, AX
	MOVQ R8, BX
	MOVQ R9, CX
fwrow2:
	VBROADCASTSS (AX), Y6
	VBROADCASTSS 4(AX), Y7
	VFMADD231PS (BX), Y6, Y0
	VFMADD231PS 32(BX), Y6, Y1
	VFMADD231PS (BX)(R11*1), Y7, Y3
	VFMADD231PS 32(BX)(R11*1), Y7, Y4
	LEAQ (BX)(R11*2), BX
	ADDQ $8, AX
	SUBQ $2, CX
	JNZ  fwrow2
	VADDPS Y3, Y0, Y0
	VADDPS Y4, Y1, Y1
	VMULPS Y15, Y0, Y0
	VMULPS Y15, Y1, Y1
	VMULPS (DX), Y0, Y0
	VMULPS 32(DX), Y1, Y1
	VMOVUPS Y0, (DI)
	VMOVUPS Y1, 32(DI)
	VADDPS Y0, Y14, Y14
	VADDPS Y1, Y14, Y14
	ADDQ $64, DI
	ADDQ $64, DX
	ADDQ $64, R8
	SUBQ $16, R10
fwtile1:
	TESTQ R10, R10
	JZ    fwend
	VXORPS Y0, Y0, Y0
	VXORPS Y3, Y3, Y3
	MOVQ SI, AX
	MOVQ R8, BX
	MOVQ R9, CX
fwrow1:
	VBROADCASTSS (AX), Y6
	VBROADCASTSS 4(AX), Y7
	VFMADD231PS (BX), Y6, Y0
	VFMADD231PS (BX)(R11*1), Y7, Y3
	LEAQ (BX)(R11*2), BX
	ADDQ $8, AX
	SUBQ $2, CX
	JNZ  fwrow1
	VADDPS Y3, Y0, Y0
	VMULPS Y15, Y0, Y0
	VMULPS (DX), Y0, Y0
	VMOVUPS Y0, (DI)
	VADDPS Y0, Y14, Y14
fwend:
	VMOVAPS Y14, Y0
	HSUM32
	MOVSS X0, ret+56(FP)
	VZEROUPPER
	RET

// func maxPlusAVX2(dst, a, m *float32, rows, n int, floor float32)
// Eight sources are held against the floor at once; the bits of those that
// live are then taken one by one. In a confident model one source lives.
TEXT ·maxPlusAVX2(SB), NOSPLIT, $0-44
	MOVQ dst+0(FP), DI
	MOVQ a+8(FP), SI
	MOVQ m+16(FP), R8
	MOVQ rows+24(FP), R9
	MOVQ n+32(FP), R10
	VBROADCASTSS floor+40(FP), Y15
	MOVQ R10, R11
	SHLQ $2, R11               // bytes a row
mpchunk:
	VMOVUPS (SI), Y0
	VCMPPS $5, Y15, Y0, Y1     // not less than floor
	VMOVMSKPS Y1, AX
mpbit:
	TESTL AX, AX
	JZ    mpnext
	BSFL  AX, BX
	VBROADCASTSS (SI)(BX*4), Y2
	IMULQ R11, BX
	ADDQ  R8, BX               // row of this source
	LEAL  -1(AX), DX
	ANDL  DX, AX
	XORQ  CX, CX
mpcol:
	VADDPS (BX)(CX*4), Y2, Y3
	VMAXPS (DI)(CX*4), Y3, Y3
	VMOVUPS Y3, (DI)(CX*4)
	ADDQ $8, CX
	CMPQ CX, R10
	JLT  mpcol
	JMP  mpbit
mpnext:
	ADDQ $32, SI
	LEAQ (R8)(R11*8), R8
	SUBQ $8, R9
	JNZ  mpchunk
	VZEROUPPER
	RET

// func bandAVX2(dst, prev, d *float32, n int)
TEXT ·bandAVX2(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ prev+8(FP), SI
	MOVQ d+16(FP), DX
	MOVQ n+24(FP), CX
	LEAQ (DX)(CX*4), R8
	LEAQ (R8)(CX*4), R9
	XORQ AX, AX
bandloop:
	VMOVUPS 8(SI)(AX*4), Y0
	VMOVUPS 4(SI)(AX*4), Y1
	VMOVUPS (SI)(AX*4), Y2
	VADDPS (DX)(AX*4), Y0, Y0
	VADDPS (R8)(AX*4), Y1, Y1
	VADDPS (R9)(AX*4), Y2, Y2
	VMAXPS Y1, Y0, Y0
	VMAXPS Y2, Y0, Y0
	VMOVUPS Y0, (DI)(AX*4)
	ADDQ $8, AX
	CMPQ AX, CX
	JLT  bandloop
	VZEROUPPER
	RET

// func argMaxAVX2(a, b *float32, n int) int
// The largest first, then the first place that equals it: the sums are made
// twice, and the same both times.
TEXT ·argMaxAVX2(SB), NOSPLIT, $0-32
	MOVQ a+0(FP), SI
	MOVQ b+8(FP), DI
	MOVQ n+16(FP), CX
	VMOVUPS (SI), Y0
	VADDPS (DI), Y0, Y0
	MOVQ $8, AX
	CMPQ AX, CX
	JGE  amtop
ammax:
	VMOVUPS (SI)(AX*4), Y2
	VADDPS (DI)(AX*4), Y2, Y2
	VMAXPS Y2, Y0, Y0
	ADDQ $8, AX
	CMPQ AX, CX
	JLT  ammax
amtop:
	HMAX32
	VBROADCASTSS X0, Y15
	XORQ AX, AX
amfind:
	VMOVUPS (SI)(AX*4), Y2
	VADDPS (DI)(AX*4), Y2, Y2
	VCMPPS $0, Y15, Y2, Y3
	VMOVMSKPS Y3, BX
	TESTL BX, BX
	JNZ  amfound
	ADDQ $8, AX
	CMPQ AX, CX
	JLT  amfind
	XORQ AX, AX                // not a number: nothing equals itself
	MOVQ AX, ret+24(FP)
	VZEROUPPER
	RET
amfound:
	BSFL BX, BX
	ADDQ BX, AX
	MOVQ AX, ret+24(FP)
	VZEROUPPER
	RET

// func addShiftAVX2(dst, e, slack *float32, n int) (largest, floor float32)
TEXT ·addShiftAVX2(SB), NOSPLIT, $0-40
	MOVQ dst+0(FP), DI
	MOVQ e+8(FP), SI
	MOVQ slack+16(FP), DX
	MOVQ n+24(FP), CX
	VBROADCASTSS ·exp32Constants+48(SB), Y0
	VMOVAPS Y0, Y13
	XORQ AX, AX
	VMOVUPS (DI), Y0
	VADDPS (SI), Y0, Y0
asadd:
	VMOVUPS (DI)(AX*4), Y2
	VADDPS (SI)(AX*4), Y2, Y2
	VMOVUPS Y2, (DI)(AX*4)
	VMAXPS Y2, Y0, Y0
	ADDQ $8, AX
	CMPQ AX, CX
	JLT  asadd
	HMAX32
	MOVSS X0, largest+32(FP)
	VBROADCASTSS X0, Y15
	VMOVAPS Y13, Y0
	XORQ AX, AX
asshift:
	VMOVUPS (DI)(AX*4), Y2
	VSUBPS Y15, Y2, Y2
	VMOVUPS Y2, (DI)(AX*4)
	VSUBPS (DX)(AX*4), Y2, Y2
	VMAXPS Y2, Y0, Y0
	ADDQ $8, AX
	CMPQ AX, CX
	JLT  asshift
	HMAX32
	MOVSS X0, floor+36(FP)
	VZEROUPPER
	RET

// func add64AVX2(dst, src *float64, n int)
TEXT ·add64AVX2(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ n+16(FP), CX
add64x4:
	CMPQ CX, $16
	JLT  add64x1
	VMOVUPD (DI), Y0
	VMOVUPD 32(DI), Y1
	VMOVUPD 64(DI), Y2
	VMOVUPD 96(DI), Y3
	VADDPD (SI), Y0, Y0
	VADDPD 32(SI), Y1, Y1
	VADDPD 64(SI), Y2, Y2
	VADDPD 96(SI), Y3, Y3
	VMOVUPD Y0, (DI)
	VMOVUPD Y1, 32(DI)
	VMOVUPD Y2, 64(DI)
	VMOVUPD Y3, 96(DI)
	ADDQ $128, DI
	ADDQ $128, SI
	SUBQ $16, CX
	JMP  add64x4
add64x1:
	TESTQ CX, CX
	JZ    add64end
	VMOVUPD (DI), Y0
	VADDPD (SI), Y0, Y0
	VMOVUPD Y0, (DI)
	ADDQ $32, DI
	ADDQ $32, SI
	SUBQ $4, CX
	JMP  add64x1
add64end:
	VZEROUPPER
	RET

// func axpy64AVX2(a float64, x, y *float64, n int)
TEXT ·axpy64AVX2(SB), NOSPLIT, $0-32
	VBROADCASTSD a+0(FP), Y15
	MOVQ x+8(FP), SI
	MOVQ y+16(FP), DI
	MOVQ n+24(FP), CX
axpyx4:
	CMPQ CX, $16
	JLT  axpyx1
	VMOVUPD (DI), Y0
	VMOVUPD 32(DI), Y1
	VMOVUPD 64(DI), Y2
	VMOVUPD 96(DI), Y3
	VFMADD231PD (SI), Y15, Y0
	VFMADD231PD 32(SI), Y15, Y1
	VFMADD231PD 64(SI), Y15, Y2
	VFMADD231PD 96(SI), Y15, Y3
	VMOVUPD Y0, (DI)
	VMOVUPD Y1, 32(DI)
	VMOVUPD Y2, 64(DI)
	VMOVUPD Y3, 96(DI)
	ADDQ $128, DI
	ADDQ $128, SI
	SUBQ $16, CX
	JMP  axpyx4
axpyx1:
	TESTQ CX, CX
	JZ    axpyend
	VMOVUPD (DI), Y0
	VFMADD231PD (SI), Y15, Y0
	VMOVUPD Y0, (DI)
	ADDQ $32, DI
	ADDQ $32, SI
	SUBQ $4, CX
	JMP  axpyx1
axpyend:
	VZEROUPPER
	RET

// func dot64AVX2(x, y *float64, n int) float64
TEXT ·dot64AVX2(SB), NOSPLIT, $0-32
	MOVQ x+0(FP), SI
	MOVQ y+8(FP), DI
	MOVQ n+16(FP), CX
	VXORPD Y0, Y0, Y0
	VXORPD Y2, Y2, Y2
	VXORPD Y3, Y3, Y3
	VXORPD Y4, Y4, Y4
dotx4:
	CMPQ CX, $16
	JLT  dotx1
	VMOVUPD (SI), Y5
	VMOVUPD 32(SI), Y6
	VMOVUPD 64(SI), Y7
	VMOVUPD 96(SI), Y8
	VFMADD231PD (DI), Y5, Y0
	VFMADD231PD 32(DI), Y6, Y2
	VFMADD231PD 64(DI), Y7, Y3
	VFMADD231PD 96(DI), Y8, Y4
	ADDQ $128, SI
	ADDQ $128, DI
	SUBQ $16, CX
	JMP  dotx4
dotx1:
	TESTQ CX, CX
	JZ    dotend
	VMOVUPD (SI), Y5
	VFMADD231PD (DI), Y5, Y0
	ADDQ $32, SI
	ADDQ $32, DI
	SUBQ $4, CX
	JMP  dotx1
dotend:
	VADDPD Y2, Y0, Y0
	VADDPD Y4, Y3, Y3
	VADDPD Y3, Y0, Y0
	HSUM64
	MOVSD X0, ret+24(FP)
	VZEROUPPER
	RET

// The exponential of float64 after Cephes: with x = n·ln 2 + r,
//   e^r = 1 + 2·r·P(r²) / (Q(r²) - r·P(r²)).
DATA exp64<>+0(SB)/8, $1.44269504088896340736
DATA exp64<>+8(SB)/8, $-6.93145751953125e-1
DATA exp64<>+16(SB)/8, $-1.42860682030941723212e-6
DATA exp64<>+24(SB)/8, $1.26177193074810590878e-4
DATA exp64<>+32(SB)/8, $3.02994407707441961300e-2
DATA exp64<>+40(SB)/8, $9.99999999999999999910e-1
DATA exp64<>+48(SB)/8, $3.00198505138664455042e-6
DATA exp64<>+56(SB)/8, $2.52448340349684104192e-3
DATA exp64<>+64(SB)/8, $2.27265548208155028766e-1
DATA exp64<>+72(SB)/8, $2.00000000000000000009
DATA exp64<>+80(SB)/8, $1.0
DATA exp64<>+88(SB)/8, $-708.0
GLOBL exp64<>(SB), RODATA|NOPTR, $96

// func shiftExp64AVX2(exp, row *float64, n int) float64
TEXT ·shiftExp64AVX2(SB), NOSPLIT, $0-32
	MOVQ exp+0(FP), DI
	MOVQ row+8(FP), SI
	MOVQ n+16(FP), CX
	MOVQ SI, AX
	MOVQ CX, BX
	VMOVUPD (SI), Y0
	JMP  se64maxnext
se64max:
	VMAXPD (AX), Y0, Y0
se64maxnext:
	ADDQ $32, AX
	SUBQ $4, BX
	JNZ  se64max
	HMAX64
	MOVSD X0, ret+24(FP)
	VBROADCASTSD X0, Y15
	VBROADCASTSD exp64<>+0(SB), Y14
	VBROADCASTSD exp64<>+8(SB), Y13
	VBROADCASTSD exp64<>+16(SB), Y12
	VBROADCASTSD exp64<>+32(SB), Y11
	VBROADCASTSD exp64<>+40(SB), Y10
	VBROADCASTSD exp64<>+56(SB), Y9
	VBROADCASTSD exp64<>+64(SB), Y8
	VBROADCASTSD exp64<>+72(SB), Y7
	VBROADCASTSD exp64<>+80(SB), Y6
	VBROADCASTSD exp64<>+88(SB), Y5
se64loop:
	VMOVUPD (SI), Y0
	VSUBPD Y15, Y0, Y0
	VMAXPD Y5, Y0, Y1
	VMULPD Y14, Y1, Y2
	VROUNDPD $8, Y2, Y2         // n
	VFMADD231PD Y13, Y2, Y1
	VFMADD231PD Y12, Y2, Y1     // r
	VCVTPD2DQY Y2, X2
	VPMOVSXDQ X2, Y2
	VPSLLQ $52, Y2, Y2
	VMULPD Y1, Y1, Y4           // r²
	VBROADCASTSD exp64<>+24(SB), Y3
	VFMADD213PD Y11, Y4, Y3
	VFMADD213PD Y10, Y4, Y3
	VMULPD Y1, Y3, Y3           // r·P
	VBROADCASTSD exp64<>+48(SB), Y1
	VFMADD213PD Y9, Y4, Y1
	VFMADD213PD Y8, Y4, Y1
	VFMADD213PD Y7, Y4, Y1      // Q
	VSUBPD Y3, Y1, Y1
	VDIVPD Y1, Y3, Y3
	VADDPD Y3, Y3, Y3
	VADDPD Y6, Y3, Y3
	VPADDQ Y2, Y3, Y3           // times 2^n
	VCMPPD $5, Y5, Y0, Y4
	VANDPD Y4, Y3, Y3
	VMOVUPD Y3, (DI)
	ADDQ $32, SI
	ADDQ $32, DI
	SUBQ $4, CX
	JNZ  se64loop
	VZEROUPPER
	RET

// func product64AVX2(dst, a, b *float64, n int, scale float64)
TEXT ·product64AVX2(SB), NOSPLIT, $0-40
	MOVQ dst+0(FP), DI
	MOVQ a+8(FP), SI
	MOVQ b+16(FP), DX
	MOVQ n+24(FP), CX
	VBROADCASTSD scale+32(FP), Y15
	XORQ AX, AX
proloop:
	VMULPD (SI)(AX*8), Y15, Y0
	VMULPD (DX)(AX*8), Y0, Y0
	VMOVUPD Y0, (DI)(AX*8)
	ADDQ $4, AX
	CMPQ AX, CX
	JLT  proloop
	VZEROUPPER
	RET

// func rowSum64AVX2(dst, a, e, m *float64, rows, n int, scale float64) float64
// Tiles of 16, 8 or 4 columns, two rows at a time.
TEXT ·rowSum64AVX2(SB), NOSPLIT, $0-64
	MOVQ dst+0(FP), DI
	MOVQ a+8(FP), SI
	MOVQ e+16(FP), DX
	MOVQ m+24(FP), R8
	MOVQ rows+32(FP), R9
	MOVQ n+40(FP), R10
	VBROADCASTSD scale+48(FP), Y15
	VXORPD Y14, Y14, Y14
	MOVQ R10, R11
	SHLQ $3, R11
rstile4:
	CMPQ R10, $16
	JLT  rstile2
	VXORPD Y0, Y0, Y0
	VXORPD Y1, Y1, Y1
	VXORPD Y2, Y2, Y2
	VXORPD Y3, Y3, Y3
	VXORPD Y4, Y4, Y4
	VXORPD Y5, Y5, Y5
	VXORPD Y6, Y6, Y6
	VXORPD Y7, Y7, Y7
	MOVQ SI, AX
	MOVQ R8, BX
	MOVQ R9, CX
rsrow4:
	VBROADCASTSD (AX), Y8
	VBROADCASTSD 8(AX), Y9
	VFMADD231PD (BX), Y8, Y0
	VFMADD231PD 32(BX), Y8, Y1
	VFMADD231PD 64(BX), Y8, Y2
	VFMADD231PD 96(BX), Y8, Y3
	VFMADD231PD (BX)(R11*1), Y9, Y4
	VFMADD231PD 32(BX)(R11*1), Y9, Y5
	VFMADD231PD 64(BX)(R11*1), Y9, Y6
	VFMADD231PD 96(BX)(R11*1), Y9, Y7
	LEAQ (BX)(R11*2), BX
	ADDQ $16, AX
	SUBQ $2, CX
	JNZ  rsrow4
	VADDPD Y4, Y0, Y0
	VADDPD Y5, Y1, Y1
	VADDPD Y6, Y2, Y2
	VADDPD Y7, Y3, Y3
	VMULPD Y15, Y0, Y0
	VMULPD Y15, Y1, Y1
	VMULPD Y15, Y2, Y2
	VMULPD Y15, Y3, Y3
	VMULPD (DX), Y0, Y0
	VMULPD 32(DX), Y1, Y1
	VMULPD 64(DX), Y2, Y2
	VMULPD 96(DX), Y3, Y3
	VMOVUPD Y0, (DI)
	VMOVUPD Y1, 32(DI)
	VMOVUPD Y2, 64(DI)
	VMOVUPD Y3, 96(DI)
	VADDPD Y0, Y14, Y14
	VADDPD Y1, Y14, Y14
	VADDPD Y2, Y14, Y14
	VADDPD Y3, Y14, Y14
	ADDQ $128, DI
	ADDQ $128, DX
	ADDQ $128, R8
	SUBQ $16, R10
	JMP  rstile4
rstile2:
	CMPQ R10, $8
	JLT  rstile1
	VXORPD Y0, Y0, Y0
	VXORPD Y1, Y1, Y1
	VXORPD Y4, Y4, Y4
	VXORPD Y5, Y5, Y5
	MOVQ SI, AX
	MOVQ R8, BX
	MOVQ R9, CX
rsrow2:
	VBROADCASTSD (AX), Y8
	VBROADCASTSD 8(AX), Y9
	VFMADD231PD (BX), Y8, Y0
	VFMADD231PD 32(BX), Y8, Y1
	VFMADD231PD (BX)(R11*1), Y9, Y4
	VFMADD231PD 32(BX)(R11*1), Y9, Y5
	LEAQ (BX)(R11*2), BX
	ADDQ $16, AX
	SUBQ $2, CX
	JNZ  rsrow2
	VADDPD Y4, Y0, Y0
	VADDPD Y5, Y1, Y1
	VMULPD Y15, Y0, Y0
	VMULPD Y15, Y1, Y1
	VMULPD (DX), Y0, Y0
	VMULPD 32(DX), Y1, Y1
	VMOVUPD Y0, (DI)
	VMOVUPD Y1, 32(DI)
	VADDPD Y0, Y14, Y14
	VADDPD Y1, Y14, Y14
	ADDQ $64, DI
	ADDQ $64, DX
	ADDQ $64, R8
	SUBQ $8, R10
rstile1:
	TESTQ R10, R10
	JZ    rsend
	VXORPD Y0, Y0, Y0
	VXORPD Y4, Y4, Y4
	MOVQ SI, AX
	MOVQ R8, BX
	MOVQ R9, CX
rsrow1:
	VBROADCASTSD (AX), Y8
	VBROADCASTSD 8(AX), Y9
	VFMADD231PD (BX), Y8, Y0
	VFMADD231PD (BX)(R11*1), Y9, Y4
	LEAQ (BX)(R11*2), BX
	ADDQ $16, AX
	SUBQ $2, CX
	JNZ  rsrow1
	VADDPD Y4, Y0, Y0
	VMULPD Y15, Y0, Y0
	VMULPD (DX), Y0, Y0
	VMOVUPD Y0, (DI)
	VADDPD Y0, Y14, Y14
rsend:
	VMOVAPD Y14, Y0
	HSUM64
	MOVSD X0, ret+56(FP)
	VZEROUPPER
	RET

// func outer64AVX2(m, a, b *float64, steps, width int)
// Four rows by eight columns of m stay in registers while t runs.
TEXT ·outer64AVX2(SB), NOSPLIT, $0-40
	MOVQ m+0(FP), DI
	MOVQ a+8(FP), SI
	MOVQ steps+24(FP), R9
	MOVQ width+32(FP), R10
	MOVQ R10, R11
	SHLQ $3, R11               // bytes a row
	MOVQ R10, R12              // rows left
outrows:
	MOVQ b+16(FP), DX
	MOVQ R10, R13              // columns left
	MOVQ DI, R14
outcols:
	CMPQ R13, $8
	JLT  outcol1
	VMOVUPD (R14), Y0
	VMOVUPD 32(R14), Y1
	VMOVUPD (R14)(R11*1), Y2
	VMOVUPD 32(R14)(R11*1), Y3
	LEAQ (R14)(R11*2), R8
	VMOVUPD (R8), Y4
	VMOVUPD 32(R8), Y5
	VMOVUPD (R8)(R11*1), Y6
	VMOVUPD 32(R8)(R11*1), Y7
	MOVQ SI, AX
	MOVQ DX, BX
	MOVQ R9, CX
outt2:
	VMOVUPD (BX), Y8
	VMOVUPD 32(BX), Y9
	VBROADCASTSD (AX), Y10
	VBROADCASTSD 8(AX), Y11
	VBROADCASTSD 16(AX), Y12
	VBROADCASTSD 24(AX), Y13
	VFMADD231PD Y8, Y10, Y0
	VFMADD231PD Y9, Y10, Y1
	VFMADD231PD Y8, Y11, Y2
	VFMADD231PD Y9, Y11, Y3
	VFMADD231PD Y8, Y12, Y4
	VFMADD231PD Y9, Y12, Y5
	VFMADD231PD Y8, Y13, Y6
	VFMADD231PD Y9, Y13, Y7
	ADDQ R11, AX
	ADDQ R11, BX
	DECQ CX
	JNZ  outt2
	VMOVUPD Y0, (R14)
	VMOVUPD Y1, 32(R14)
	VMOVUPD Y2, (R14)(R11*1)
	VMOVUPD Y3, 32(R14)(R11*1)
	VMOVUPD Y4, (R8)
	VMOVUPD Y5, 32(R8)
	VMOVUPD Y6, (R8)(R11*1)
	VMOVUPD Y7, 32(R8)(R11*1)
	ADDQ $64, R14
	ADDQ $64, DX
	SUBQ $8, R13
	JMP  outcols
outcol1:
	TESTQ R13, R13
	JZ    outnext
	VMOVUPD (R14), Y0
	VMOVUPD (R14)(R11*1), Y2
	LEAQ (R14)(R11*2), R8
	VMOVUPD (R8), Y4
	VMOVUPD (R8)(R11*1), Y6
	MOVQ SI, AX
	MOVQ DX, BX
	MOVQ R9, CX
outt1:
	VMOVUPD (BX), Y8
	VBROADCASTSD (AX), Y10
	VBROADCASTSD 8(AX), Y11
	VBROADCASTSD 16(AX), Y12
	VBROADCASTSD 24(AX), Y13
	VFMADD231PD Y8, Y10, Y0
	VFMADD231PD Y8, Y11, Y2
	VFMADD231PD Y8, Y12, Y4
	VFMADD231PD Y8, Y13, Y6
	ADDQ R11, AX
	ADDQ R11, BX
	DECQ CX
	JNZ  outt1
	VMOVUPD Y0, (R14)
	VMOVUPD Y2, (R14)(R11*1)
	VMOVUPD Y4, (R8)
	VMOVUPD Y6, (R8)(R11*1)
outnext:
	LEAQ (DI)(R11*4), DI
	ADDQ $32, SI
	SUBQ $4, R12
	JNZ  outrows
	VZEROUPPER
	RET
