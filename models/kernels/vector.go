package kernels

// Dot returns Σ x(i)·y(i). len(x) is a multiple of Lanes.
func Dot(x, y []float32) float32 {
	if len(x) == 0 {
		return 0
	}
	y = y[:len(x)]
	if portable {
		return dotGo(x, y)
	}
	return dotAVX2(&x[0], &y[0], len(x))
}

// Axpy adds a·x to y, with fused additions where the machine has them (unlike
// AddScaled). len(x) is a multiple of Lanes.
func Axpy(a float32, x, y []float32) {
	if len(x) == 0 {
		return
	}
	y = y[:len(x)]
	if portable {
		AddScaled(y, a, x)
		return
	}
	axpyAVX2(&y[0], &x[0], a, len(x))
}

// Exchange is the update of one pair in negative sampling, in one pass over
// memory: the error of the input takes from the output row as it was, the
// output row takes from the input.
//
//	err(i) += a·out(i); out(i) += a·in(i)
//
// All have the length of in, a multiple of Lanes; err and out are different.
func Exchange(err, out, in []float32, a float32) {
	if len(in) == 0 {
		return
	}
	err, out = err[:len(in)], out[:len(in)]
	if portable {
		exchangeGo(err, out, in, a)
		return
	}
	exchangeAVX2(&err[0], &out[0], &in[0], a, len(in))
}

// TileRows and TileColumns are the shape of Tile's result: four rows of two
// registers keep eight sums in flight, which is what two multipliers with a
// delay of four cycles need.
const (
	TileRows    = 4
	TileColumns = 16
)

// Tile multiplies a small matrix:
//
//	dst(i, j) = Σ_k a(i, k) · b(k, j)
//
// a is [TileRows][n], b is [n][TileColumns]. n is what b has room for.
func Tile(dst *[TileRows * TileColumns]float32, a, b []float32) {
	n := len(b) / TileColumns
	if n == 0 {
		*dst = [TileRows * TileColumns]float32{}
		return
	}
	a = a[:TileRows*n]
	if portable {
		tileGo(dst, a, b, n)
		return
	}
	tileAVX2(&dst[0], &a[0], &b[0], n)
}

func dotGo(x, y []float32) float32 {
	var s0, s1 float32 // two sums: half the delay
	for i := 0; i+1 < len(x); i += 2 {
		s0 += x[i] * y[i]
		s1 += x[i+1] * y[i+1]
	}
	return s0 + s1
}

func exchangeGo(err, out, in []float32, a float32) {
	for i, v := range in {
		o := out[i]
		err[i] += a * o
		out[i] = o + a*v
	}
}

func tileGo(dst *[TileRows * TileColumns]float32, a, b []float32, n int) {
	clear(dst[:])
	for i := range TileRows {
		row := dst[i*TileColumns:][:TileColumns]
		for k, v := range a[i*n:][:n] {
			for j, w := range b[k*TileColumns:][:TileColumns] {
				row[j] += v * w
			}
		}
	}
}
