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
	if p := PlanOf(m, risk, expected/2); p.Plain != 0 || p.Strata != nil {
		t.Errorf("more is expected than is to be shown: %+v", *p)
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
