package kernels

// Cells is LSTM for those who go no way back, for as many sequences as there are rows
// of n units, a multiple of Lanes: gates is [rows][4·n] and scratch afterwards, c,
// [rows][n], the memory before and after. Rows of h are stride numbers apart; codes,
// [rows][n], receives h as the next product wants it, see Codes.
func Cells(gates, c, h []float32, stride int, codes []byte, n, rows int) {
	if rows == 0 {
		return
	}
	gates, c, h, codes = gates[:4*n*rows], c[:n*rows], h[:(rows-1)*stride+n], codes[:n*rows]
	if avx512 && !portable {
		cellsAVX512(&gates[0], &c[0], &h[0], &codes[0], n, rows, 4*stride)
		return
	}
	for k := range rows {
		cell(gates[k*4*n:][:4*n], c[k*n:][:n], h[k*stride:][:n], codes[k*n:][:n])
	}
}

// cell is Cells for one row.
func cell(gates, c, h []float32, codes []byte) {
	if portable {
		lstmGo(gates, c, c, gates[:len(c)], h)
		Codes(codes, h, CodesMost)
		return
	}
	cellAVX2(&gates[0], &c[0], &h[0], &codes[0], len(c))
}
