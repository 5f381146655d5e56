package kernels

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestCell holds the cell that reads against the one that training steps through,
// gates without bounds included.
func TestCell(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 8))
	for _, n := range []int{8, 16, 104, 136} {
		for _, most := range []float64{0.1, 3, 30, 1e4, 1e30} {
			gates, start := random(r, 4*n, -most, most), random(r, n, -4, 4)
			gates[0], gates[n], gates[2*n], gates[3*n] = 0, float32(most), -float32(most), float32(most)
			want := [3][]float32{append([]float32(nil), start...), make([]float32, n), make([]float32, n)}
			wanted := append([]float32(nil), gates...)
			lstmGo(wanted, want[0], want[0], want[1], want[2])
			const rows, stride = 3, 150
			var all [3][]float32 // the same row three times, beside each other and apart
			for range rows {
				all[0], all[1] = append(all[0], gates...), append(all[1], start...)
			}
			all[2] = make([]float32, rows*stride)
			bytes := make([]byte, rows*n)
			Cells(all[0], all[1], all[2], stride, bytes, n, rows)
			row := func(k int) ([]float32, []float32, []byte) {
				return all[1][k*n:][:n], all[2][k*stride:][:n], bytes[k*n:][:n]
			}
			c, h, codes := row(0)
			for k := 1; k < rows; k++ {
				if c2, h2, codes2 := row(k); !slices.Equal(c, c2) || !slices.Equal(h, h2) || !slices.Equal(codes, codes2) {
					t.Fatalf("%d units, gates to %v: row %d is not row 0", n, most, k)
				}
			}
			if !portable { // registers of 32 and of 64 bytes give the same bits
				narrow := [2][]float32{slices.Clone(start), make([]float32, n)}
				was := make([]byte, n)
				cellAVX2(&slices.Clone(gates)[0], &narrow[0][0], &narrow[1][0], &was[0], n)
				if !slices.Equal(c, narrow[0]) || !slices.Equal(h, narrow[1]) || !slices.Equal(codes, was) {
					t.Fatalf("%d units, gates to %v: AVX2 and AVX-512 differ", n, most)
				}
			}
			plain := make([]byte, n)
			Codes(plain, want[2], CodesMost)
			for k := range c {
				if d := math.Abs(float64(c[k] - want[0][k])); !(d < 4e-6) {
					t.Fatalf("%d units, gates to %v: memory %d is %v, want %v", n, most, k, c[k], want[0][k])
				}
				if d := math.Abs(float64(h[k] - want[2][k])); !(d < 2e-6) {
					t.Fatalf("%d units, gates to %v: state %d is %v, want %v", n, most, k, h[k], want[2][k])
				}
				if d := int(codes[k]) - int(plain[k]); d < -1 || d > 1 {
					t.Fatalf("%d units, gates to %v: code %d is %v, want %v", n, most, k, codes[k], plain[k])
				}
			}
		}
	}
}

func BenchmarkCells(b *testing.B) {
	r := rand.New(rand.NewPCG(5, 8))
	const n, rows = 104, 16
	gates, x := random(r, 4*n*rows, -2, 2), make([]float32, 2*n*rows)
	codes := make([]byte, n*rows)
	for b.Loop() {
		Cells(gates, x[:n*rows], x[n*rows:], n, codes, n, rows)
	}
}
