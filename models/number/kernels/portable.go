package kernels

import "math"

func addGo(dst, src []float32) {
	for i, v := range src {
		dst[i] += v
	}
}

func addRowsGo(dst []float32, stride int, src []float32, width int) {
	for r := 0; r*width < len(src); r++ {
		addGo(dst[r*stride:], src[r*width:(r+1)*width])
	}
}

func probeGo(at []int32, hash []uint64, tags [][Ways]uint32) {
	for i, h := range hash {
		set, tag := h>>32*uint64(len(tags))>>32, uint32(h)|1
		at[i] = -1
		for w, t := range &tags[set] {
			if t == tag {
				at[i] = int32(set)*Ways + int32(w)
				break
			}
		}
	}
}

func shiftExpGo(exp, row []float32) float32 {
	m := row[0]
	for _, v := range row[1:] {
		m = max(m, v)
	}
	for i, v := range row {
		v -= m
		row[i] = v
		exp[i] = exp32(v)
	}
	return m
}

// Constants of the exponential after Cephes: x = n·ln 2 + r with |r| ≤ ln 2/2,
// ln 2 in two parts so that r keeps its digits.
const (
	log2e = 1.44269504088896341
	ln2Hi = 0.693359375
	ln2Lo = -2.12194440e-4
	under = -87 // float32 loses digits below
)

// exp32 is the same polynomial as the assembly's, for x ≤ 0.
func exp32(x float32) float32 {
	if x < under {
		return 0
	}
	n := float32(math.RoundToEven(float64(x * log2e)))
	r := x - n*ln2Hi - n*ln2Lo
	p := float32(1.9875691500e-4)
	p = p*r + 1.3981999507e-3
	p = p*r + 8.3334519073e-3
	p = p*r + 4.1665795894e-2
	p = p*r + 1.6666665459e-1
	p = p*r + 5.0000001201e-1
	p = p*r*r + r + 1
	return p * math.Float32frombits(uint32(int32(n)+127)<<23)
}

// log32 is the logarithm of a normal number after Cephes: x = 2^e·(1+m) with
// 1+m between √½ and √2, and a polynomial in m.
func log32(x float32) float32 {
	const half = 126 << 23
	bits := math.Float32bits(x)
	e := float32(int32(bits>>23) - 126)
	m := math.Float32frombits(bits&(1<<23-1)|half) - 1
	if m < math.Sqrt2/2-1 {
		e--
		m += m + 1
	}
	z := m * m
	p := float32(7.0376836292e-2)
	p = p*m - 1.1514610310e-1
	p = p*m + 1.1676998740e-1
	p = p*m - 1.2420140846e-1
	p = p*m + 1.4249322787e-1
	p = p*m - 1.6668057665e-1
	p = p*m + 2.0000714765e-1
	p = p*m - 2.4999993993e-1
	p = p*m + 3.3333331174e-1
	p = p*m*z + e*ln2Lo - z/2
	return m + p + e*ln2Hi
}

func logGo(x []float32, floor float32) {
	for i, v := range x {
		x[i] = log32(max(v, floor))
	}
}

func forwardGo(dst, prev, e, m []float32, scale float32) float32 {
	clear(dst)
	for i, a := range prev {
		if a == 0 {
			continue
		}
		row := m[i*len(dst):][:len(dst)]
		for j, v := range row {
			dst[j] += a * v
		}
	}
	sum := float32(0)
	for j := range dst {
		dst[j] *= e[j] * scale
		sum += dst[j]
	}
	return sum
}

func maxPlusGo(dst, a, m []float32, floor float32) {
	for i, v := range a {
		if v < floor {
			continue
		}
		row := m[i*len(dst):][:len(dst)]
		for j, w := range row {
			dst[j] = max(dst[j], v+w)
		}
	}
}

func bandGo(dst, prev, d []float32) {
	n := len(dst)
	d0, d1, d2 := d[:n], d[n:2*n], d[2*n:]
	for j := range dst {
		dst[j] = max(prev[j+2]+d0[j], prev[j+1]+d1[j], prev[j]+d2[j])
	}
}

func argMaxGo(a, b []float32) int {
	at, top := 0, a[0]+b[0]
	for i, v := range b {
		if v += a[i]; v > top {
			at, top = i, v
		}
	}
	return at
}

func addShiftGo(dst, e, slack []float32) (largest, floor float32) {
	largest = dst[0] + e[0]
	for j, v := range e {
		dst[j] += v
		largest = max(largest, dst[j])
	}
	floor = Forbidden
	for j, v := range slack {
		dst[j] -= largest
		floor = max(floor, dst[j]-v)
	}
	return largest, floor
}

func add64Go(dst, src []float64) {
	for i, v := range src {
		dst[i] += v
	}
}

func axpy64Go(a float64, x, y []float64) {
	for i, v := range x {
		y[i] += a * v
	}
}

func dot64Go(x, y []float64) (sum float64) {
	for i, v := range x {
		sum += v * y[i]
	}
	return sum
}

func shiftExp64Go(exp, row []float64) float64 {
	m := row[0]
	for _, v := range row[1:] {
		m = max(m, v)
	}
	for i, v := range row {
		exp[i] = math.Exp(v - m)
	}
	return m
}

func product64Go(dst, a, b []float64, scale float64) {
	for i, v := range a {
		dst[i] = scale * v * b[i]
	}
}

func rowSum64Go(dst, a, e, m []float64, scale float64) float64 {
	clear(dst)
	for i, v := range a {
		row := m[i*len(dst):][:len(dst)]
		for j, w := range row {
			dst[j] += v * w
		}
	}
	sum := 0.0
	for j := range dst {
		dst[j] *= e[j] * scale
		sum += dst[j]
	}
	return sum
}

func outer64Go(m, a, b []float64, steps, width int) {
	for t := range steps {
		x, y := a[t*width:][:width], b[t*width:][:width]
		for i, v := range x {
			axpy64Go(v, y, m[i*width:][:width])
		}
	}
}
