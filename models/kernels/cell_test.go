package kernels

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestCell holds the cell that reads against the one that training steps through,
// gates without bounds included.
func TestCell(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 8))
	for _, n := range []int{8, 16, 104, 136} {
		for _, most := range []float64{0.1, 3, 30, 1e4, 1e30} {
			gates, c := random(r, 4*n, -most, most), random(r, n, -4, 4)
			gates[0], gates[n], gates[2*n], gates[3*n] = 0, float32(most), -float32(most), float32(most)
			want := [3][]float32{append([]float32(nil), c...), make([]float32, n), make([]float32, n)}
			wanted := append([]float32(nil), gates...)
			lstmGo(wanted, want[0], want[0], want[1], want[2])
			squashed, h, codes := make([]float32, n), make([]float32, n), make([]byte, n)
			Cell(gates, c, squashed, h, codes)
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

func BenchmarkCell(b *testing.B) {
	r := rand.New(rand.NewPCG(5, 8))
	const n = 104
	gates, x := random(r, 4*n, -2, 2), make([]float32, 3*n)
	codes := make([]byte, n)
	for b.Loop() {
		Cell(gates, x[:n], x[n:2*n], x[2*n:], codes)
	}
}
