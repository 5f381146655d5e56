// Package calibratetrain learns from labelled notes how probable a note of a given confidence still holds an identifier
// after masking.
//
//	in:  notes of sources by their doubt, and which of them leak
//	out: a *calibrate.Risk
package calibratetrain

import (
	"errors"
	"math"
	"math/rand/v2"

	"github.com/velum-health/velum/models/tag/calibrate"
)

// Prior of the coefficients, fitted where data was plentiful: the slope, and the spread between sources if there are
// too few to estimate it.
var (
	priorMean      = [3]float64{0, 0.65, 0}
	priorPrecision = [3]float64{1. / 9, 1 / (0.2 * 0.2), 1 / (0.5 * 0.5)}
)

const (
	fewSources  = 8 // fewer tell nothing of m and of the spread
	fewSpread   = 1 // the spread without m
	leastSpread = 0.3
	leastNotes  = 100
	resamplings = 200
)

// errFew says that there are too few notes to learn from.
var errFew = errors.New("a calibration takes at least 100 notes")

// FitRisk fits a calibrate.Risk to the counts of several sources. Its uncertainty comes from the curvature of the
// likelihood and from a seeded bootstrap over sources, because errors in the notes of one writer are correlated.
func FitRisk(sources []calibrate.Source) (*calibrate.Risk, error) {
	r := &calibrate.Risk{Sources: len(sources), Foreign: none, Unknown: none, Spans: none, Doubt: none}
	for i := range sources {
		s := &sources[i]
		n, leaks := s.All()
		r.Notes, r.Leaks = r.Notes+n, r.Leaks+leaks
		add(&r.Foreign, s.ForeignShare())
		add(&r.Unknown, s.UnknownShare())
		add(&r.Spans, s.SpansPerNote())
		add(&r.Doubt, s.MeanDoubt())
	}
	if r.Notes < leastNotes {
		return nil, errFew
	}
	f := fitter{sources: sources}
	f.fit()
	r.Mean, r.Spread = f.mean, max(f.spread, leastSpread)
	r.Cov = inverse(f.curvature())
	draw := rand.New(rand.NewPCG(uint64(r.Notes), uint64(r.Leaks)))
	again := fitter{sources: make([]calibrate.Source, len(sources))}
	for range resamplings {
		for i := range again.sources {
			again.sources[i] = sources[draw.IntN(len(sources))]
		}
		again.fit()
		k := 0
		for a := range 3 {
			for b := range a + 1 {
				r.Cov[k] += (again.mean[a] - r.Mean[a]) * (again.mean[b] - r.Mean[b]) / resamplings
				k++
			}
		}
	}
	if len(sources) < fewSources {
		r.Cov[3], r.Cov[4], r.Cov[5] = 0, 0, 0
	}
	for _, x := range []*float64{&r.Mean[0], &r.Mean[1], &r.Mean[2], &r.Spread} {
		*x = math.Round(*x*1e4) / 1e4
	}
	for k := range r.Cov {
		r.Cov[k] = math.Round(r.Cov[k]*1e6) / 1e6
	}
	return r, nil
}

var none = calibrate.Range{math.Inf(1), math.Inf(-1)}

// add widens a range to x.
func add(r *calibrate.Range, x float64) {
	x = math.Round(x*1e4) / 1e4
	r[0], r[1] = min(r[0], x), max(r[1], x)
}

// fitter fits the calibration by EM with a Laplace approximation: Newton steps for the mean coefficients given the
// intercepts of the sources, then for the intercepts given the mean and the spread. The spread includes the uncertainty
// of the intercepts.
type fitter struct {
	sources []calibrate.Source
	mean    [3]float64
	spread  float64
	shift   []float64 // u by source
}

const rounds = 60

func (f *fitter) fit() {
	f.mean, f.spread, f.shift = priorMean, fewSpread, make([]float64, len(f.sources))
	few := len(f.sources) < fewSources
	for range rounds {
		g, h := f.slopes()
		if few { // the context is left out, and must not pull at the others
			g[2], h[3], h[4] = 0, 0, 0
		}
		step := solve(h, g)
		for a := range step {
			f.mean[a] += min(max(step[a], -1), 1)
		}
		f.shifts(few)
	}
}

// eachBin calls do with x, the notes, the leaks and P of every bin that has notes.
func (f *fitter) eachBin(do func(source int, x [3]float64, notes, leaks, p float64)) {
	for i := range f.sources {
		s := &f.sources[i]
		m := s.MeanDoubt()
		for k, n := range s.Notes {
			if n > 0 {
				x := [3]float64{1, calibrate.DoubtOdds[k], m}
				do(i, x, float64(n), float64(s.Leaks[k]), calibrate.Sigmoid(f.mean[0]+f.mean[1]*x[1]+f.mean[2]*m+f.shift[i]))
			}
		}
	}
}

// slopes returns gradient and curvature of the log posterior of the mean.
func (f *fitter) slopes() (g [3]float64, h calibrate.Symmetric) {
	for a := range g {
		g[a] = priorPrecision[a] * (priorMean[a] - f.mean[a])
		h[a*(a+1)/2+a] = priorPrecision[a]
	}
	f.eachBin(func(_ int, x [3]float64, notes, leaks, p float64) {
		k := 0
		for a := range 3 {
			g[a] += x[a] * (leaks - notes*p)
			for b := range a + 1 {
				h[k] += x[a] * x[b] * notes * p * (1 - p)
				k++
			}
		}
	})
	return g, h
}

func (f *fitter) curvature() calibrate.Symmetric { _, h := f.slopes(); return h }

// shifts sets the intercepts of the sources, and the spread.
func (f *fitter) shifts(few bool) {
	precision := 1 / (f.spread * f.spread)
	g, h := make([]float64, len(f.shift)), make([]float64, len(f.shift))
	for i, u := range f.shift {
		g[i], h[i] = -u*precision, precision
	}
	f.eachBin(func(i int, _ [3]float64, notes, leaks, p float64) {
		g[i] += leaks - notes*p
		h[i] += notes * p * (1 - p)
	})
	sum := 0.0
	for i := range f.shift {
		f.shift[i] += min(max(g[i]/h[i], -1), 1)
		sum += f.shift[i]*f.shift[i] + 1/h[i]
	}
	if !few {
		f.spread = max(math.Sqrt(sum/float64(len(f.shift))), 0.05)
	}
}

// solve returns x with s·x = g.
func solve(s calibrate.Symmetric, g [3]float64) (x [3]float64) {
	l := s.Cholesky()
	x[0] = g[0] / l[0]
	x[1] = (g[1] - l[1]*x[0]) / l[2]
	x[2] = (g[2] - l[3]*x[0] - l[4]*x[1]) / l[5]
	x[2] /= l[5]
	x[1] = (x[1] - l[4]*x[2]) / l[2]
	x[0] = (x[0] - l[1]*x[1] - l[3]*x[2]) / l[0]
	return x
}

func inverse(s calibrate.Symmetric) (inv calibrate.Symmetric) {
	k := 0
	for a := range 3 {
		unit := [3]float64{}
		unit[a] = 1
		column := solve(s, unit)
		for b := range a + 1 {
			inv[k] = column[b]
			k++
		}
	}
	return inv
}
