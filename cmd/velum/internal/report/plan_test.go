package report

import (
	"fmt"
	"testing"

	"github.com/velum-health/velum/models/tag/calibrate"
	"github.com/velum-health/velum/pipeline/audit"
	"github.com/velum-health/velum/pipeline/commit"
)

// A plan shows what is wanted if as much is found as expected, and if nothing is; it
// has strata where they are fewer notes, and says where no number is enough.
func TestPlan(t *testing.T) {
	m := &commit.Manifest{}
	for k, n := range []int64{600_000, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9000} {
		m.Counts.Masked += n
		m.Counts.Tally.Note("doubt", calibrate.BinName(k), n)
	}
	risk := &calibrate.Risk{Notes: 1000, Leaks: 10, Mean: [3]float64{-2, 0.8, 0}, Spread: 0.3}
	if p := PlanOf(m, nil, 0.005); fmt.Sprint(*p) != "{0.005 598 0 0 []}" {
		t.Errorf("without a calibration %+v", *p)
	}
	expected := PlanOf(m, risk, 0.5).Expected
	if p := PlanOf(m, risk, expected/2); p.Plain != 0 || fmt.Sprint(p.Strata) != "[{17 18 9000 100 0} {0 17 600000 1641 0}]" {
		t.Errorf("more is expected than is to be shown, and the least sure notes stand in front: %+v", *p)
	}
	wanted := 1.2 * expected
	p := PlanOf(m, risk, wanted)
	if len(p.Strata) != 2 || p.Notes() >= p.Plain || p.Strata[0].Notes != 9000 || p.Strata[1].Notes != 600_000 {
		t.Fatalf("%+v", *p)
	}
	t.Logf("%.5f of %.5f: %d plain, %d by strata", wanted, expected, p.Plain, p.Notes())
	if upper := float64(audit.UpperStrata(p.Strata, confidence)) / float64(m.Counts.Masked); upper > wanted {
		t.Errorf("without a find the strata prove %.6f, %.6f is wanted", upper, wanted)
	}
	if upper := audit.UpperShare(p.Clean, 0, confidence); upper > wanted {
		t.Errorf("%d notes without a find prove %.6f", p.Clean, upper)
	}
}

// The least sure notes stand in front: 100 of the highest bins, and of the other notes as many as before.
func TestBegin(t *testing.T) {
	of := func(notes map[int]int64) *calibrate.Source {
		s := new(calibrate.Source)
		for k, n := range notes {
			s.Notes[k] = n
		}
		return s
	}
	for _, c := range []struct {
		what   string
		notes  map[int]int64
		strata []audit.Stratum
		want   string
	}{
		{"a highest bin of 200", map[int]int64{17: 200, 10: 800}, []audit.Stratum{{To: 18, Notes: 1000, Read: 300}}, "[{17 18 200 100 0} {0 17 800 240 0}]"},
		{"two small ones", map[int]int64{17: 21, 16: 76, 15: 181, 10: 9722}, []audit.Stratum{{To: 18, Notes: 10_000, Read: 598}}, "[{16 18 97 97 0} {15 16 181 10 0} {0 15 9722 583 0}]"},
		{"empty ones", map[int]int64{16: 21, 13: 76, 3: 9803, 0: 100}, []audit.Stratum{{To: 18, Notes: 10_000, Read: 598}}, "[{4 18 97 97 0} {3 4 9803 586 0} {0 3 100 7 0}]"},
		{"more is read than 100", map[int]int64{17: 500, 3: 500}, []audit.Stratum{{To: 18, Notes: 1000, Read: 598}}, "[{17 18 500 299 0} {0 17 500 299 0}]"},
		{"two strata", map[int]int64{17: 200, 12: 300, 3: 500}, []audit.Stratum{{From: 12, To: 18, Notes: 500, Read: 50}, {To: 12, Notes: 500, Read: 20}}, "[{17 18 200 100 0} {12 17 300 30 0} {0 12 500 20 0}]"},
		{"few notes in all", map[int]int64{17: 20, 3: 20}, []audit.Stratum{{To: 18, Notes: 40, Read: 40}}, "[{0 18 40 40 0}]"},
		{"an unsure stratum that is smaller", map[int]int64{17: 20, 3: 980}, []audit.Stratum{{From: 17, To: 18, Notes: 20, Read: 5}, {To: 17, Notes: 980, Read: 50}}, "[{17 18 20 20 0} {3 4 980 80 0}]"},
	} {
		p := Plan{}
		if p.begin(of(c.notes), c.strata); fmt.Sprint(p.Strata) != c.want {
			t.Errorf("%s: %v, want %s", c.what, p.Strata, c.want)
		}
	}
}

// TestLeast: the smallest number that does, exactly up to a hundred, to a hundredth beyond, and the most if none does.
func TestLeast(t *testing.T) {
	for _, from := range []int64{1, 2, 5, 60, 500} {
		for k := from; k <= 3000; k += 1 + k/37 {
			asked := 0
			got := least(from, 3000, func(n int64) bool {
				if asked++; n < from || n >= 3000 {
					t.Errorf("from %d: %d is asked for", from, n)
				}
				return n >= k
			})
			if got < k || got > k+max(0, k/100) || asked > 40 {
				t.Errorf("from %d, %d does: %d, after %d questions", from, k, got, asked)
			}
		}
	}
	if got := least(1, 70, func(int64) bool { return false }); got != 70 {
		t.Errorf("none does: %d", got)
	}
	if got := least(7, 7, func(int64) bool { return true }); got != 7 {
		t.Errorf("one: %d", got)
	}
}
