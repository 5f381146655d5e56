package kernels

import "math"

// Quantized is a matrix b for products whose rows are few: eight bits a number
// and a scale a column, so that the matrix stays in the caches next to the
// processor, which a product of one row does nothing but wait for. Rows of a have
// seven bits a number, see Codes.
//
//	c(i, j) = from(i, j) + scale(i) · scales(j) · Σ_k a(i, k) · b(k, j)
//
// The sum is of whole numbers and exact, whatever code the machine runs.
type Quantized struct {
	rows, columns int
	codes         []int8    // [rows][columns]
	scales        []float32 // [columns]

	laid    []int8  // [columns/32][rows/4][32][4]: the order in which the assembly reads them
	offsets []int32 // [columns] what its sums have too much, see codesOffset
}

const (
	panelColumns = 32
	codesMost    = 1<<6 - 1
	codesOffset  = 1 << 6 // added to numbers of a: VPDPBUSD and VPMADDUBSW take them without sign
)

// Quantize quantizes b, [rows][columns], to eight bits per number. It returns nil if rows is no multiple of Lanes or
// columns no multiple of 32. rows is at most 4096, so that sums fit 32 bits.
func Quantize(b []float32, rows, columns int) *Quantized {
	if rows%Lanes != 0 || columns%panelColumns != 0 {
		return nil
	}
	q := &Quantized{rows: rows, columns: columns, codes: make([]int8, rows*columns), scales: make([]float32, columns)}
	for j := range columns {
		q.scales[j] = narrowest(b[j:], rows, columns)
		for i := 0; i < rows && q.scales[j] > 0; i++ {
			q.codes[i*columns+j] = int8(math.RoundToEven(float64(b[i*columns+j] / q.scales[j])))
		}
	}
	q.pack()
	return q
}

// QuantizedOf returns the matrix of codes, [rows][columns], and scales, [columns], as Numbers returns them; nil where
// Quantize returns nil. Codes that exceed the range that the assembly needs, as from a file of other software, are
// quantized again.
func QuantizedOf(codes []int8, scales []float32, rows, columns int) *Quantized {
	if rows%Lanes != 0 || columns%panelColumns != 0 {
		return nil
	}
	if !narrow(codes, rows, columns) {
		numbers := make([]float32, len(codes))
		for at, c := range codes {
			numbers[at] = scales[at%columns] * float32(c)
		}
		return Quantize(numbers, rows, columns)
	}
	q := &Quantized{rows: rows, columns: columns, codes: codes, scales: scales}
	q.pack()
	return q
}

// Numbers returns the codes, [rows][columns], and scales, [columns], to store in a file. They must not be changed.
func (q *Quantized) Numbers() (codes []int8, scales []float32) { return q.codes, q.scales }

// narrowest returns the least scale at which the numbers of a column fit eight bits and, of every eight rows, the
// absolute codes of rows 0, 1, 4, 5 and those of rows 2, 3, 6, 7 sum to at most foursMost each. Then the sum of their
// products fits 16 bits, and AVX2 needs one instruction less for it. In trained networks that costs a tenth of a bit.
func narrowest(column []float32, rows, stride int) float32 {
	at := func(i int) float32 { return max(column[i*stride], -column[i*stride]) }
	most, fours := float32(0), float32(0)
	for i := 0; i < rows; i += Lanes {
		for _, k := range [...]int{i, i + 2} {
			most = max(most, at(k), at(k+1), at(k+4), at(k+5))
			fours = max(fours, at(k)+at(k+1)+at(k+4)+at(k+5))
		}
	}
	return max(most/math.MaxInt8, fours/(foursMost-2)) // each may be rounded up by a half
}

func size(code int8) int { return max(int(code), -int(code)) }

// narrow reports whether codes satisfy the condition of narrowest.
func narrow(codes []int8, rows, columns int) bool {
	for i := 0; i < rows; i += Lanes {
		for _, k := range [...]int{i, i + 2} {
			a, b := codes[k*columns:][:columns], codes[(k+1)*columns:][:columns]
			c, d := codes[(k+4)*columns:][:columns], codes[(k+5)*columns:][:columns]
			for j := range columns {
				if size(a[j])+size(b[j])+size(c[j])+size(d[j]) > foursMost {
					return false
				}
			}
		}
	}
	return true
}

// foursMost is the largest sum of four codes whose products with the largest input code fit 16 bits.
const foursMost = math.MaxInt16 / (codesMost + codesOffset)

// pack copies the codes into the order in which the assembly reads them.
func (q *Quantized) pack() {
	if portable {
		return
	}
	q.laid = q.interleave()
	q.offsets = make([]int32, q.columns)
	for at, c := range q.codes {
		q.offsets[at%q.columns] += codesOffset * int32(c)
	}
}

// interleave puts four rows side by side: [columns/32][rows/4][32][4].
func (q *Quantized) interleave() []int8 {
	all := make([]int8, 0, len(q.codes))
	for panel := 0; panel < q.columns; panel += panelColumns {
		for row := 0; row < q.rows; row += 4 {
			for j := range panelColumns {
				for i := range 4 {
					all = append(all, q.codes[(row+i)*q.columns+panel+j])
				}
			}
		}
	}
	return all
}

// Codes returns the number of bytes of a quantized row to be multiplied with q.
func (q *Quantized) Codes() int { return q.rows }

// CodesMost is the factor by which Codes scales numbers of up to 1, for seven bits: then two products of bytes fit 16
// bits and VPMADDUBSW is exact. With eight bits a product of one row took twice as long on processors without VPDPBUSD,
// and no score changed in the third digit (BENCHMARKS.md).
const CodesMost = codesMost

// Codes quantizes x: it writes x·scale, rounded and limited to ±63, to dst, in the representation of this machine's
// kernels. len(x) is a multiple of Lanes.
func Codes(dst []byte, x []float32, scale float32) {
	if len(x) == 0 {
		return
	}
	dst = dst[:len(x)]
	if portable {
		codesGo(dst, x, scale)
		return
	}
	codesAVX2(&dst[0], &x[0], len(x), scale)
}

// CodesScale returns the scale at which Codes is most exact for x, and its inverse. len(x) is a multiple of Lanes.
func CodesScale(x []float32) (scale, back float32) {
	top := most(x)
	if top == 0 {
		return 0, 0
	}
	return codesMost / top, top / codesMost
}

// Gemm multiplies m rows of quantized numbers a with q and writes the products plus from to the rows of c, which are
// ldc numbers apart. from has rows ldc apart, too, or is one row for all; it may be c. scale holds the inverse scale of
// each row of a, or one number for all. The bits of a row do not depend on the other rows.
func (q *Quantized) Gemm(c, from []float32, ldc int, a []byte, m int, scale []float32) {
	if m == 0 {
		return
	}
	p := quantizedPanel{k: q.rows, ldc: 4 * ldc}
	c, a, from = c[:(m-1)*ldc+q.columns], a[:m*q.Codes()], from[:max(q.columns, min(len(from), (m-1)*ldc+q.columns))]
	if len(from) > q.columns {
		from, p.next = from[:(m-1)*ldc+q.columns], 4*ldc
	}
	if len(scale) > 1 {
		scale, p.step = scale[:m], 4
	}
	if portable {
		q.gemmGo(c, from, a, m, scale, &p)
		return
	}
	q.panels(c, from, a, m, scale, &p)
}

// panels is Gemm by assembly. Calls are direct, so that nothing goes to the heap.
func (q *Quantized) panels(c, from []float32, a []byte, m int, scale []float32, p *quantizedPanel) {
	at, wide := 0, q.Codes()
	next := func() (*float32, *byte) {
		p.b, p.scales, p.offsets, p.columns = &q.laid[0], &q.scales[0], &q.offsets[0], q.columns
		p.scale, p.from = &scale[at*p.step/4], &from[at*p.next/4]
		return &c[at*p.ldc/4], &a[at*wide]
	}
	if vnni {
		c, a := next()
		quantizedVNNI(c, a, m, p)
		return
	}
	for ; m-at >= 4; at += 4 {
		c, a := next()
		quantized4AVX2(c, a, p)
	}
	for ; at < m; at++ {
		c, a := next()
		quantized1AVX2(c, a, p)
	}
}

// quantizedPanel points the assembly to 32 columns and their scales.
type quantizedPanel struct {
	b       *int8
	scales  *float32
	offsets *int32
	k       int // rows of b
	ldc     int // bytes
	scale   *float32
	step    int // bytes from a row's scale to the next
	from    *float32
	next    int // bytes from a row of it to the next
	columns int // from here on, for those who count them
	_       int // bytes of c before the panel: the assembly with VPDPBUSD writes it
}

func codesGo(dst []byte, x []float32, scale float32) {
	for k, v := range x {
		dst[k] = byte(int8(math.RoundToEven(float64(min(max(v*scale, -codesMost), codesMost)))))
	}
}

func (q *Quantized) gemmGo(c, from []float32, a []byte, m int, scale []float32, p *quantizedPanel) {
	sum := make([]int32, q.columns)
	for i := range m {
		clear(sum)
		for k, v := range a[i*q.Codes():][:q.rows] {
			for j, w := range q.codes[k*q.columns:][:q.columns] {
				sum[j] += int32(int8(v)) * int32(w)
			}
		}
		for j, s := range sum {
			c[i*p.ldc/4+j] = from[i*p.next/4+j] + float32(float32(s)*q.scales[j]*scale[i*p.step/4])
		}
	}
}
