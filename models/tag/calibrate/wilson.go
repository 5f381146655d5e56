package calibrate

import "math"

// Wilson returns the ends of the 95 % interval of a share (Wilson 1927). Unlike
// the bootstrap it says something of shares of few, and of 0 and 1: of ten
// right answers in ten the share may be 0.72. It takes the answers for
// independent, which those of one note are not; score.Measured.Sure heeds both. Of none it is
// [0, 1].
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
