package pack

import (
	"slices"
	"strings"
	"testing"
)

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

// TestVerdicts: the rules of acceptance, counts by hand.
func TestVerdicts(t *testing.T) {
	old := right{Finds: 10, Right: 8, Gold: 20, Found: 8} // P 0.8, R 0.4, F1 0.533
	for _, c := range []struct {
		name                 string
		fresh                right
		mended               int
		corpus, validation   bool
		tightened, takenBack bool
	}{
		{"two found", right{12, 10, 20, 10}, 2, true, true, false, false},
		{"one found", right{11, 9, 20, 9}, 1, false, true, false, false},
		{"two mended, as many made: F1 stands", right{10, 8, 20, 8}, 2, true, true, false, false},
		{"two found, twenty in vain", right{32, 10, 20, 10}, 2, false, false, true, false},
		{"nothing found, five in vain", right{15, 8, 20, 8}, 0, false, false, false, true},
		{"fewer found, none in vain", right{4, 4, 20, 4}, 2, false, false, false, true},
	} {
		if v := onCorpus(&old, &c.fresh, c.mended); v.accepted != c.corpus {
			t.Errorf("%s: accepted on the corpus: %v", c.name, v.accepted)
		}
		v := onValidation(&old, &c.fresh)
		if v.accepted != c.validation || strings.Contains(v.advice, "tighten") != c.tightened || strings.Contains(v.advice, "take the new rules back") != c.takenBack {
			t.Errorf("%s: on the validation notes %+v", c.name, v)
		}
	}
}

// TestGone: errors that went are told from those that came.
func TestGone(t *testing.T) {
	a, b, c := mistake{"1", "PERSON", missed, 0, 3}, mistake{"1", "PERSON", inVain, 0, 3}, mistake{"2", "PERSON", missed, 0, 3}
	was, now := []mistake{a, b}, []mistake{b, c}
	if went, came := gone(was, now), gone(now, was); !slices.Equal(went, []mistake{a}) || !slices.Equal(came, []mistake{c}) {
		t.Errorf("went %v, came %v", went, came)
	}
}
