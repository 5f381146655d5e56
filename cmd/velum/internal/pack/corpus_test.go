package pack

import "testing"

// TestElbow: the place where the sorted scores bend, by hand.
func TestElbow(t *testing.T) {
	for _, c := range []struct {
		scores []float64
		want   int
	}{
		{[]float64{10, 9, 8, 1, 1, 1, 1, 0}, 3},
		{[]float64{5, 5, 5, 5}, 4},
		{[]float64{5, 4}, 2},
		{[]float64{100, 1, 1, 1, 0.5}, 1},
		{[]float64{4, 3, 2, 1}, 4}, // a straight line
		{nil, 0},
	} {
		var notes []askedNote
		for _, s := range c.scores {
			notes = append(notes, askedNote{Score: s})
		}
		if got := elbow(notes); got != c.want {
			t.Errorf("%v: %d, want %d", c.scores, got, c.want)
		}
	}
}
