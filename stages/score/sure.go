package score

import "github.com/velum-health/velum/models/tag/calibrate"

// Sure returns the interval of the recall: the wider ends of Wilson's interval and of the bootstrap over notes, if that
// was computed.
func (m *Measured) Sure() [2]float64 {
	w := calibrate.Wilson(m.Found, m.Gold)
	if i := m.Interval; i != nil {
		w = [2]float64{min(w[0], i.Recall[0]), max(w[1], i.Recall[1])}
	}
	return w
}
