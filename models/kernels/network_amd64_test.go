package kernels

import "testing"

// TestGemmWithoutAVX512: most machines have the registers of 32 bytes only.
func TestGemmWithoutAVX512(t *testing.T) {
	defer func(was bool) { avx512 = was }(avx512)
	avx512 = false
	TestGemm(t)
}
