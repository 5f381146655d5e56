package bilstm

import (
	"math"

	"github.com/velum-health/velum/models/number/modelfile"
)

// levels holds the values of four bits, in parts of 127 of a scale: numbers of a normal
// distribution between its quantiles, with a zero (NormalFloat: Dettmers et al. 2023,
// QLoRA, section 3 and appendix E). Vectors are nearly normal, and these sixteen numbers
// lose half of what sixteen even steps lose.
var levels = [16]int8{-127, -88, -67, -50, -36, -23, -12, 0, 10, 20, 31, 43, 56, 71, 92, 127}

// nearest is the level next to each of -127 to 127.
var nearest = func() (at [255]byte) {
	for v := range at {
		for k, level := range levels {
			if distance(v-127, level) < distance(v-127, levels[at[v]]) {
				at[v] = byte(k)
			}
		}
	}
	return at
}()

func distance(v int, level int8) int { return max(v-int(level), int(level)-v) }

// halve writes a row as levels and returns its scale: that of the largest number, or
// of less where cutting it off loses less.
func halve(to []byte, row []float32) (scale float32) {
	most := float32(0)
	for _, v := range row {
		most = max(most, v, -v)
	}
	least := math.Inf(1)
	for part := float32(16); part >= 10 && most > 0; part-- {
		s := modelfile.Brain(most / 127 * part / 16)
		if lost := lostBy(row, s); lost < least {
			least, scale = lost, s
		}
	}
	for i := range to {
		to[i] = level(row[2*i], scale) | level(row[2*i+1], scale)<<4
	}
	return scale
}

// level returns the level of a number at a scale.
func level(v, scale float32) byte {
	if scale == 0 {
		return nearest[127]
	}
	return nearest[127+int(min(max(math.Round(float64(v/scale)), -127), 127))]
}

// lostBy returns the squared error of a row at a scale.
func lostBy(row []float32, scale float32) (lost float64) {
	for _, v := range row {
		d := float64(v - scale*float32(levels[level(v, scale)]))
		lost += d * d
	}
	return lost
}
