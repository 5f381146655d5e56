package calibratetrain_test

import (
	"math"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/velum-health/velum/models/learn/calibratetrain"
	"github.com/velum-health/velum/models/tag/calibrate"
	"github.com/velum-health/velum/pipeline"
)

// writers are sources whose notes leak as they would by a known map: how unsure
// the notes of each are differs, and so does the intercept, by spread.
func writers(n, notes int, spread float64, seed uint64) []calibrate.Source {
	r := rand.New(rand.NewPCG(seed, 2))
	all := make([]calibrate.Source, n)
	for i := range all {
		s := &all[i]
		level := -3 + 2*r.NormFloat64()
		for range notes {
			doubt := 1 / (1 + math.Exp(-level-1.5*r.NormFloat64()))
			s.Note(float32(1-doubt), false, pipeline.Words{Seen: 10, Unknown: 2}, 1)
		}
		leak(s, spread*r.NormFloat64(), r)
	}
	return all
}

// leak draws which notes of a source keep something.
func leak(s *calibrate.Source, shift float64, r *rand.Rand) {
	m := s.MeanDoubt()
	for k, n := range s.Notes {
		middle := math.Ldexp(math.Sqrt2, k-calibrate.DoubtBins)
		z := math.Log(middle / (1 - middle))
		p := 1 / (1 + math.Exp(-(0.4 + 0.6*z + 0.5*m + shift)))
		for range n {
			if r.Float64() < p {
				s.Leaks[k]++
			}
		}
	}
}

// fitted is the map of forty writers.
var fitted = sync.OnceValue(func() *calibrate.Risk {
	r, err := calibratetrain.FitRisk(writers(40, 300, 0.5, 1))
	if err != nil {
		panic(err)
	}
	return r
})

// Of 200 writers whom the map has not seen the interval holds the true number of 95
// in 100, give or take what 200 tell, and is not so wide that it would hold anything.
func TestCoverage(t *testing.T) {
	r := fitted()
	if math.Abs(r.Mean[1]-0.6) > 0.1 || math.Abs(r.Mean[2]-0.5) > 0.25 || math.Abs(r.Spread-0.5) > 0.2 {
		t.Errorf("slope %.2f, context %.2f, spread %.2f; want .6, .5, .5", r.Mean[1], r.Mean[2], r.Spread)
	}
	held, wide := 0, 0
	others := writers(200, 500, math.Hypot(0.5, 0.8), 7) // of other houses
	for i := range others {
		_, leaks := others[i].All()
		e := r.Outlook(&others[i]).Expect()
		if e.Low <= leaks && leaks <= e.High {
			held++
		}
		if e.High > 60*max(e.Low, 3) {
			wide++
		}
		if e.Low > e.Notes || e.Notes > e.High {
			t.Fatalf("%+v", e)
		}
	}
	if held < 182 || held == 200 {
		t.Errorf("the interval holds %d of 200", held)
	}
	if wide > 10 {
		t.Errorf("%d intervals of 200 say nothing", wide)
	}
}

// The sum of 1 - confidence is no answer where the tagger is too sure.
func TestTooSure(t *testing.T) {
	all := writers(20, 400, 0, 3)
	r, err := calibratetrain.FitRisk(all[:19])
	if err != nil {
		t.Fatal(err)
	}
	_, leaks := all[19].All()
	if e := r.Outlook(&all[19]).Expect(); float64(e.Notes) < 0.6*float64(leaks) || float64(e.Notes) > 1.6*float64(leaks) {
		t.Errorf("%+v, true %d", e, leaks)
	}
}

// Few notes make a wide interval, and none at all an error; nothing makes NaN.
func TestFew(t *testing.T) {
	if _, err := calibratetrain.FitRisk(writers(1, 99, 0, 1)); err == nil {
		t.Error("99 notes are taken")
	}
	few, err := calibratetrain.FitRisk(writers(2, 60, 0, 1))
	if err != nil || few.Spread < 1 || few.Mean[2] != 0 {
		t.Fatalf("%+v, %v", few, err)
	}
	archive := writers(1, 500, 0, 5)[0]
	many, _ := calibratetrain.FitRisk(writers(40, 300, 0.3, 1))
	if a, b := few.Outlook(&archive).Expect(), many.Outlook(&archive).Expect(); a.High-a.Low <= b.High-b.Low {
		t.Errorf("of two sources %+v, of forty %+v", a, b)
	}
	for seed := range uint64(15) {
		draw := rand.New(rand.NewPCG(seed, 9))
		sources := make([]calibrate.Source, 1+draw.IntN(12))
		for i := range sources {
			for k := range sources[i].Notes {
				sources[i].Notes[k] = draw.Int64N(500) * draw.Int64N(2)
				sources[i].Leaks[k] = draw.Int64N(1+sources[i].Notes[k]) * draw.Int64N(2)
			}
		}
		r, err := calibratetrain.FitRisk(sources)
		if err != nil {
			continue
		}
		for _, x := range []float64{r.Mean[0], r.Mean[1], r.Mean[2], r.Spread, r.Cov[0], r.Cov[5]} {
			if math.IsNaN(x) || math.IsInf(x, 0) {
				t.Fatalf("seed %d: %+v", seed, r)
			}
		}
		n, _ := sources[0].All()
		if e := r.Outlook(&sources[0]).Expect(); e.Low < 0 || e.High > n || e.Low > e.High || e != r.Outlook(&sources[0]).Expect() {
			t.Fatalf("seed %d: %+v of %d notes", seed, e, n)
		}
	}
}

// What people found in a sample moves the number to where it is, and narrows it; and
// what leaks is divided among the categories.
func TestOutlookRead(t *testing.T) {
	r := fitted()
	archive := writers(1, 20_000, 1.5, 11)[0]
	notes, leaks := archive.All()
	before := r.Outlook(&archive).Expect()
	o := r.Outlook(&archive)
	var sample []calibrate.Sampled
	for k := 0; k < calibrate.DoubtBins; k += 9 {
		s := calibrate.Sampled{From: k, To: k + 9}
		for i := s.From; i < s.To; i++ {
			s.Read, s.Leaks = s.Read+archive.Notes[i]/20, s.Leaks+archive.Leaks[i]/20
		}
		sample = append(sample, s)
	}
	o.Read(sample)
	after := o.Expect()
	if after.Low > leaks || leaks > after.High || (after.High-after.Low)*2 > before.High-before.Low {
		t.Errorf("%d of %d leak: %+v before, %+v when a twentieth was read", leaks, notes, before, after)
	}
	shares := o.Shares()
	sum := 0.0
	for k, n := range archive.Notes {
		sum += shares[k] * float64(n)
	}
	if sum < float64(after.Low) || sum > float64(after.High) {
		t.Errorf("the bins add up to %.0f, %+v", sum, after)
	}
	kinds := o.Kinds([]calibrate.Kind{{Name: "PERSON", Found: 5000}, {Name: "EMAIL", Found: 5000}})
	if both := kinds[0].Notes + kinds[1].Notes; kinds[0].Notes < 4*kinds[1].Notes || both < after.Notes*8/10 || both > after.Notes*12/10 {
		t.Errorf("of %+v: %+v", after, kinds)
	}
}

// Once the hundred least sure notes of an archive were read, as a sample begins, the interval holds the true number
// as often as it says, and nearly
// all are at most four times as wide as their lower end.
func TestLeastSureFirst(t *testing.T) {
	r := fitted()
	held, narrow, draw := 0, 0, rand.New(rand.NewPCG(3, 4))
	others := writers(100, 500, math.Hypot(0.5, 0.8), 9)
	for i := range others {
		s, some := &others[i], []calibrate.Sampled(nil)
		for k, left := calibrate.DoubtBins-1, int64(100); k >= 0 && left > 0; k-- {
			x := calibrate.Sampled{From: k, To: k + 1, Read: min(s.Notes[k], left)}
			rest, leaks := s.Notes[k], s.Leaks[k] // drawn without replacement
			for range x.Read {
				if draw.Int64N(rest) < leaks-x.Leaks {
					x.Leaks++
				}
				rest--
			}
			some, left = append(some, x), left-x.Read
		}
		o := r.Outlook(s)
		o.Read(some)
		_, leaks := s.All()
		e := o.Expect()
		if e.Low <= leaks && leaks <= e.High {
			held++
		}
		if e.High <= 4*max(e.Low, 1) {
			narrow++
		}
	}
	t.Logf("the interval holds %d of 100, %d are narrow", held, narrow)
	if held < 92 || narrow < 70 {
		t.Errorf("the interval holds %d of 100, %d are narrow", held, narrow)
	}
}

// The dial takes 1.3 of log odds for each unit of bias: of what leaks with P = 1/2 at none, e^-2.6/(1 + e^-2.6) = .0691 at two.
func TestDialled(t *testing.T) {
	r := &calibrate.Risk{Notes: 1000, Leaks: 500, Mean: [3]float64{0.3923, 0.65, 0}, Spread: 0.01, Doubt: calibrate.Range{-5, -1}}
	var s calibrate.Source
	s.Notes[16] = 1_000_000 // z = -.6035
	plain, dialled := r.Outlook(&s).Expect(), r.Dialled(2).Outlook(&s).Expect()
	if plain.Notes < 460_000 || plain.Notes > 540_000 || dialled.Notes < 60_000 || dialled.Notes > 80_000 {
		t.Errorf("%d without, %d with the dial", plain.Notes, dialled.Notes)
	}
	if d := r.Dialled(2).Doubt; math.Abs(d[0]+2.8) > 1e-9 || math.Abs(d[1]-1.2) > 1e-9 {
		t.Errorf("doubt %v", d)
	}
	if (*calibrate.Risk)(nil).Dialled(2) != nil || r.Mean[0] != 0.3923 {
		t.Error("none, or the map itself, was changed")
	}
}
