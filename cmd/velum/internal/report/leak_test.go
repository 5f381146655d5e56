package report

import (
	"math"
	"testing"

	"github.com/velum-health/velum/pipeline/tally"
)

func TestLeak(t *testing.T) {
	var c tally.Counts
	c.Note(tally.Category, "PERSON", 500)
	c.Note(tally.Category, "DATE", 900)
	if leakOf(c, 1000, nil, 0) != nil {
		t.Error("a leak without an audit")
	}
	l := leakOf(c, 1000, map[string]string{"PERSON": "10/1000", "DATE": "0/500"}, 0.02)
	if want := 1 - math.Exp(-500*0.01/0.99/1000); math.Abs(l.Probability-want) > 1e-6 {
		t.Errorf("probability %v, want %v", l.Probability, want)
	}
	if !(l.Low < l.Probability && l.Probability < l.High) {
		t.Errorf("%v is not within %v to %v", l.Probability, l.Low, l.High)
	}
	if l.TooMuch() != "" {
		t.Errorf("high %v, allowed 0.02: %s", l.High, l.TooMuch())
	}
	if l.Allowed = 0.005; l.TooMuch() == "" {
		t.Error("more than allowed, and not said")
	}
	for text, ok := range map[string]bool{"3/1000": true, "0/1": true, "1/1": false, "-1/5": false, "x/5": false, "5": false, "1/0": false} {
		if _, _, got := ParseAudited(text); got != ok {
			t.Errorf("%q: %v", text, got)
		}
	}
	low, high := wilson(0, 100)
	if low != 0 || math.Abs(high-0.037) > 0.001 {
		t.Errorf("wilson(0, 100) is %v to %v", low, high)
	}
}
