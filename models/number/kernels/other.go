//go:build !amd64

package kernels

import "unsafe"

func simdAvailable() bool { return false }

// The portable code is used throughout; these satisfy the compiler and are
// never reached.

func probeAVX2(_ *int32, _ *uint64, _ int, _ *[Ways]uint32, _ int, _ unsafe.Pointer) { unreachable() }
func prefetch(x *float32, bytes int)                                                 { unreachable() }
func prefetchWrite(x *float32, bytes int)                                            { unreachable() }
func addAVX2(dst, src *float32, n int)                                               { unreachable() }
func addRowsAVX2(_ *float32, stride int, _ *float32, width, rows int)                { unreachable() }
func shiftExpAVX2(exp, row *float32, n int) float32                                  { return unreachable() }
func logAVX2(x *float32, n int, floor float32)                                       { unreachable() }
func forwardAVX2(_, _, _, _ *float32, rows, n int, s float32) float32                { return unreachable() }
func maxPlusAVX2(dst, a, m *float32, rows, n int, floor float32)                     { unreachable() }
func bandAVX2(dst, prev, d *float32, n int)                                          { unreachable() }
func argMaxAVX2(a, b *float32, n int) int                                            { return int(unreachable()) }
func addShiftAVX2(dst, e, slack *float32, n int) (x, floor float32)                  { return unreachable(), 0 }
func add64AVX2(dst, src *float64, n int)                                             { unreachable() }
func axpy64AVX2(a float64, x, y *float64, n int)                                     { unreachable() }
func dot64AVX2(x, y *float64, n int) float64                                         { return float64(unreachable()) }
func shiftExp64AVX2(exp, row *float64, n int) float64                                { return float64(unreachable()) }
func product64AVX2(dst, a, b *float64, n int, scale float64)                         { unreachable() }
func rowSum64AVX2(_, _, _, _ *float64, rows, n int, s float64) float64               { return float64(unreachable()) }
func outer64AVX2(m, a, b *float64, steps, width int)                                 { unreachable() }

func unreachable() float32 { panic("kernels: no assembly on this machine") }
