package kernels

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestQuantized holds all codes against the sum of whole numbers written out,
// bit for bit, and that against the product in float64.
func TestQuantized(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 3))
	for _, k := range []int{8, 104, 216, 512} {
		for _, m := range []int{1, 2, 3, 4, 5, 11} {
			const ldc = 103
			n := 32 + m%3*32
			a, b, c := random(r, m*k, -1, 1), random(r, k*n, -2, 2), random(r, m*ldc, -1, 1)
			a[0], a[k-1] = 1, -1
			if m%2 == 0 { // sums as large as they get
				sharpen(a)
				sharpen(b)
			}
			for i := range k {
				b[i*n+5] = 0
			}
			was := ForcePortable(true)
			want, exact := product(c, ldc, a, b, m, k, n)
			ForcePortable(false)
			got, _ := product(c, ldc, a, b, m, k, n)
			ForcePortable(was)
			if !slices.Equal(got, want) {
				t.Fatalf("%d×%d: the machine's code differs from the plain one", m, k)
			}
			for i := range m {
				for j := range n {
					if d := math.Abs(float64(want[i*ldc+j]) - exact[i*n+j]); d > 0.03*math.Sqrt(float64(k)) {
						t.Fatalf("%d×%d: place (%d, %d) is off by %v", m, k, i, j, d)
					}
				}
			}
		}
	}
	for _, shape := range [][2]int{{12, 32}, {8, 40}} {
		if Quantize(make([]float32, shape[0]*shape[1]), shape[0], shape[1]) != nil {
			t.Errorf("%v is no shape for it", shape)
		}
	}
}

// sharpen leaves nothing but 1 and -1.
func sharpen(x []float32) {
	for i, v := range x {
		x[i] = float32(math.Copysign(1, float64(v)))
	}
}

// product is c + a·b by Quantized, and in float64.
func product(c []float32, ldc int, a, b []float32, m, k, n int) (got []float32, exact []float64) {
	q := Quantize(b, k, n)
	codes, backs := make([]byte, m*q.Codes()), make([]float32, m)
	for i := range m {
		var scale float32
		scale, backs[i] = CodesScale(a[i*k : (i+1)*k])
		Codes(codes[i*q.Codes():], a[i*k:(i+1)*k], scale)
		for j := range n {
			sum := float64(c[i*ldc+j])
			for l := range k {
				sum += float64(a[i*k+l]) * float64(b[l*n+j])
			}
			exact = append(exact, sum)
		}
	}
	got = slices.Clone(c)
	q.Gemm(got, got, ldc, codes, m, backs)
	return got, exact
}

// TestQuantizedOf: codes of a file come back as they are if four products fit
// sixteen bits, and otherwise give the same products on all machines.
func TestQuantizedOf(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 7))
	const k, n, m = 104, 64, 5
	codes, scales := make([]int8, k*n), make([]float32, n)
	for i := range codes {
		codes[i] = int8(r.IntN(129) - 64)
	}
	for j := range scales {
		scales[j] = r.Float32()
	}
	if back, of := QuantizedOf(codes, scales, k, n).Numbers(); !slices.Equal(back, codes) || !slices.Equal(of, scales) {
		t.Error("narrow codes do not come back")
	}
	for i := range codes {
		codes[i] = int8(-r.IntN(2))
		if r.IntN(2) == 0 {
			codes[i] = []int8{127, -128}[r.IntN(2)]
		}
	}
	a := random(r, m*k, -1, 1)
	sharpen(a)
	var all [2][]float32
	for i, force := range []bool{true, false} {
		was := ForcePortable(force)
		q := QuantizedOf(codes, scales, k, n)
		rows, back := make([]byte, m*q.Codes()), make([]float32, m)
		for i := range m {
			back[i] = 1.0 / CodesMost
			Codes(rows[i*q.Codes():], a[i*k:(i+1)*k], CodesMost)
		}
		all[i] = make([]float32, m*n)
		q.Gemm(all[i], all[i], n, rows, m, back)
		ForcePortable(was)
	}
	if !slices.Equal(all[0], all[1]) {
		t.Fatal("the machine's code differs from the plain one")
	}
	for i := range m {
		for j := range n {
			exact := 0.0
			for l := range k {
				exact += float64(a[i*k+l]) * float64(codes[l*n+j]) * float64(scales[j])
			}
			if d := math.Abs(float64(all[0][i*n+j]) - exact); d > 0.02*float64(k)*float64(scales[j])*math.Sqrt(k) {
				t.Fatalf("place (%d, %d) is off by %v", i, j, d)
			}
		}
	}
}

// TestQuantizedMost: the largest numbers there are do not overflow, with either
// sign, in one row or four.
func TestQuantizedMost(t *testing.T) {
	for _, sign := range []float32{1, -1} {
		b, a := slices.Repeat([]float32{-1}, 4096*32), slices.Repeat([]float32{sign}, 5*4096)
		for _, force := range []bool{true, false} {
			was := ForcePortable(force)
			c, _ := product(make([]float32, 5*32), 32, a, b, 5, 4096, 32)
			ForcePortable(was)
			for i, v := range c {
				if math.Abs(float64(v+sign*4096)) > 1e-2 {
					t.Fatalf("portable %v: place %d is %v", force, i, v)
				}
			}
		}
	}
	if scale, back := CodesScale(make([]float32, 8)); scale != 0 || back != 0 {
		t.Error("the scale of nothing")
	}
	Codes(nil, nil, 1)
	(&Quantized{}).Gemm(nil, nil, 0, nil, 0, nil)
}

func BenchmarkQuantized(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 3))
	const k, n = 104, 416
	w, a, c := random(r, k*n, -1, 1), random(r, 8*k, -1, 1), make([]float32, 8*n)
	q := Quantize(w, k, n)
	codes, one := make([]byte, 8*q.Codes()), []float32{1}
	for _, bench := range []struct {
		name string
		do   func()
	}{
		{"float, 1 row", func() { Gemm(c, n, a, k, w, n, 1, k, n) }},
		{"bytes, 1 row", func() { Codes(codes, a[:k], CodesMost); q.Gemm(c, c, n, codes, 1, one) }},
		{"float, 8 rows", func() { Gemm(c, n, a, k, w, n, 8, k, n) }},
		{"bytes, 8 rows", func() {
			for i := range 8 {
				Codes(codes[i*q.Codes():], a[i*k:(i+1)*k], CodesMost)
			}
			q.Gemm(c, c, n, codes, 8, one)
		}},
	} {
		b.Run(bench.name, func(b *testing.B) {
			for b.Loop() {
				bench.do()
			}
		})
	}
}

// TestQuantizedFrom: one row to begin with, for all.
func TestQuantizedFrom(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 3))
	const m, k, n = 6, 16, 64
	b, a, bias := random(r, k*n, -1, 1), random(r, m*k, -1, 1), random(r, n, -1, 1)
	for _, force := range []bool{true, false} {
		was := ForcePortable(force)
		q := Quantize(b, k, n)
		codes := make([]byte, m*q.Codes())
		want, got := make([]float32, m*n), make([]float32, m*n)
		for i := range m {
			Codes(codes[i*q.Codes():], a[i*k:(i+1)*k], CodesMost)
			copy(want[i*n:], bias)
		}
		q.Gemm(want, want, n, codes, m, []float32{0.5})
		q.Gemm(got, bias, n, codes, m, []float32{0.5})
		ForcePortable(was)
		if !slices.Equal(got, want) {
			t.Errorf("portable %v: it is not the same as rows that begin so", force)
		}
	}
}
