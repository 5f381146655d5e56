package kernels

import "testing"

// TestGemmWithoutAVX512: most machines have the registers of 32 bytes only.
func TestGemmWithoutAVX512(t *testing.T) {
	defer func(was bool) { avx512 = was }(avx512)
	avx512 = false
	TestGemm(t)
	TestGemmBlocks(t)
	TestGemmRows(t)
	TestLSTM(t)
}

// TestQuantizedWithoutVNNI: nor has every machine the instruction for bytes.
func TestQuantizedWithoutVNNI(t *testing.T) {
	defer func(was bool) { vnni = was }(vnni)
	vnni = false
	TestQuantized(t)
	TestQuantizedMost(t)
	TestQuantizedFrom(t)
}
