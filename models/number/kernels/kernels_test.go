package kernels

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"unsafe"
)

// widths are rows of the label sets that matter (9, 19, 45 tags) and of all
// tile sizes.
var widths = []int{8, 16, 24, 32, 40, 48, 56, 64, 96}

func random(r *rand.Rand, n int, lo, hi float64) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(lo + (hi-lo)*r.Float64())
	}
	return x
}

func random64(r *rand.Rand, n int, lo, hi float64) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = lo + (hi-lo)*r.Float64()
	}
	return x
}

// both runs do with the portable code and with the fastest, on copies of x,
// and compares what they leave there and what they return.
func both[F float32 | float64](t *testing.T, tol float64, x []F, do func(x []F) []F) {
	t.Helper()
	x1, x2 := append([]F(nil), x...), append([]F(nil), x...)
	was := ForcePortable(true)
	r1 := append(do(x1), x1...)
	ForcePortable(false)
	r2 := append(do(x2), x2...)
	ForcePortable(was)
	for i := range r1 {
		a, b := float64(r1[i]), float64(r2[i])
		if math.Abs(a-b) > tol*max(1, math.Abs(a), math.Abs(b)) || math.IsNaN(a) != math.IsNaN(b) {
			t.Fatalf("place %d: portable %v, fastest %v", i, a, b)
		}
	}
}

func TestAddRows(t *testing.T) {
	for _, c := range []struct{ stride, width, rows int }{{24, 20, 7}, {24, 24, 3}, {8, 4, 5}, {48, 48, 2}, {16, 12, 1}, {8, 8, 0}} {
		src := make([]float32, c.rows*c.width)
		for i := range src {
			src[i] = rand.Float32()
		}
		dst := make([]float32, c.rows*c.stride)
		for i := range dst {
			dst[i] = rand.Float32()
		}
		slow := slices.Clone(dst)
		for i, v := range src {
			slow[i/c.width*c.stride+i%c.width] += v
		}
		for _, force := range []bool{true, false} {
			got := slices.Clone(dst)
			was := ForcePortable(force)
			AddRows(got, c.stride, src, c.width)
			ForcePortable(was)
			if !slices.Equal(got, slow) {
				t.Errorf("%+v, portable %v: %v, want %v", c, force, got, slow)
			}
		}
	}
}

func TestProbe(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, sets := range []int{1, 7, 1000} {
		tags := make([][Ways]uint32, sets)
		var hash []uint64
		for set := range tags {
			for w := range r.IntN(Ways + 1) { // the other places are empty
				h := r.Uint64()
				for h>>32*uint64(sets)>>32 != uint64(set) {
					h = r.Uint64()
				}
				tags[set][w] = uint32(h) | 1
				hash = append(hash, h, h^1, h^2) // there, the same tag, another tag
			}
			if sets == 1000 && set == 20 {
				break
			}
		}
		fast, slow := make([]int32, len(hash)), make([]int32, len(hash))
		beside := make([]byte, sets*Ways*BesideBytes)
		probeGo(slow, hash, tags)
		Probe(fast, hash, tags, unsafe.Pointer(&beside[0]))
		if !slices.Equal(fast, slow) {
			t.Fatalf("%d sets: fast and portable differ", sets)
		}
		for i, at := range fast {
			if want := i%3 != 2; (at >= 0) != want || want && tags[at/Ways][at%Ways] != uint32(hash[i])|1 {
				t.Fatalf("%d sets: hash %d found at %d", sets, i, at)
			}
		}
	}
	Probe(nil, nil, make([][Ways]uint32, 1), nil)
	Prefetch[float32](nil)
	Prefetch(make([]float32, 24))
}

func TestEqual(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range widths {
		rows := n - 2
		a, e, m := random(r, n, -9, 2), random(r, n, 0, 1), random(r, n*n, -3, 3)
		zero := make([]float32, n)
		slack, d, prev := random(r, n, 0, 9), random(r, 3*n, -4, 4), random(r, n+2, -9, 0)
		both(t, 1e-5, random(r, n, -9, 9), func(x []float32) []float32 { Add(x, a); return nil })
		both(t, 1e-5, random(r, n, -100, 9), func(x []float32) []float32 {
			exp := make([]float32, n)
			return append(exp, ShiftExp(exp, x))
		})
		both(t, 1e-4, make([]float32, n), func(x []float32) []float32 {
			return []float32{Forward(x, e, e, m, rows, .25)}
		})
		for _, floor := range []float32{-20, -1, 1.9} {
			both(t, 0, random(r, n, -30, 0), func(x []float32) []float32 { MaxPlus(x, a, m, floor); return nil })
		}
		both(t, 0, make([]float32, n), func(x []float32) []float32 { Band(x, prev, d); return nil })
		both(t, 0, random(r, n, -30, 0), func(x []float32) []float32 {
			x[n/2], x[n-1] = a[n/2], a[n-1]-40
			same := ArgMax(zero, zero) // the first of equals
			return []float32{float32(ArgMax(x, a)), float32(ArgMax(a, a)), float32(same)}
		})
		both(t, 0, random(r, n, -30, 0), func(x []float32) []float32 {
			l, f := AddShift(x, a, slack)
			return []float32{l, f}
		})
	}
}

func TestEqual64(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{4, 8, 12, 16, 20, 44, 48, 88, 100} {
		a, e, m := random64(r, n, -9, 2), random64(r, n, 0, 1), random64(r, n*n, -3, 3)
		both(t, 1e-13, random64(r, n, -9, 9), func(x []float64) []float64 { Add64(x, a); return nil })
		both(t, 1e-13, random64(r, n, -9, 9), func(x []float64) []float64 { Axpy64(.3, a[:n-1], x); return nil })
		both(t, 1e-12, random64(r, n, -9, 9), func(x []float64) []float64 { return []float64{Dot64(x[1:], a[1:])} })
		both(t, 1e-14, random64(r, n, -700, 9), func(x []float64) []float64 {
			exp := make([]float64, n)
			return append(exp, ShiftExp64(exp, x))
		})
		both(t, 1e-13, make([]float64, n), func(x []float64) []float64 { Product64(x, a, e, .7); return nil })
		both(t, 1e-12, make([]float64, n), func(x []float64) []float64 {
			return []float64{RowSum64(x, a, e, m, n-2, .25)}
		})
		for _, steps := range []int{1, 2, 7} {
			b, c := random64(r, steps*n, -1, 1), random64(r, steps*n, -1, 1)
			both(t, 1e-12, random64(r, n*n, -9, 9), func(x []float64) []float64 { Outer64(x, b, c, steps, n); return nil })
		}
	}
}

// The exponentials are held against math.Exp, in both codes.
func TestExp(t *testing.T) {
	defer ForcePortable(ForcePortable(false))
	for _, force := range []bool{true, false} {
		ForcePortable(force)
		for x := 0.0; x > -110; x -= .037 {
			row, exp := make([]float32, 8), make([]float32, 8)
			row[1], row[2] = float32(x), Forbidden
			ShiftExp(exp, row)
			want := math.Exp(float64(float32(x)))
			if x < -87 {
				want = 0
			}
			if math.Abs(float64(exp[1])-want) > 3e-7*want || exp[2] != 0 || exp[0] != 1 {
				t.Fatalf("portable %v: exp(%v) = %v, want %v", force, x, exp[1], want)
			}
			row64, exp64 := []float64{5, 5 + 6*x, 5, Forbidden}, make([]float64, 4)
			ShiftExp64(exp64, row64)
			want = math.Exp(5 + 6*x - 5)
			if math.Abs(exp64[1]-want) > 1e-14*want || exp64[3] != 0 {
				t.Fatalf("portable %v: exp(%v) = %v, want %v", force, 6*x, exp64[1], want)
			}
		}
	}
}

func TestParallel(t *testing.T) {
	for workers := range 5 {
		var calls atomic.Int64
		seen := make([]int, 37)
		Parallel(workers, len(seen), func(w, s int) {
			seen[s]++
			calls.Add(1)
		})
		for s, n := range seen {
			if n != 1 {
				t.Errorf("%d workers: share %d done %d times", workers, s, n)
			}
		}
	}
	Parallel(2, 0, func(w, s int) { t.Error("a share of nothing") })
	next := 0
	for s := range 7 {
		lo, hi := Share(100, s, 7)
		if lo != next || hi-lo < 14 || hi-lo > 15 {
			t.Errorf("share %d is %d to %d", s, lo, hi)
		}
		next = hi
	}
	if next != 100 {
		t.Errorf("shares end at %d", next)
	}
}

func BenchmarkTagging(b *testing.B) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, n := range []int{16, 24, 48} {
		x, e, m := random(r, n, -9, 0), random(r, n, 0, 1), random(r, n*n, -3, 3)
		dst, block, d := make([]float32, n), random(r, 7*n, 0, 1), random(r, 3*n, -3, 3)
		prev := random(r, n+2, -9, 0)
		run := func(name string, do func()) {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				for b.Loop() {
					do()
				}
			})
		}
		s := make([]float32, 7*n)
		run("add7", func() { clear(s); Add(s, block) })
		run("shiftexp", func() { ShiftExp(dst, x) })
		run("forward", func() { Forward(dst, e, e, m, n-2, .1) })
		run("band", func() { Band(dst, prev, d) })
		top := slices.Max(x)
		run("maxplus1", func() { MaxPlus(dst, x, m, top) })
		run("maxplusall", func() { MaxPlus(dst, x, m, -100) })
		run("addshift", func() { AddShift(dst, e, e) })
	}
}

func BenchmarkTraining(b *testing.B) {
	r := rand.New(rand.NewPCG(7, 8))
	const n, steps = 44, 32
	x, e, m := random64(r, steps*n, -9, 0), random64(r, n, 0, 1), random64(r, n*n, -3, 3)
	dst := make([]float64, n*n)
	b.Run("exp", func(b *testing.B) {
		for b.Loop() {
			ShiftExp64(dst[:n], x[:n])
		}
	})
	b.Run("rowsum", func(b *testing.B) {
		for b.Loop() {
			RowSum64(dst[:n], e, e, m, n, .1)
		}
	})
	b.Run("outer32", func(b *testing.B) {
		for b.Loop() {
			Outer64(dst, x, x, steps, n)
		}
	})
}

func TestLog(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, n := range []int{8, 24, 48} {
		x := random(r, n, 0, 2)
		x[0], x[1], x[2], x[3], x[4] = 0, 1, 1e-9, 3e38, math.Sqrt2/2
		was := append([]float32(nil), x...)
		both(t, 1e-6, x, func(x []float32) []float32 {
			Log(x, 1e-9)
			return nil
		})
		Log(x, 1e-9)
		for i, v := range was {
			if want := math.Log(max(float64(v), 1e-9)); math.Abs(float64(x[i])-want) > 2e-7*max(1, math.Abs(want)) {
				t.Errorf("log(%v) = %v, want %v", v, x[i], want)
			}
		}
	}
	Log(nil, 1)
}
