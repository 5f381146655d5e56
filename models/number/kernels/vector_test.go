package kernels

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestVectorKernelsEqual(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{8, 16, 24, 32, 40, 64, 96, 104, 304} {
		x := random(r, n, -1, 1)
		both(t, 1e-5, random(r, n, -1, 1), func(z []float32) []float32 { return []float32{Dot(z, x)} })
		both(t, 1e-5, random(r, n, -1, 1), func(z []float32) []float32 { Axpy(.3, x, z); return nil })
	}
}

// TestVectorKernelsByHand holds both forms against sums in float64.
func TestVectorKernelsByHand(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	const n = 40
	x, y := random(r, n, -1, 1), random(r, n, -1, 1)
	close := func(got float32, want float64) {
		t.Helper()
		if math.Abs(float64(got)-want) > 1e-5 {
			t.Errorf("got %v, want %v", got, want)
		}
	}
	sum := 0.0
	for i := range x {
		sum += float64(x[i]) * float64(y[i])
	}
	close(Dot(x, y), sum)
}

func TestNarrow(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 1))
	for _, n := range []int{0, 8, 24, 32, 160, 416} {
		x, from := random(r, n, -3, 3), random(r, n, -1, 1)
		rows, some := random(r, 5*(n+3), -1, 1), []Valued{{4, .5}, {0, -2}, {2, 1}}[:r.IntN(4)]
		var want []float32
		for _, force := range []bool{true, false} {
			was := ForcePortable(force)
			short, got := make([]int16, n), make([]float32, n)
			scale := Narrow(short, x)
			Widen(got, from, short, scale, nil, nil, 0)
			for i := range got {
				if d := math.Abs(float64(got[i] - from[i] - x[i])); d > 0.51*float64(scale)+1e-6 {
					t.Fatalf("%d numbers, portable %v: number %d is off by %v", n, force, i, d)
				}
			}
			if want != nil && !slices.Equal(got, want) {
				t.Fatalf("%d numbers: the machine's code differs from the plain one", n)
			}
			want = slices.Clone(got)
			summed := slices.Clone(got)
			for _, f := range some {
				Axpy(f.Value, rows[int(f.Row)*(n+3):][:n], summed)
			}
			Widen(got, from, short, scale, some, rows, n+3)
			ForcePortable(was)
			if !slices.Equal(got, summed) {
				t.Fatalf("%d numbers, portable %v: %d rows are not added as Axpy does", n, force, len(some))
			}
		}
	}
	short := []int16{1, 1, 1, 1, 1, 1, 1, 1}
	if scale := Narrow(short, make([]float32, 8)); scale != 0 || short[3] != 0 {
		t.Errorf("nothing became %v at scale %v", short, scale)
	}
}

// TestAxpyHalves holds the machine's code against the plain one, and that against
// Axpy of the numbers.
func TestAxpyHalves(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 1))
	levels := [16]int8{-128, -88, -67, -50, -36, -23, -12, 0, 10, 20, 31, 43, 56, 71, 92, 127}
	for _, n := range []int{8, 64, 104} {
		x, numbers := make([]byte, n/2), make([]float32, n)
		for _, a := range []float32{1, 0.3} {
			for i := range x {
				low, high := r.IntN(16), r.IntN(16)
				x[i] = byte(low + 16*high)
				numbers[2*i], numbers[2*i+1] = 0.01*float32(levels[low]), 0.01*float32(levels[high])
			}
			start := random(r, n, -1, 1)
			want := slices.Clone(start)
			Axpy(a, numbers, want)
			for _, force := range []bool{true, false} {
				was := ForcePortable(force)
				got := slices.Clone(start)
				AxpyHalves(a, 0.01, x, &levels, got)
				ForcePortable(was)
				for i := range got {
					if d := math.Abs(float64(got[i] - want[i])); d > 1e-6 {
						t.Errorf("%d numbers, portable %v: number %d is off by %v", n, force, i, d)
					}
				}
			}
		}
	}
}

func BenchmarkWiden(b *testing.B) {
	r := rand.New(rand.NewPCG(5, 8))
	const n = 416
	x, from, rows, got := make([]int16, n), random(r, n, -1, 1), random(r, 8*n, -1, 1), make([]float32, n)
	for b.Loop() {
		for k := range 4 {
			Widen(got, from, x, 1, []Valued{{0, 1}, {3, 2}, {5, 1}}[:k], rows, n)
		}
	}
}
