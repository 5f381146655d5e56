//go:build !amd64

package kernels

const avx512 = false

func panelWidth(_, _ int) int { return int(unreachable()) }

func gemmColumns(_ []float32, _ int, _, _ []float32, _ int, _ []float32, _ int, _, _, _ int) {
	unreachable()
}

func packAVX2(dst, b *float32, k, lines, ldb int)                   { unreachable() }
func transposeAVX2(dst, src *float32, squares, rows, stride int)    { unreachable() }
func multiplyAVX2(dst, x, y *float32, n int)                        { unreachable() }
func largestAVX2(_ *float32, at *int32, _ *float32, n int, _ int32) { unreachable() }
func gemvAVX2(c, a, b *float32, k, n, ldb int)                      { unreachable() }
func lstmAVX512(gates, before, c, squashed, h *float32, n int)      { unreachable() }
func lstmAVX2(gates, before, c, squashed, h *float32, n int)        { unreachable() }
func lstmBackAVX2(gates, before, squashed, dh, dc *float32, n int)  { unreachable() }
func adamAVX2(w, grad, m, v *float32, n int, s *AdamStep)           { unreachable() }
