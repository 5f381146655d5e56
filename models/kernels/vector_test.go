package kernels

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestVectorKernelsEqual(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{8, 16, 24, 32, 40, 64, 96, 104, 304} {
		x, y := random(r, n, -1, 1), random(r, n, -1, 1)
		both(t, 1e-5, random(r, n, -1, 1), func(z []float32) []float32 { return []float32{Dot(z, x)} })
		both(t, 1e-5, random(r, n, -1, 1), func(z []float32) []float32 { Axpy(.3, x, z); return nil })
		both(t, 1e-5, random(r, 2*n, -1, 1), func(z []float32) []float32 { Exchange(z[:n], z[n:], y, -.7); return nil })
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
	x, y, err := random(r, n, -1, 1), random(r, n, -1, 1), random(r, n, -1, 1)
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
	e, out := append([]float32(nil), err...), append([]float32(nil), y...)
	Exchange(e, out, x, .5)
	for i := range x {
		close(e[i], float64(err[i])+.5*float64(y[i]))
		close(out[i], float64(y[i])+.5*float64(x[i]))
	}
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

func BenchmarkTile(b *testing.B) {
	const n = 104
	var dst [TileRows * TileColumns]float32
	x, y := make([]float32, TileRows*n), make([]float32, TileColumns*n)
	for b.Loop() {
		Tile(&dst, x, y)
	}
	b.ReportMetric(2*TileRows*TileColumns*n*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
}
