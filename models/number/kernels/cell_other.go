//go:build !amd64

package kernels

func cellAVX2(gates, c, h *float32, codes *byte, n int)                  { unreachable() }
func cellsAVX512(gates, c, h *float32, codes *byte, n, rows, stride int) { unreachable() }
