package kernels

// Cell is LSTM for those who go no way back: c is the memory before and after,
// gates and squashed are scratch, and codes receives h as the next product wants
// it, see Codes.
func Cell(gates, c, squashed, h []float32, codes []byte) {
	n := len(c)
	gates, h, codes = gates[:4*n], h[:n], codes[:n]
	if portable || avx512 {
		LSTM(gates, c, c, squashed, h)
		Codes(codes, h, CodesMost)
		return
	}
	cellAVX2(&gates[0], &c[0], &h[0], &codes[0], n)
}
