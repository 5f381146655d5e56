package tagger

import "testing"

func TestJoin(t *testing.T) {
	if got := PathProbability.Join(0.5, 0.5); got != 0.25 {
		t.Errorf("of paths: %g, want their product", got)
	}
	for _, c := range [][3]float64{{0.5, 0.75, 0.5}, {0.75, 0.5, 0.5}, {1, 1, 1}} {
		if got := LineMinimum.Join(c[0], c[1]); got != c[2] {
			t.Errorf("of lines %g and %g: %g, want the lesser", c[0], c[1], got)
		}
	}
}
