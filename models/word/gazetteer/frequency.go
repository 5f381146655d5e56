package gazetteer

import "math"

// Frequencies are kept as 512 steps an octave, in two bytes.
const steps = 512

func logFrequency(n int) uint16 {
	if n <= 0 {
		return 0
	}
	return uint16(min(math.Round(steps*math.Log2(float64(n)+1)), math.MaxUint16))
}

func fromLog(f uint16) int {
	if f == 0 {
		return 0
	}
	return int(math.Round(math.Exp2(float64(f)/steps) - 1))
}
