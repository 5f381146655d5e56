package calibrate

import "math"

// Wilson returns the 95 % interval of a proportion (Wilson 1927). Unlike the bootstrap it is meaningful for few cases
// and for proportions of 0 and 1: after ten right answers of ten, the proportion may be 0.72. It assumes independent
// answers, which those of one note are not; score.Measured.Sure takes both into account. For no cases it is [0, 1].
func Wilson(part, whole int64) [2]float64 {
	if whole == 0 {
		return [2]float64{0, 1}
	}
	const z = 1.959964
	n := float64(whole)
	p, zz := float64(part)/n, z*z/n
	middle, half := p+zz/2, z*math.Sqrt(p*(1-p)/n+zz/(4*n))
	return [2]float64{max(0, (middle-half)/(1+zz)), min(1, (middle+half)/(1+zz))}
}
