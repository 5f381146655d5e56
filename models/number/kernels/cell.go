package kernels

// Cells computes one LSTM step for inference, for several sequences at once; unlike LSTM it keeps nothing for a
// backward pass. gates is [rows][4·n] and is overwritten. c is [rows][n], the memory cell before and after the step; n
// is a multiple of Lanes. The output h has rows stride numbers apart; codes, [rows][n], receives h quantized for the
// next product (see Codes).
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
