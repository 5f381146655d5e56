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
	for _, n := range []int{1, 7, 100, 104} {
		a := random(r, TileRows*n, -1, 1)
		both(t, 1e-5, random(r, n*TileColumns, -1, 1), func(z []float32) []float32 {
			var dst [TileRows * TileColumns]float32
			Tile(&dst, a, z)
			return dst[:]
		})
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
	a, b := random(r, TileRows*n, -1, 1), random(r, n*TileColumns, -1, 1)
	var dst [TileRows * TileColumns]float32
	Tile(&dst, a, b)
	for i := range TileRows {
		for j := range TileColumns {
			sum := 0.0
			for k := range n {
				sum += float64(a[i*n+k]) * float64(b[k*TileColumns+j])
			}
			close(dst[i*TileColumns+j], sum)
		}
	}
}

// windows have one to many input rows, one and two of them twice, and as many
// output rows as fit, fewer and more.
var windows = []struct{ inputs, outputs []int32 }{
	{[]int32{3}, []int32{4, 1, 0, 5, 2, 6}},
	{[]int32{3, 1}, []int32{4}},
	{[]int32{0, 1, 2}, []int32{1, 2, 3}},
	{[]int32{0, 1, 2, 0, 4, 5, 6}, []int32{1, 2, 1, 5, 6, 0}},
	{[]int32{6, 5, 4, 3, 2, 1, 0, 6, 5, 4, 3, 2, 1, 0, 6, 5, 4, 3, 2}, []int32{0, 1, 2, 3, 4, 5, 6, 0, 1, 2, 3, 4, 5}},
}

func TestWindowEqual(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, width := range []int{8, 16, 104, 304} {
		n := 7 * width
		for _, w := range windows {
			both(t, 1e-5, random(r, 2*n, -1, 1), func(z []float32) []float32 {
				Window(z[:n], z[:n], z[n:], width, w.inputs, w.outputs, .1)
				return nil
			})
			both(t, 1e-4, random(r, 3*n, -9, 9), func(z []float32) []float32 { // sigmoids of 0 and 1 too; sums of thousands
				Window(z[:n], z[n:2*n], z[2*n:], width, w.inputs, w.outputs, .1)
				return nil
			})
		}
	}
}

// TestWindowByHand holds a small step of both forms against the gradient in
// float64.
func TestWindowByHand(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	const width, n, rate = 24, 7 * 24, 1e-3
	w := windows[2]
	for _, force := range []bool{true, false} {
		dst, in, out := random(r, n, -1, 1), random(r, n, -1, 1), random(r, n, -1, 1)
		var want [2][n]float64
		for _, x := range w.inputs {
			for k, o := range w.outputs {
				dot, label := 0.0, 0.0
				for i := range width {
					dot += float64(in[int(x)*width+i]) * float64(out[int(o)*width+i])
				}
				if k == 0 {
					label = 1
				}
				e := label - 1/(1+math.Exp(-dot))
				for i := range width {
					want[0][int(x)*width+i] += e * float64(out[int(o)*width+i])
					want[1][int(o)*width+i] += e * float64(in[int(x)*width+i])
				}
			}
		}
		dst0, out0 := slices.Clone(dst), slices.Clone(out)
		was := ForcePortable(force)
		Window(dst, in, out, width, w.inputs, w.outputs, rate)
		ForcePortable(was)
		for i := range n {
			x, o := float64(dst[i]-dst0[i])/rate, float64(out[i]-out0[i])/rate
			if math.Abs(x-want[0][i]) > 5e-3 || math.Abs(o-want[1][i]) > 5e-3 {
				t.Fatalf("place %d: steps %v and %v, want %v and %v", i, x, o, want[0][i], want[1][i])
			}
		}
	}
}

// A row that does not exist is an error before the assembly runs.
func TestWindowBounds(t *testing.T) {
	x := make([]float32, 64)
	for _, w := range []struct{ inputs, outputs []int32 }{{[]int32{8}, []int32{0}}, {[]int32{0}, []int32{0, 8}}, {[]int32{-1}, []int32{0}}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("no panic for %v", w)
				}
			}()
			Window(x, x, x, 8, w.inputs, w.outputs, 1)
		}()
	}
}

func BenchmarkWindow(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	const width, rows = 104, 32
	in, out := random(r, rows*width, -1, 1), random(r, rows*width, -1, 1)
	inputs, outputs := []int32{1, 2, 3, 4, 5, 6}, []int32{7, 8, 9, 10, 11, 12}
	for b.Loop() {
		Window(in, in, out, width, inputs, outputs, 1e-6)
	}
	b.ReportMetric(6*float64(len(inputs)*len(outputs)*width)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
}

func BenchmarkTile(b *testing.B) {
	const n = 104
	var dst [TileRows * TileColumns]float32
	x, y := make([]float32, TileRows*n), make([]float32, TileColumns*n)
	for b.Loop() {
		Tile(&dst, x, y)
	}
	b.ReportMetric(2*TileRows*TileColumns*n*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
}

// TestNarrow: what comes back is off by half a step at most, and has the same
// bits whatever code the machine runs.
func TestNarrow(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 1))
	for _, n := range []int{0, 8, 24, 416} {
		x, from := random(r, n, -3, 3), random(r, n, -1, 1)
		var want []float32
		for _, force := range []bool{true, false} {
			was := ForcePortable(force)
			short, got := make([]int16, n), make([]float32, n)
			scale := Narrow(short, x)
			Widen(got, from, short, scale)
			ForcePortable(was)
			for i := range got {
				if d := math.Abs(float64(got[i] - from[i] - x[i])); d > 0.51*float64(scale)+1e-6 {
					t.Fatalf("%d numbers, portable %v: number %d is off by %v", n, force, i, d)
				}
			}
			if want != nil && !slices.Equal(got, want) {
				t.Fatalf("%d numbers: the machine's code differs from the plain one", n)
			}
			want = got
		}
	}
	short := []int16{1, 1, 1, 1, 1, 1, 1, 1}
	if scale := Narrow(short, make([]float32, 8)); scale != 0 || short[3] != 0 {
		t.Errorf("nothing became %v at scale %v", short, scale)
	}
}

// TestAxpyCodes holds the machine's code against the plain one, and that against
// Axpy of the numbers.
func TestAxpyCodes(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 1))
	for _, n := range []int{8, 64, 104} {
		x, numbers := make([]int8, n), make([]float32, n)
		for _, a := range []float32{1, 0.3} {
			for i := range x {
				x[i] = int8(r.IntN(256) - 128)
				numbers[i] = 0.01 * float32(x[i])
			}
			start := random(r, n, -1, 1)
			want := slices.Clone(start)
			Axpy(a, numbers, want)
			for _, force := range []bool{true, false} {
				was := ForcePortable(force)
				got := slices.Clone(start)
				AxpyCodes(a, 0.01, x, got)
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
