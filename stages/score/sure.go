package score

import "github.com/velum-health/velum/models/tag/calibrate"

// Sure is the interval of a measure's recall: the wider ends of the bootstrap
// over notes, if it was made, and Wilson's.
func (m *Measured) Sure() [2]float64 {
	w := calibrate.Wilson(m.Found, m.Gold)
	if i := m.Interval; i != nil {
		w = [2]float64{min(w[0], i.Recall[0]), max(w[1], i.Recall[1])}
	}
	return w
}
