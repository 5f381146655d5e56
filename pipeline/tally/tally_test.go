package tally

import (
	"maps"
	"testing"
)

func TestCounts(t *testing.T) {
	var c Counts
	c.Note(Category, "PERSON", 3)
	c.Note(Span, Pair("PERSON", "model"), 2)
	c.Note(WithSpans, "", 1)
	c.Note(LowScore, "", 0)
	var all Counts
	all.Add(c)
	all.Add(c)
	if want := (Counts{"category/PERSON": 6, "span/PERSON/model": 4, "notes_with_spans": 2}); !maps.Equal(all, want) {
		t.Errorf("%v, want %v", all, want)
	}
	if all.Get(Category, "PERSON") != 6 || all.Get(WithSpans, "") != 2 || all.Get(Rule, "x") != 0 {
		t.Errorf("counts of %v", all)
	}
	if got := all.By(Span); !maps.Equal(got, map[string]int64{"PERSON/model": 4}) {
		t.Errorf("by span: %v", got)
	}
}

// A confidence lies in the bin whose bounds hold it, and the last bit of a
// number does not move it.
func TestBins(t *testing.T) {
	for _, c := range []struct {
		confidence float32
		want       int
	}{{-1, 0}, {0, 0}, {0.0499, 0}, {0.05, 1}, {0.84999996, 17}, {0.85, 17}, {0.9, 18}, {0.99, 19}, {1, 19}, {1.5, 19}} {
		if got := Bin(c.confidence); got != c.want {
			t.Errorf("%v: bin %d, want %d", c.confidence, got, c.want)
		}
	}
	for bin := range Bins {
		if from, to := Bounds(bin); Bin(float32(from)) != bin || Bin(float32(to-0.001)) != bin {
			t.Errorf("bin %d: %v to %v", bin, from, to)
		}
	}
	if BinName(17) != "0.85" {
		t.Error(BinName(17))
	}
}
