package kernels

//go:noescape
func cellAVX2(gates, c, h *float32, codes *byte, n int)

//go:noescape
func cellsAVX512(gates, c, h *float32, codes *byte, n, rows, stride int)
