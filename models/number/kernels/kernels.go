// Package kernels holds the inner loops of tagging and training, and the one parallel loop of training.
//
// The functions work on slices of numbers. On amd64 with AVX2 and FMA they are written in assembly, on four or eight
// numbers at a time; elsewhere they are plain Go. Both give the same results up to rounding, since the order of
// additions differs; tests check that. A run uses only one of the two.
//
// Rows are padded to a multiple of [Lanes] numbers (four for float64), see [Pad]. Lengths are checked only by Go's
// bounds checks in the portable code: callers are responsible for the shapes, and every exported function slices its
// arguments once.
package kernels

import "unsafe"

// Lanes is the multiple to which every row is padded: eight float32 are one AVX2 register.
const Lanes = 8

// Pad returns n rounded up to whole lanes.
func Pad(n int) int { return (n + Lanes - 1) &^ (Lanes - 1) }

// portable tells whether the plain Go code is used.
var portable = !simdAvailable

// Forbidden is the score of an impossible tag or transition. It is finite so that differences of two such scores stay
// numbers; its exponential is zero.
const Forbidden = -1e30

// Add adds src to dst. len(src) is a multiple of Lanes, len(dst) at least
// len(src).
func Add(dst, src []float32) {
	if len(src) == 0 {
		return
	}
	dst = dst[:len(src)]
	if portable {
		addGo(dst, src)
		return
	}
	addAVX2(&dst[0], &src[0], len(src))
}

// Half is the multiple to which rows of AddRows are padded: half of Lanes.
const Half = 4

// AddRows adds each row of src, width numbers, to the beginning of the corresponding row of dst, stride numbers. width
// is a multiple of Half and at most stride.
func AddRows(dst []float32, stride int, src []float32, width int) {
	rows := len(src) / width
	if rows == 0 {
		return
	}
	dst = dst[:(rows-1)*stride+width]
	if portable {
		addRowsGo(dst, stride, src, width)
		return
	}
	addRowsAVX2(&dst[0], stride, &src[0], width, rows)
}

// Ways is the number of entries in a set of the hash table of Probe. BesideBytes is the size of the data that belongs
// to each entry, half a cache line.
const (
	Ways        = 8
	BesideBytes = 32
)

// Probe looks hashes up in a set-associative hash table: hash h belongs to set (h>>32)·len(tags)>>32 and has the tag
// uint32(h)|1. For each hash it writes to at the index set·Ways + way of the first entry with that tag, or -1. len(at)
// must be at least len(hash). The data of the entries found, BesideBytes each from beside, is prefetched.
func Probe(at []int32, hash []uint64, tags [][Ways]uint32, beside unsafe.Pointer) {
	if len(hash) == 0 {
		return
	}
	at = at[:len(hash)]
	if portable {
		probeGo(at, hash, tags)
		return
	}
	probeAVX2(&at[0], &hash[0], len(hash), &tags[0], len(tags), beside)
}

// Prefetch loads x into the cache in the background.
func Prefetch[T any](x []T) {
	if len(x) > 0 && !portable {
		prefetch((*float32)(unsafe.Pointer(&x[0])), int(unsafe.Sizeof(x[0]))*len(x))
	}
}

// PrefetchWrite loads x into the cache for writing, which invalidates the copies in other cores now and not at the
// write.
func PrefetchWrite(x []float32) {
	if len(x) > 0 && !portable {
		prefetchWrite(&x[0], 4*len(x))
	}
}

// AddScaled adds a·src to dst. Lengths as in Add.
func AddScaled(dst []float32, a float32, src []float32) {
	dst = dst[:len(src)]
	for i, v := range src {
		dst[i] += a * v
	}
}

// ShiftExp subtracts the largest number of row from all of row, writes the
// exponentials of the results to exp, and returns the largest number.
// len(row) is a multiple of Lanes. Results under e^-87 become zero.
func ShiftExp(exp, row []float32) float32 {
	exp = exp[:len(row)]
	if portable {
		return shiftExpGo(exp, row)
	}
	return shiftExpAVX2(&exp[0], &row[0], len(row))
}

// Log replaces each number of x by its natural logarithm; numbers below floor by that of floor, which must be a normal
// number. len(x) is a multiple of Lanes.
func Log(x []float32, floor float32) {
	if len(x) == 0 {
		return
	}
	if portable {
		logGo(x, floor)
		return
	}
	logAVX2(&x[0], len(x), floor)
}

// Forward is one step of the scaled forward recursion:
//
//	dst(j) = e(j) · scale · Σ_i prev(i) · m(i, j)
//
// and returns Σ_j dst(j). m is [rows][len(dst)]; len(dst) is a multiple of
// Lanes, rows is even.
func Forward(dst, prev, e, m []float32, rows int, scale float32) float32 {
	prev, e, m = prev[:rows], e[:len(dst)], m[:rows*len(dst)]
	if portable {
		return forwardGo(dst, prev, e, m, scale)
	}
	return forwardAVX2(&dst[0], &prev[0], &e[0], &m[0], rows, len(dst), scale)
}

// MaxPlus is the inner loop of Viterbi: for every row i with a(i) ≥ floor
//
//	dst(j) = max(dst(j), a(i) + m(i, j))
//
// m is [len(a)][len(dst)]; both lengths are multiples of Lanes.
func MaxPlus(dst, a, m []float32, floor float32) {
	m = m[:len(a)*len(dst)]
	if portable {
		maxPlusGo(dst, a, m, floor)
		return
	}
	maxPlusAVX2(&dst[0], &a[0], &m[0], len(a), len(dst), floor)
}

// Band starts a step of Viterbi with the transitions that stay within one
// span: tags stand so that a tag which goes on in a span has its sources among
// itself and the two tags before it.
//
//	dst(j) = max(prev(j) + d(0,j), prev(j-1) + d(1,j), prev(j-2) + d(2,j))
//
// prev must have two numbers before its first: it is passed as the slice that
// starts there, so prev(j) is prev[j+2]. d is [3][len(dst)].
func Band(dst, prev, d []float32) {
	prev, d = prev[:len(dst)+2], d[:3*len(dst)]
	if portable {
		bandGo(dst, prev, d)
		return
	}
	bandAVX2(&dst[0], &prev[0], &d[0], len(dst))
}

// ArgMax returns the first place where a(i) + b(i) is largest. len(b) is a
// multiple of Lanes; no number is smaller than 2·Forbidden.
func ArgMax(a, b []float32) int {
	a = a[:len(b)]
	if portable {
		return argMaxGo(a, b)
	}
	return argMaxAVX2(&a[0], &b[0], len(b))
}

// AddShift does one step of the forward pass in logarithms: it adds the scores e to dst and then subtracts the largest
// sum from all, so that the largest is 0 and nothing overflows. It returns that largest sum, and floor = max_j (dst(j) -
// slack(j)) of the result. Where slack(j) is the most that another tag can gain on tag j by one
// transition, tags below floor cannot lie on the best path.
func AddShift(dst, e, slack []float32) (largest, floor float32) {
	e, slack = e[:len(dst)], slack[:len(dst)]
	if portable {
		return addShiftGo(dst, e, slack)
	}
	return addShiftAVX2(&dst[0], &e[0], &slack[0], len(dst))
}

// Add64 adds src to dst. len(src) is a multiple of 4.
func Add64(dst, src []float64) {
	if len(src) == 0 {
		return
	}
	dst = dst[:len(src)]
	if portable {
		add64Go(dst, src)
		return
	}
	add64AVX2(&dst[0], &src[0], len(src))
}

// Axpy64 adds a·x to y, for any length.
func Axpy64(a float64, x, y []float64) {
	y = y[:len(x)]
	n := len(x) &^ 3
	if !portable && n > 0 {
		axpy64AVX2(a, &x[0], &y[0], n)
		x, y = x[n:], y[n:]
	}
	axpy64Go(a, x, y)
}

// Dot64 returns Σ x(i)·y(i), for any length.
func Dot64(x, y []float64) float64 {
	y = y[:len(x)]
	sum, n := 0.0, len(x)&^3
	if !portable && n > 0 {
		sum = dot64AVX2(&x[0], &y[0], n)
		x, y = x[n:], y[n:]
	}
	return sum + dot64Go(x, y)
}

// ShiftExp64 is ShiftExp for float64: row is left as it is, exp receives
// e^(row - largest). Results under e^-708 become zero.
func ShiftExp64(exp, row []float64) float64 {
	exp = exp[:len(row)]
	if portable {
		return shiftExp64Go(exp, row)
	}
	return shiftExp64AVX2(&exp[0], &row[0], len(row))
}

// Product64 writes scale·a(i)·b(i) to dst. len(dst) is a multiple of 4.
func Product64(dst, a, b []float64, scale float64) {
	a, b = a[:len(dst)], b[:len(dst)]
	if portable {
		product64Go(dst, a, b, scale)
		return
	}
	product64AVX2(&dst[0], &a[0], &b[0], len(dst), scale)
}

// RowSum64 adds the rows of m, weighted:
//
//	dst(j) = e(j) · scale · Σ_i a(i) · m(i, j)
//
// and returns Σ_j dst(j). m is [rows][len(dst)]; len(dst) is a multiple of 4,
// rows is even. It is the forward step and, with the transposed matrix, the
// backward step.
func RowSum64(dst, a, e, m []float64, rows int, scale float64) float64 {
	a, e, m = a[:rows], e[:len(dst)], m[:rows*len(dst)]
	if portable {
		return rowSum64Go(dst, a, e, m, scale)
	}
	return rowSum64AVX2(&dst[0], &a[0], &e[0], &m[0], rows, len(dst), scale)
}

// Outer64 adds the outer products of steps pairs of rows to m:
//
//	m(i, j) += Σ_t a(t, i) · b(t, j)
//
// a and b are [steps][width], m is [width][width], width a multiple of 4.
func Outer64(m, a, b []float64, steps, width int) {
	if steps == 0 {
		return
	}
	m, a, b = m[:width*width], a[:steps*width], b[:steps*width]
	if portable {
		outer64Go(m, a, b, steps, width)
		return
	}
	outer64AVX2(&m[0], &a[0], &b[0], steps, width)
}
