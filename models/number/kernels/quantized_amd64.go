package kernels

import "github.com/klauspost/cpuid/v2"

// vnni tells whether four products of bytes and their sum are one instruction
// on registers of 64 bytes.
var vnni = simdAvailable() && cpuid.CPU.Supports(cpuid.AVX512F, cpuid.AVX512BW, cpuid.AVX512VL, cpuid.AVX512VNNI)

//go:noescape
func codesVNNI(dst *byte, x *float32, n int, scale float32)

//go:noescape
func codesAVX2(dst *byte, x *float32, n int, scale float32)

//go:noescape
func quantizedVNNI(c *float32, a *byte, m int, p *quantizedPanel)

//go:noescape
func quantized4AVX2(c *float32, a *byte, p *quantizedPanel)

//go:noescape
func quantized1AVX2(c *float32, a *byte, p *quantizedPanel)

//go:noescape
func mostAVX2(x *float32, n int) float32
