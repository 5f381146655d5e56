package kernels

import (
	"math/rand/v2"
	"testing"
)

// TestGemmWithoutAVX512: most machines have the registers of 32 bytes only.
func TestGemmWithoutAVX512(t *testing.T) {
	defer func(was bool) { avx512 = was }(avx512)
	avx512 = false
	TestGemm(t)
	TestGemmBlocks(t)
	TestGemmRows(t)
	TestLSTM(t)
	TestNarrow(t)
}

// TestQuantizedWithoutVNNI: nor has every machine the instruction for bytes.
func TestQuantizedWithoutVNNI(t *testing.T) {
	defer func(was bool) { vnni = was }(vnni)
	vnni = false
	TestQuantized(t)
	TestQuantizedMost(t)
	TestQuantizedFrom(t)
}

// TestPack: panels of all widths, those of the registers of 64 bytes too.
func TestPack(t *testing.T) {
	const k, ldb = 5, 40
	b := random(rand.New(rand.NewPCG(1, 2)), k*ldb, -1, 1)
	for _, width := range []int{8, 16, 32} {
		panel := make([]float32, k*width+1)
		packAVX2(&panel[0], &b[8], k, width/Lanes, 4*ldb)
		for i, v := range panel[:k*width] {
			if v != b[8+i/width*ldb+i%width] {
				t.Fatalf("%d columns: place %d is wrong", width, i)
			}
		}
		if panel[k*width] != 0 {
			t.Fatalf("%d columns: written behind the end", width)
		}
	}
}
