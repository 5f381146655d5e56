//go:build !amd64

package kernels

const vnni = false

func codesVNNI(dst *byte, x *float32, n int, scale float32)       { unreachable() }
func codesAVX2(dst *byte, x *float32, n int, scale float32)       { unreachable() }
func quantizedVNNI(c *float32, a *byte, m int, p *quantizedPanel) { unreachable() }
func quantized4AVX2(c *float32, a *byte, p *quantizedPanel)       { unreachable() }
func quantized1AVX2(c *float32, a *byte, p *quantizedPanel)       { unreachable() }
func mostAVX2(x *float32, n int) float32                          { return unreachable() }
