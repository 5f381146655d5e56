#include "textflag.h"

// The cell of a recurrent network that only reads, see cell.go. With e = exp(-x) for
// a gate and exp(-2x) for what goes through tanh, σ is 1/(1+e) and tanh (1-e)/(1+e), so
// that the memory and the state are one division each:
//
//	c = (c·(1+i)(1+g) + (1-g)(1+f)) / ((1+i)(1+g)(1+f)),  h = (1-c) / ((1+o)(1+c))
//
// with i, f, g, o, c on the right for their e. Exponents are at most 2⁴⁰, whose
// third power is no infinity.

DATA cellConstants<>+0(SB)/4, $-1.44269504088896341    // -log₂ e
DATA cellConstants<>+4(SB)/4, $-2.88539008177792682
DATA cellConstants<>+8(SB)/4, $40.0
DATA cellConstants<>+12(SB)/4, $-40.0
DATA cellConstants<>+16(SB)/4, $12582912.0             // 1.5·2²³: what is added to it is rounded
DATA cellConstants<>+20(SB)/4, $1.33813025e-3          // (2ˣ-1)/x at Chebyshev's places of [-½, ½], 2·10⁻⁷ of 2ˣ off
DATA cellConstants<>+24(SB)/4, $9.66636852e-3
DATA cellConstants<>+28(SB)/4, $5.55038101e-2
DATA cellConstants<>+32(SB)/4, $2.4022349e-1
DATA cellConstants<>+36(SB)/4, $6.93147181e-1
DATA cellConstants<>+40(SB)/4, $1.0
DATA cellConstants<>+44(SB)/4, $63.0                   // see codesMost
DATA cellConstants<>+48(SB)/4, $64
GLOBL cellConstants<>(SB), RODATA|NOPTR, $52

// x becomes 2^(x·k); t and p are scratch.
#define POWER(k, x, t, p) \
	VMULPS k, x, x; \
	VMINPS Y14, x, x; \
	VMAXPS Y13, x, x; \
	VADDPS Y12, x, t; \
	VSUBPS Y12, t, p; \
	VSUBPS p, x, x; \
	VPSLLD $23, t, t; \
	VMOVAPS Y11, p; \
	VFMADD213PS Y10, x, p; \
	VFMADD213PS Y9, x, p; \
	VFMADD213PS Y8, x, p; \
	VFMADD213PS Y7, x, p; \
	VFMADD213PS Y6, x, p; \
	VPADDD t, p, x

// func cellAVX2(gates, c, h *float32, codes *byte, n int)
// Memory first, then state: in one loop each waited for the other.
TEXT ·cellAVX2(SB), NOSPLIT, $0-40
	MOVQ gates+0(FP), R8
	MOVQ c+8(FP), DI
	MOVQ h+16(FP), R12
	MOVQ codes+24(FP), DX
	MOVQ n+32(FP), CX
	SHLQ $2, CX
	LEAQ (R8)(CX*1), R9
	LEAQ (R9)(CX*1), R10
	LEAQ (R10)(CX*1), R11
	VBROADCASTSS cellConstants<>+0(SB), Y15
	VBROADCASTSS cellConstants<>+8(SB), Y14
	VBROADCASTSS cellConstants<>+12(SB), Y13
	VBROADCASTSS cellConstants<>+16(SB), Y12
	VBROADCASTSS cellConstants<>+20(SB), Y11
	VBROADCASTSS cellConstants<>+24(SB), Y10
	VBROADCASTSS cellConstants<>+28(SB), Y9
	VBROADCASTSS cellConstants<>+32(SB), Y8
	VBROADCASTSS cellConstants<>+36(SB), Y7
	VBROADCASTSS cellConstants<>+40(SB), Y6
	VBROADCASTSS cellConstants<>+4(SB), Y5
	XORQ AX, AX
cellmemory:
	VMOVUPS (R8)(AX*1), Y0     // i
	POWER(Y15, Y0, Y3, Y4)
	VMOVUPS (R9)(AX*1), Y1     // f
	POWER(Y15, Y1, Y3, Y4)
	VMOVUPS (R10)(AX*1), Y2    // g
	POWER(Y5, Y2, Y3, Y4)
	VADDPS Y6, Y0, Y0
	VADDPS Y6, Y1, Y1
	VADDPS Y6, Y2, Y3
	VSUBPS Y2, Y6, Y2
	VMULPS Y3, Y0, Y0          // (1+i)(1+g)
	VMULPS (DI)(AX*1), Y0, Y4
	VFMADD231PS Y1, Y2, Y4
	VMULPS Y1, Y0, Y0
	VDIVPS Y0, Y4, Y4
	VMOVUPS Y4, (DI)(AX*1)
	ADDQ $32, AX
	CMPQ AX, CX
	JLT  cellmemory
	XORQ AX, AX
cellstate:
	VMOVUPS (R11)(AX*1), Y0    // o
	POWER(Y15, Y0, Y3, Y4)
	VMOVUPS (DI)(AX*1), Y1     // c
	POWER(Y5, Y1, Y3, Y4)
	VADDPS Y6, Y0, Y0
	VADDPS Y6, Y1, Y2
	VSUBPS Y1, Y6, Y1
	VMULPS Y2, Y0, Y0
	VDIVPS Y0, Y1, Y1
	VMOVUPS Y1, (R12)(AX*1)
	VBROADCASTSS cellConstants<>+44(SB), Y2
	VMULPS Y2, Y1, Y1
	VCVTPS2DQ Y1, Y1
	VPBROADCASTD cellConstants<>+48(SB), Y2
	VPADDD Y2, Y1, Y1
	VEXTRACTI128 $1, Y1, X2
	VPACKSSDW X2, X1, X1
	VPACKUSWB X1, X1, X1
	VMOVQ X1, (DX)
	ADDQ $8, DX
	ADDQ $32, AX
	CMPQ AX, CX
	JLT  cellstate
	VZEROUPPER
	RET

// In sixteen lanes, with the same bits; constants in Z8 to Z11, Z14, Z15 and Z24 to Z28.
// r is the whole part of the exponent, p the power of the rest.
#define POWER16(k, x, r, p) \
	VMULPS k, x, x; \
	VRANGEPS $2, Z14, x, x; \
	VRNDSCALEPS $0, x, r; \
	VSUBPS r, x, x; \
	VMOVAPS Z11, p; \
	VFMADD213PS Z10, x, p; \
	VFMADD213PS Z9, x, p; \
	VFMADD213PS Z8, x, p; \
	VFMADD213PS Z25, x, p; \
	VFMADD213PS Z24, x, p; \
	VSCALEFPS r, p, x

// func cellsAVX512(gates, c, h *float32, codes *byte, n, rows, stride int)
// Memory first, then state, as above. The last lanes of a number of units that is no
// multiple of sixteen are masked.
TEXT ·cellsAVX512(SB), NOSPLIT, $0-56
	MOVQ gates+0(FP), R8
	MOVQ c+8(FP), DI
	MOVQ h+16(FP), R12
	MOVQ codes+24(FP), DX
	MOVQ n+32(FP), BX
	MOVQ rows+40(FP), R13
	MOVQ stride+48(FP), R15
	VBROADCASTSS cellConstants<>+0(SB), Z15
	VBROADCASTSS cellConstants<>+8(SB), Z14
	VBROADCASTSS cellConstants<>+20(SB), Z11
	VBROADCASTSS cellConstants<>+24(SB), Z10
	VBROADCASTSS cellConstants<>+28(SB), Z9
	VBROADCASTSS cellConstants<>+32(SB), Z8
	VBROADCASTSS cellConstants<>+36(SB), Z25
	VBROADCASTSS cellConstants<>+40(SB), Z24
	VBROADCASTSS cellConstants<>+4(SB), Z26
	VBROADCASTSS cellConstants<>+44(SB), Z27
	VPBROADCASTD cellConstants<>+48(SB), Z28
	LEAQ (BX*4), SI            // bytes of a gate
	LEAQ (SI)(SI*2), R11
cells512row:
	MOVQ BX, CX                // units left
	XORQ AX, AX
	MOVL $0xffff, R10
	KMOVW R10, K1
cells512memory:
	CMPQ CX, $16
	JGE  cells512memorywhole
	MOVL $0x00ff, R10
	KMOVW R10, K1
cells512memorywhole:
	LEAQ (R8)(AX*1), R9
	VMOVUPS.Z (R9), K1, Z0          // i
	VMOVUPS.Z (R9)(SI*1), K1, Z1    // f
	VMOVUPS.Z (R9)(SI*2), K1, Z2    // g
	POWER16(Z15, Z0, Z4, Z5)
	POWER16(Z15, Z1, Z6, Z7)
	POWER16(Z26, Z2, Z16, Z17)
	VADDPS Z24, Z0, Z0
	VADDPS Z24, Z1, Z1
	VADDPS Z24, Z2, Z4
	VSUBPS Z2, Z24, Z2
	VMULPS Z4, Z0, Z0               // (1+i)(1+g)
	VMOVUPS.Z (DI)(AX*1), K1, Z5
	VMULPS Z5, Z0, Z5
	VFMADD231PS Z1, Z2, Z5
	VMULPS Z1, Z0, Z0
	VDIVPS Z0, Z5, Z5               // c
	VMOVUPS Z5, K1, (DI)(AX*1)
	ADDQ $64, AX
	SUBQ $16, CX
	JG   cells512memory
	MOVQ BX, CX
	XORQ AX, AX
	MOVL $0xffff, R10
	KMOVW R10, K1
	LEAQ (R8)(R11*1), R9
cells512state:
	CMPQ CX, $16
	JGE  cells512statewhole
	MOVL $0x00ff, R10
	KMOVW R10, K1
cells512statewhole:
	VMOVUPS.Z (R9)(AX*1), K1, Z3   // o
	VMOVUPS.Z (DI)(AX*1), K1, Z5   // c
	POWER16(Z15, Z3, Z18, Z19)
	POWER16(Z26, Z5, Z6, Z7)
	VADDPS Z24, Z3, Z3
	VADDPS Z24, Z5, Z6
	VSUBPS Z5, Z24, Z5
	VMULPS Z6, Z3, Z3
	VDIVPS Z3, Z5, Z5               // h
	VMOVUPS Z5, K1, (R12)(AX*1)
	VMULPS Z27, Z5, Z5
	VCVTPS2DQ Z5, Z5
	VPADDD Z28, Z5, Z5
	VPMOVDB Z5, K1, (DX)
	ADDQ $16, DX
	ADDQ $64, AX
	SUBQ $16, CX
	JG   cells512state
	ADDQ CX, DX                     // none, or the lanes that there were not
	LEAQ (R8)(SI*4), R8
	ADDQ SI, DI
	ADDQ R15, R12
	DECQ R13
	JNZ  cells512row
	VZEROUPPER
	RET
