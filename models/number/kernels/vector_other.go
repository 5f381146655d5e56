//go:build !amd64

package kernels

func dotAVX2(x, y *float32, n int) float32                                             { return unreachable() }
func axpyAVX2(y, x *float32, a float32, n int)                                         { unreachable() }
func windowAVX2(dst, in, out *float32, width int, inputs *int32, n int, s *windowStep) { unreachable() }
func tileAVX2(dst, a, b *float32, n int)                                               { unreachable() }
func narrowAVX2(dst *int16, x *float32, scale float32, n int)                          { unreachable() }
func widenAVX2(dst, from *float32, x *int16, scale float32, n int)                     { unreachable() }
func axpyCodesAVX2(y *float32, x *int8, a, scale float32, n int)                       { unreachable() }
