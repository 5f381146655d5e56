package kernels

import "math"

// Quantized is a matrix b for products whose rows are few: eight bits a number
// and a scale a column, so that the matrix stays in the caches next to the
// processor, which a product of one row does nothing but wait for. Rows of a have
// sixteen bits a number, see Codes.
//
//	c(i, j) += scale(i) · scales(j) · Σ_k a(i, k) · b(k, j)
//
// The sum is of whole numbers and exact, whatever code the machine runs.
type Quantized struct {
	rows, columns int
	codes         []int8    // [rows][columns]
	scales        []float32 // [columns]

	panels8  []int8  // [columns/32][rows/4][32][4], where there is VPDPBUSD
	offsets  []int32 // [columns] what that has too much, see codesOffset
	panels16 []int16 // [columns/32][rows/2][32][2], elsewhere
}

const (
	panelColumns  = 32
	quantizedRows = 512 // more could be too much for 32 bits: 512·127·32767 < 2³¹
	codesMost     = math.MaxInt16
	codesOffset   = 1 << 15 // VPDPBUSD takes rows of a without sign
)

// Quantize returns b, [rows][columns], with eight bits a number; nil if rows is
// no multiple of Lanes up to 512, or columns none of 32.
func Quantize(b []float32, rows, columns int) *Quantized {
	if rows%Lanes != 0 || rows > quantizedRows || columns%panelColumns != 0 {
		return nil
	}
	q := &Quantized{rows: rows, columns: columns, codes: make([]int8, rows*columns), scales: make([]float32, columns)}
	for j := range columns {
		most := float32(0)
		for i := range rows {
			v := b[i*columns+j]
			most = max(most, v, -v)
		}
		if most == 0 {
			continue
		}
		q.scales[j] = most / math.MaxInt8
		for i := range rows {
			q.codes[i*columns+j] = int8(math.RoundToEven(float64(b[i*columns+j] / q.scales[j])))
		}
	}
	q.pack()
	return q
}

// pack lays the numbers as the assembly reads them.
func (q *Quantized) pack() {
	switch {
	case portable:
	case vnni:
		q.panels8 = interleave[int8](q, 4)
		q.offsets = make([]int32, q.columns)
		for at, c := range q.codes {
			q.offsets[at%q.columns] += codesOffset * int32(c)
		}
	default:
		q.panels16 = interleave[int16](q, 2)
	}
}

// interleave puts so many rows side by side: [columns/32][rows/together][32][together].
func interleave[T int8 | int16](q *Quantized, together int) []T {
	all := make([]T, 0, len(q.codes))
	for panel := 0; panel < q.columns; panel += panelColumns {
		for row := 0; row < q.rows; row += together {
			for j := range panelColumns {
				for i := range together {
					all = append(all, T(q.codes[(row+i)*q.columns+panel+j]))
				}
			}
		}
	}
	return all
}

// Codes is how many bytes a row of a product with q takes.
func (q *Quantized) Codes() int { return 2 * q.rows }

// Codes writes x·scale, rounded, at most ±32767, with sixteen bits a number to
// dst, 2·len(x) bytes in the order that this machine's products want. len(x) is a
// multiple of Lanes.
func Codes(dst []byte, x []float32, scale float32) {
	if len(x) == 0 {
		return
	}
	dst = dst[:2*len(x)]
	switch {
	case portable:
		codesGo(dst, x, scale)
	case vnni:
		codesVNNI(&dst[0], &x[0], len(x), scale)
	default:
		codesAVX2(&dst[0], &x[0], len(x), scale)
	}
}

// CodesScale returns the scale at which the codes of x are most exact, and what
// undoes it. len(x) is a multiple of Lanes.
func CodesScale(x []float32) (scale, back float32) {
	most := float32(0)
	switch {
	case len(x) == 0:
	case portable:
		for _, v := range x {
			most = max(most, v, -v)
		}
	default:
		most = mostAVX2(&x[0], len(x))
	}
	if most == 0 {
		return 0, 0
	}
	return codesMost / most, most / codesMost
}

// Gemm adds the product of m rows of codes with q to rows of c, ldc numbers
// apart. scale has what undoes the scale of each row, or one number for all. A
// row has the same bits whatever rows stand beside it.
func (q *Quantized) Gemm(c []float32, ldc int, a []byte, m int, scale []float32) {
	if m == 0 {
		return
	}
	c, a = c[:(m-1)*ldc+q.columns], a[:2*m*q.rows]
	step := 0
	if len(scale) > 1 {
		scale, step = scale[:m], 1
	}
	if portable {
		q.gemmGo(c, ldc, a, m, scale, step)
		return
	}
	p := quantizedPanel{k: q.rows, ldc: 4 * ldc, step: 4 * step}
	for j := 0; j < q.columns; j += panelColumns {
		p.scales = &q.scales[j]
		if vnni {
			p.b8, p.offsets = &q.panels8[j*q.rows], &q.offsets[j]
		} else {
			p.b16 = &q.panels16[j*q.rows]
		}
		q.panel(c[j:], ldc, a, m, scale, &p)
	}
}

// panel is Gemm for 32 columns. Calls are direct, so that nothing goes to the
// heap.
func (q *Quantized) panel(c []float32, ldc int, a []byte, m int, scale []float32, p *quantizedPanel) {
	at := 0
	for ; m-at >= 4; at += 4 {
		p.scale = &scale[at*p.step/4]
		if vnni {
			quantized4VNNI(&c[at*ldc], &a[2*at*q.rows], p)
		} else {
			quantized4AVX2(&c[at*ldc], &a[2*at*q.rows], p)
		}
	}
	for ; at < m; at++ {
		p.scale = &scale[at*p.step/4]
		if vnni {
			quantized1VNNI(&c[at*ldc], &a[2*at*q.rows], p)
		} else {
			quantized1AVX2(&c[at*ldc], &a[2*at*q.rows], p)
		}
	}
}

// quantizedPanel is what the assembly knows of 32 columns.
type quantizedPanel struct {
	b8      *int8
	b16     *int16
	scales  *float32
	offsets *int32
	k       int // rows of b
	ldc     int // bytes
	scale   *float32
	step    int // bytes from a row's scale to the next
}

// code returns number k of a row of codes in plain order: little-endian.
func code(row []byte, k int) int32 { return int32(int16(uint16(row[2*k]) | uint16(row[2*k+1])<<8)) }

func codesGo(dst []byte, x []float32, scale float32) {
	for k, v := range x {
		n := int16(math.RoundToEven(float64(min(max(v*scale, -codesMost), codesMost))))
		dst[2*k], dst[2*k+1] = byte(n), byte(uint16(n)>>8)
	}
}

func (q *Quantized) gemmGo(c []float32, ldc int, a []byte, m int, scale []float32, step int) {
	sum := make([]int32, q.columns)
	for i := range m {
		row := a[2*i*q.rows:][:2*q.rows]
		clear(sum)
		for k := range q.rows {
			v := code(row, k)
			for j, w := range q.codes[k*q.columns:][:q.columns] {
				sum[j] += v * int32(w)
			}
		}
		for j, s := range sum {
			c[i*ldc+j] += float32(float32(s) * q.scales[j] * scale[i*step])
		}
	}
}
