package kernels

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestGemm(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for m := 1; m <= 26; m++ {
		for _, k := range []int{1, 2, 7, 24, 103} {
			for _, n := range []int{8, 16, 24, 40, 64, 72, 136} {
				lda, ldb, ldc := k+r.IntN(3), n+r.IntN(9), n+r.IntN(9)
				a, b := random(r, m*lda, -1, 1), random(r, k*ldb, -1, 1)
				x := random(r, m*ldc, -1, 1)
				both(t, 1e-5, x, func(x []float32) []float32 {
					Gemm(x, ldc, a, lda, b, ldb, m, k, n)
					return nil
				})
				want := 0.0
				i, j := r.IntN(m), r.IntN(n)
				for l := range k {
					want += float64(a[i*lda+l]) * float64(b[l*ldb+j])
				}
				testGemmFrom(t, x, ldc, b[:n], a, lda, b, ldb, m, k, n)
				was := x[i*ldc+j]
				Gemm(x, ldc, a, lda, b, ldb, m, k, n)
				if got := float64(x[i*ldc+j] - was); math.Abs(got-want) > 1e-4 {
					t.Fatalf("%d×%d×%d: c(%d, %d) grew by %v, want %v", m, k, n, i, j, got, want)
				}
			}
		}
	}
	Gemm(nil, 8, nil, 3, nil, 8, 0, 3, 8)
}

// TestGemmBlocks: products that are cut into blocks and packed, beside float64.
func TestGemmBlocks(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, m := range []int{1, 3, packRows - 1, packRows, packRows + 5, packRows + 12} {
		for _, k := range []int{gemmDepth - 1, gemmDepth, gemmDepth + 1, 2*gemmDepth + 3} {
			for _, n := range []int{8, 24, 40, 64, 88} {
				lda, ldb, ldc := k+r.IntN(3), n+r.IntN(9), n+r.IntN(9)
				a, b, c := random(r, m*lda, -1, 1), random(r, k*ldb, -1, 1), random(r, m*ldc, -1, 1)
				was, from, start := slices.Clone(c), slices.Clone(c), random(r, n, -1, 1)
				Gemm(c, ldc, a, lda, b, ldb, m, k, n)
				testGemmFrom(t, from, ldc, start, a, lda, b, ldb, m, k, n)
				testGemmFrom(t, from, ldc, nil, a, lda, b, ldb, m, k, n)
				for i, got := range c {
					want, j := float64(was[i]), i%ldc
					for l := 0; l < k && j < n; l++ {
						want += float64(a[i/ldc*lda+l]) * float64(b[l*ldb+j])
					}
					if math.Abs(float64(got)-want) > 2e-4 {
						t.Fatalf("%d×%d×%d: c(%d, %d) is %v, want %v", m, k, n, i/ldc, j, got, want)
					}
				}
			}
		}
	}
}

// testGemmFrom: the bits are those of Gemm, and what stands behind a row stays.
func testGemmFrom(t *testing.T, c []float32, ldc int, start, a []float32, lda int, b []float32, ldb int, m, k, n int) {
	t.Helper()
	for _, force := range []bool{true, false} {
		was := ForcePortable(force)
		got, want := slices.Clone(c), slices.Clone(c)
		for i := range m {
			row := want[i*ldc:][:n]
			clear(row)
			copy(row, start)
		}
		Gemm(want, ldc, a, lda, b, ldb, m, k, n)
		GemmFrom(got, ldc, start, a, lda, b, ldb, m, k, n)
		ForcePortable(was)
		if !slices.Equal(got, want) {
			t.Fatalf("%d×%d×%d, portable %v: other numbers than those of Gemm", m, k, n, force)
		}
	}
}

// TestGemmRows: a row of a product has the same bits whatever rows are beside it.
func TestGemmRows(t *testing.T) {
	for _, m := range []int{25, packRows + 11} {
		for _, k := range []int{31, gemmDepth + 31} {
			testGemmRows(t, m, k)
		}
	}
}

func testGemmRows(t *testing.T, m, k int) {
	r := rand.New(rand.NewPCG(3, 2))
	const n = 104
	a, b, c := random(r, m*k, -1, 1), random(r, k*n, -1, 1), random(r, m*n, -1, 1)
	alone := append([]float32(nil), c...)
	Gemm(c, n, a, k, b, n, m, k, n)
	for i := range m {
		Gemm(alone[i*n:], n, a[i*k:], k, b, n, 1, k, n)
		if !slices.Equal(alone[i*n:(i+1)*n], c[i*n:(i+1)*n]) {
			t.Fatalf("row %d", i)
		}
	}
}

func TestTranspose(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, size := range [][2]int{{1, 1}, {5, 17}, {33, 16}, {40, 3}, {8, 8}, {7, 24}, {24, 7}, {29, 43}, {96, 104}} {
		rows, columns := size[0], size[1]
		src, dst := random(r, rows*(columns+2), -1, 1), make([]float32, rows*columns)
		Transpose(dst, src, columns+2, rows, columns)
		for i := range rows {
			for j := range columns {
				if dst[j*rows+i] != src[i*(columns+2)+j] {
					t.Fatalf("%v: (%d, %d) is wrong", size, i, j)
				}
			}
		}
	}
}

func TestMultiply(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 8, 24, 104} {
		x := random(r, 3*n, -2, 2)
		both(t, 0, x, func(x []float32) []float32 {
			Multiply(x[:n], x[n:2*n], x[2*n:])
			Multiply(x[n:2*n], x[n:2*n], x[2*n:])
			return nil
		})
	}
}

func TestLargest(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{8, 48} {
		rows, most := random(r, 9*n, -1, 1), make([]float32, n)
		both(t, 0, slices.Clone(rows), func(x []float32) []float32 {
			clear(most)
			at := make([]int32, n)
			for row := range 9 {
				Largest(most, at, x[row*n:][:n], int32(row+1))
			}
			for i, row := range at {
				if row == 0 && most[i] != 0 || row > 0 && most[i] != x[int(row-1)*n+i] {
					t.Fatalf("column %d: %v of row %d", i, most[i], row)
				}
			}
			return slices.Clone(most)
		})
		for i, v := range most {
			for row := range 9 {
				if rows[row*n+i] > v {
					t.Fatalf("column %d: %v, but row %d has %v", i, v, row, rows[row*n+i])
				}
			}
		}
	}
	Largest(nil, nil, nil, 1)
}

// TestLSTM compares both codes with the textbook in float64, and the way back
// with differences.
func TestLSTM(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, n := range []int{8, 24, 104} {
		x := random(r, 9*n, -3, 3)
		x[0], x[1], x[n], x[2*n] = 200, -200, 1000, -1000
		both(t, 1e-5, x, func(x []float32) []float32 {
			LSTM(x[:4*n], x[4*n:5*n], x[5*n:6*n], x[6*n:7*n], x[7*n:8*n])
			LSTMBack(x[:4*n], x[4*n:5*n], x[6*n:7*n], x[7*n:8*n], x[8*n:])
			return nil
		})
	}
}

func TestLSTMIsTheTextbook(t *testing.T) {
	const n = 8
	r := rand.New(rand.NewPCG(7, 8))
	gates, before := random(r, 4*n, -3, 3), random(r, n, -2, 2)
	dh, dc := random(r, n, -1, 1), random(r, n, -1, 1)
	step := func(z []float32, before []float32) (c, h float64) {
		s := func(x float32) float64 { return 1 / (1 + math.Exp(-float64(x))) }
		c = s(z[1])*float64(before[0]) + s(z[0])*math.Tanh(float64(z[2]))
		return c, s(z[3]) * math.Tanh(c)
	}
	at := func(k int) []float32 { return []float32{gates[k], gates[n+k], gates[2*n+k], gates[3*n+k]} }
	out := append([]float32(nil), gates...)
	c, squashed, h, d := make([]float32, n), make([]float32, n), make([]float32, n), append([]float32(nil), dc...)
	LSTM(out, before, c, squashed, h)
	for k := range n {
		wantC, wantH := step(at(k), before[k:])
		if math.Abs(float64(c[k])-wantC) > 1e-5 || math.Abs(float64(h[k])-wantH) > 1e-5 {
			t.Fatalf("unit %d: c %v, h %v; want %v, %v", k, c[k], h[k], wantC, wantH)
		}
	}
	LSTMBack(out, before, squashed, dh, d)
	const eps = 1e-3
	for k := range n {
		loss := func(z, b []float32) float64 {
			c, h := step(z, b)
			return c*float64(dc[k]) + h*float64(dh[k])
		}
		for gate := range 4 {
			up, down := at(k), at(k)
			up[gate], down[gate] = up[gate]+eps, down[gate]-eps
			want := (loss(up, before[k:]) - loss(down, before[k:])) / (2 * eps)
			if got := float64(out[gate*n+k]); math.Abs(got-want) > 1e-3 {
				t.Errorf("unit %d, gate %d: %v, want %v", k, gate, got, want)
			}
		}
		want := (loss(at(k), []float32{before[k] + eps}) - loss(at(k), []float32{before[k] - eps})) / (2 * eps)
		if got := float64(d[k]); math.Abs(got-want) > 1e-3 {
			t.Errorf("unit %d: gradient of the memory %v, want %v", k, got, want)
		}
	}
}

func TestAdam(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	const n = 24
	x := random(r, 4*n, -1, 1)
	for i := range n {
		x[3*n+i] = max(x[3*n+i], -x[3*n+i]) // second moments
	}
	s := AdamStep{Beta1: 0.9, Beta2: 0.98, Rate: 0.01, Second: 1.5, Epsilon: 1e-8, Scale: 0.5, Decay: 1e-3}
	w, g, m, v := x[0], x[n], x[2*n], x[3*n]
	both(t, 1e-6, x, func(x []float32) []float32 {
		Adam(x[:n], x[n:2*n], x[2*n:3*n], x[3*n:], &s)
		return nil
	})
	Adam(x[:n], x[n:2*n], x[2*n:3*n], x[3*n:], &s)
	first := 0.9*float64(m) + 0.1*0.5*float64(g)
	second := 0.98*float64(v) + 0.02*0.25*float64(g*g)
	want := float64(w) - 0.01*first/(1.5*math.Sqrt(second)+1e-8) - 1e-3*float64(w)
	if math.Abs(float64(x[0])-want) > 1e-6 {
		t.Errorf("weight %v, want %v", x[0], want)
	}
}

// BenchmarkGemm is of the products of a training step of the default network,
// with the strides that they have there: what comes in and its way back (540
// tokens), a step of the recurrence and its way back, what is learned.
func BenchmarkGemm(b *testing.B) {
	for _, s := range []struct{ m, k, n, lda, ldb, ldc int }{
		{1, 104, 416, 208, 416, 832}, {6, 104, 416, 208, 416, 832}, {24, 104, 416, 208, 416, 832},
		{6, 416, 104, 832, 104, 208}, {24, 416, 104, 832, 104, 208},
		{540, 216, 832, 216, 832, 832}, {540, 832, 216, 832, 216, 216}, {216, 540, 832, 540, 832, 832},
		{104, 540, 416, 540, 832, 416}, {540, 208, 48, 208, 48, 48}, {1600, 72, 48, 72, 48, 48}, {72, 1600, 48, 1600, 48, 48},
	} {
		b.Run(fmt.Sprintf("%dx%dx%d", s.m, s.k, s.n), func(b *testing.B) {
			x, y, z := make([]float32, s.m*s.lda), make([]float32, s.k*s.ldb), make([]float32, s.m*s.ldc)
			for b.Loop() {
				Gemm(z, s.ldc, x, s.lda, y, s.ldb, s.m, s.k, s.n)
			}
			b.ReportMetric(2*float64(s.m)*float64(s.k)*float64(s.n)/float64(b.Elapsed().Nanoseconds())*float64(b.N), "GFLOPS")
		})
	}
}

func BenchmarkLSTM(b *testing.B) {
	const n = 104
	x := make([]float32, 9*n)
	for b.Loop() {
		LSTM(x[:4*n], x[4*n:5*n], x[5*n:6*n], x[6*n:7*n], x[7*n:8*n])
	}
}
