package calibratetrain

import (
	"math"
	"testing"

	"github.com/velum-health/velum/models/tag/calibrate"
)

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) < 1e-4) {
		t.Errorf("%s: %.5f, want %.5f", what, got, want)
	}
}

// With L = [2; 1 2; 1 1 2] the matrix L·Lᵀ is [4; 2 5; 2 3 6], of which the determinant is 64.
func TestSolveAndInverse(t *testing.T) {
	s := calibrate.Symmetric{4, 2, 5, 2, 3, 6}
	if l := s.Cholesky(); l != (calibrate.Symmetric{2, 1, 2, 1, 1, 2}) {
		t.Errorf("its root is %v", l)
	}
	x := solve(s, [3]float64{14, 21, 26}) // 4+2·2+2·3, 2+5·2+3·3, 2+3·2+6·3
	for a, want := range []float64{1, 2, 3} {
		near(t, "solution", x[a], want)
	}
	for k, want := range []float64{21. / 64, -6. / 64, 20. / 64, -4. / 64, -8. / 64, 16. / 64} { // cofactors
		near(t, "inverse", inverse(s)[k], want)
	}
}

// The intercept of a source: at P = 1/2, 10 notes of which so many leak pull with leaks - 5, against the curvature 10/4 and the
// precision 1/spread².
func TestShifts(t *testing.T) {
	for _, c := range []struct {
		leaks        int64
		spread       float64
		few          bool
		shift, after float64
	}{
		{7, 1, true, 2 / 3.5, 1},
		{7, 1, false, 2 / 3.5, math.Sqrt(2/3.5*2/3.5 + 1/3.5)},
		{7, 2, true, 2 / 2.75, 2},
		{5, 1, false, 0, math.Sqrt(1 / 3.5)},
		{10, 1, false, 1, math.Sqrt(1 + 1/3.5)}, // 5/3.5 is more than one step may be
		{0, 1, false, -1, math.Sqrt(1 + 1/3.5)},
	} {
		var s calibrate.Source
		s.Notes[9], s.Leaks[9] = 10, c.leaks
		f := fitter{sources: []calibrate.Source{s}, spread: c.spread, shift: make([]float64, 1)}
		f.shifts(c.few)
		near(t, "shift", f.shift[0], c.shift)
		near(t, "spread", f.spread, c.after)
	}
	var s calibrate.Source // what pulls back is the shift that there is: 2 - 1 over 1 + 10·P(1 - P), P of 1
	s.Notes[9], s.Leaks[9] = 10, 10
	f := fitter{sources: []calibrate.Source{s}, spread: 1, shift: []float64{1}}
	p := 1 / (1 + math.Exp(-1))
	f.shifts(true)
	near(t, "second shift", f.shift[0], 1+(10-10*p-1)/(1+10*p*(1-p)))
}

// At the prior mean (0, .65, 0) a note of the highest bin, whose log odds of doubt are .8814, leaks with P = 1/(1+e^-.5729) = .6394:
// of ten that all leak 3.606 are more than expected.
func TestSlopes(t *testing.T) {
	var s calibrate.Source
	s.Notes[17], s.Leaks[17] = 10, 10
	f := fitter{sources: []calibrate.Source{s}, mean: priorMean, shift: make([]float64, 1)}
	g, h := f.slopes()
	const z, more, around = .8813736, 3.605723, 2.305589 // around: 10·P·(1-P)
	for k, want := range []float64{more, more * z, more * z} {
		near(t, "slope", g[k], want)
	}
	for k, want := range []float64{1./9 + around, around * z, 25 + around*z*z, around * z, around * z * z, 4 + around*z*z} {
		near(t, "curvature", h[k], want)
	}
}

// What is fitted has no slope left. Fewer than eight sources tell nothing of the mean doubt, nor of how far they lie apart.
func TestFit(t *testing.T) {
	for _, n := range []int{7, 8} {
		f := fitter{}
		for i := range n {
			var s calibrate.Source
			s.Notes[17], s.Notes[i], s.Leaks[17], s.Leaks[i] = 40, 200, 30, int64(i)
			f.sources = append(f.sources, s)
		}
		f.fit()
		g, _ := f.slopes()
		if math.Abs(g[0]) > .2 || math.Abs(g[1]) > .2 { // of 1,680 notes: the steps go in turns and are ended after 60
			t.Errorf("%d sources: slopes %v are left", n, g)
		}
		if few := n < 8; few != (f.mean[2] == 0) || few != (f.spread == fewSpread) {
			t.Errorf("%d sources: %v, spread %.3f", n, f.mean, f.spread)
		}
		if n == 8 {
			near(t, "slope of the context", g[2]/10, 0)
		}
	}
}
