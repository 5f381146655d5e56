package calibrate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/velum-health/velum/pipeline"
)

func near(a, b, by float64) bool { return math.Abs(a-b) <= by }

func TestDoubtBin(t *testing.T) {
	for _, c := range []struct {
		confidence float32
		want       int
	}{{1, 0}, {1.0001, 0}, {0.99999, 1}, {0.9999, 4}, {0.999, 8}, {0.99, 11}, {0.9, 14}, {0.75, 16}, {0.51, 16}, {0.5, 17}, {0, 17}, {-1, 17}} {
		if got := DoubtBin(c.confidence); got != c.want {
			t.Errorf("%v: bin %d, want %d", c.confidence, got, c.want)
		}
	}
	for k, want := range map[int]float64{17: 0.8814, 16: -0.6035, 0: -12.1301} { // ln(p/(1-p)) of √2/2, √2/4, √2/2^18
		if !near(DoubtOdds[k], want, 1e-4) {
			t.Errorf("log odds of bin %d: %.4f, want %.4f", k, DoubtOdds[k], want)
		}
	}
}

func TestSigmoid(t *testing.T) {
	for z, want := range map[float64]float64{0: 0.5, math.Log(3): 0.75, -math.Log(3): 0.25, 800: 1, -800: 0} {
		if got := Sigmoid(z); !near(got, want, 1e-12) {
			t.Errorf("of %g: %g, want %g", z, got, want)
		}
	}
}

// TestCholesky multiplies by hand: L·Lᵀ.
func TestCholesky(t *testing.T) {
	for _, c := range []struct{ of, want Symmetric }{
		{Symmetric{4, 2, 5, 6, 7, 14}, Symmetric{2, 1, 2, 3, 2, 1}},
		{Symmetric{1, -2, 5, 0, 3, 13}, Symmetric{1, -2, 1, 0, 3, 2}},
		{Symmetric{}, Symmetric{}},
		{Symmetric{0, 0, 4, 0, 2, 5}, Symmetric{0, 0, 2, 0, 1, 2}},
		{Symmetric{-1e-9, 0, -1e-9, 0, 0, -1e-9}, Symmetric{}}, // rounding
	} {
		if got := c.of.Cholesky(); got != c.want {
			t.Errorf("%v: %v, want %v", c.of, got, c.want)
		}
	}
}

func TestSource(t *testing.T) {
	var s Source
	s.Note(1, false, pipeline.Words{Seen: 10, Unknown: 2}, 3)
	s.Note(0.5, true, pipeline.Words{Seen: 6}, 1)
	s.Note(0.25, true, pipeline.Words{Seen: 4, Unknown: 3}, 0)
	s.Leaks[17] = 1
	var sum Source
	sum.Add(&s)
	sum.Add(&s)
	for name, c := range map[string]struct{ got, want float64 }{
		"unknown": {s.UnknownShare(), 5. / 20}, "foreign": {s.ForeignShare(), 2. / 3}, "spans": {s.SpansPerNote(), 4. / 3},
		"doubt": {s.MeanDoubt(), (DoubtOdds[0] + 2*DoubtOdds[17]) / 3},
		"empty": {new(Source).MeanDoubt() + new(Source).UnknownShare() + new(Source).ForeignShare() + new(Source).SpansPerNote(), 0},
		"twice": {sum.SpansPerNote() + sum.UnknownShare() + sum.ForeignShare(), s.SpansPerNote() + s.UnknownShare() + s.ForeignShare()},
	} {
		if !near(c.got, c.want, 1e-12) {
			t.Errorf("%s: %g, want %g", name, c.got, c.want)
		}
	}
	if s.Notes[0] != 1 || s.Notes[17] != 2 || sum.Notes[17] != 4 || sum.Words != 40 || sum.Unknown != 10 || sum.Told != 6 || sum.Spans != 8 || sum.Foreign != 4 {
		t.Errorf("%+v, twice %+v", s, sum)
	}
	if notes, leaks := sum.All(); notes != 6 || leaks != 2 {
		t.Errorf("%d notes, %d leak", notes, leaks)
	}
}

func TestParts(t *testing.T) {
	p := Parts{}
	for _, confidence := range []float32{1, 1, 0.5} {
		p.Note("language ", []byte("es"), confidence)
	}
	p.Note("centre ", []byte("es"), 1)
	for i := range 300 {
		p.Note("centre ", fmt.Append(nil, i), 1)
	}
	p.Note("centre ", []byte("es"), 1) // known: it counts, however many there are
	got := map[string]int64{}
	p.Each(func(name, bin string, n int64) { got[name+" "+bin] += n })
	if len(p) != 256 || len(got) != 257 || got["language es 0"] != 2 || got["language es 17"] != 1 || got["centre es 0"] != 2 || got["centre 253 0"] != 1 || got["centre 254 0"] != 0 {
		t.Errorf("%d parts, %d counts: %v", len(p), len(got), got)
	}
}

// sure is a map that leaves no chance: every note whose log odds are above 0 leaks, and no other.
func sure(mean [3]float64) *Risk { return &Risk{Mean: mean, Notes: 100, Leaks: 10} }

// archive has notes in some bins.
func archive(notes map[int]int64) *Source {
	s := new(Source)
	for k, n := range notes {
		s.Notes[k] = n
	}
	return s
}

func TestExpect(t *testing.T) {
	for _, c := range []struct {
		name  string
		mean  [3]float64
		notes map[int]int64
		read  []Sampled
		want  int64
	}{
		{"none leaks", [3]float64{-50, 0, 0}, map[int]int64{0: 30, 17: 12}, nil, 0},
		{"all leak", [3]float64{50, 0, 0}, map[int]int64{0: 30, 17: 12}, nil, 42},
		{"by doubt", [3]float64{0, 1000, 0}, map[int]int64{0: 30, 16: 40, 17: 12}, nil, 12},
		{"a slope that falls is none", [3]float64{-50, -1000, 0}, map[int]int64{0: 30, 17: 12}, nil, 0},
		{"among unsure notes", [3]float64{-1000, 0, 2000}, map[int]int64{17: 8}, nil, 8}, // m = .88
		{"among surer notes", [3]float64{-1000, 0, 2000}, map[int]int64{16: 8}, nil, 0},  // m = -.60
		{"read, and none leaks", [3]float64{-50, 0, 0}, map[int]int64{2: 90, 3: 10}, []Sampled{{0, 18, 10, 3}}, 3},
		{"read, and all leak", [3]float64{50, 0, 0}, map[int]int64{4: 100}, []Sampled{{0, 18, 10, 10}}, 100},
		{"two strata", [3]float64{50, 0, 0}, map[int]int64{2: 40, 12: 60}, []Sampled{{0, 9, 10, 1}, {9, 18, 20, 2}}, 30 + 40 + 3},
		{"one of two strata", [3]float64{50, 0, 0}, map[int]int64{8: 40, 9: 60}, []Sampled{{9, 18, 20, 2}}, 40 + 40 + 2},
		{"all read", [3]float64{50, 0, 0}, map[int]int64{8: 40, 9: 60}, []Sampled{{0, 18, 100, 2}}, 2},
		{"more read than there are", [3]float64{50, 0, 0}, map[int]int64{8: 4}, []Sampled{{0, 18, 9, 2}}, 2},
	} {
		o := sure(c.mean).Outlook(archive(c.notes))
		if c.read != nil {
			o.Read(c.read)
		}
		if got := o.Expect(); got != (Expected{c.want, c.want, c.want}) {
			t.Errorf("%s: %+v, want %d", c.name, got, c.want)
		}
		if c.read != nil {
			continue
		}
		for _, apart := range []bool{false, true} {
			if got := o.Part(archive(c.notes), apart); got.Notes != c.want || got.Low != c.want || got.High != c.want {
				t.Errorf("%s, as a part: %+v, want %d", c.name, got, c.want)
			}
		}
	}
}

// TestShares has bins of which all notes leak, half, and none.
func TestShares(t *testing.T) {
	o := (&Risk{Mean: [3]float64{0, 0, 0}, Spread: 0.1}).Outlook(archive(map[int]int64{9: 5}))
	if p := o.Shares()[16]; !near(p, 0.5, 0.03) { // the mean over symmetric intercepts
		t.Errorf("%g, want .5", p)
	}
	shares := sure([3]float64{0, 1000, 0}).Outlook(archive(map[int]int64{9: 5})).Shares()
	if !near(shares[16], 0, 1e-9) || !near(shares[17], 1, 1e-9) {
		t.Errorf("around 0: %g and %g", shares[16], shares[17])
	}
}

// TestDraws wants draws that have the mean and the covariances of the map.
func TestDraws(t *testing.T) {
	r := &Risk{Mean: [3]float64{1, 50, 2}, Cov: [6]float64{4, 2, 5, 6, 7, 14}, Spread: math.Sqrt(3), Notes: 5}
	o := r.Outlook(new(Source))
	var mean [4]float64
	var cov [4][4]float64
	x := func(d *drawn) [4]float64 { return [4]float64{d.at, d.slope, d.context, d.shift} }
	for i := range o.draws {
		for a, v := range x(&o.draws[i]) {
			mean[a] += v / draws
		}
	}
	for i := range o.draws {
		v := x(&o.draws[i])
		for a := range v {
			for b := range v {
				cov[a][b] += (v[a] - mean[a]) * (v[b] - mean[b]) / draws
			}
		}
	}
	want := [4][4]float64{{4, 2, 6, 0}, {2, 5, 7, 0}, {6, 7, 14, 0}, {0, 0, 0, 3 + houses*houses}}
	for a, m := range [4]float64{1, 50, 2, 0} {
		if !near(mean[a], m, 0.3) {
			t.Errorf("mean %d: %g, want %g", a, mean[a], m)
		}
		for b := range want[a] {
			if !near(cov[a][b], want[a][b], 1) {
				t.Errorf("covariance %d, %d: %g, want %g", a, b, cov[a][b], want[a][b])
			}
		}
	}
}

// TestTold differentiates by hand: at 0 every note leaks with probability one half.
func TestTold(t *testing.T) {
	o := &Outlook{archive: archive(map[int]int64{3: 30, 4: 10, 9: 7})}
	third := math.Log(0.5)
	for _, c := range []struct {
		name                    string
		at                      float64
		strata                  []Sampled
		slope, information, log float64
	}{
		{"half", 0, []Sampled{{0, 9, 10, 5}}, 0, 10 * 0.25, 10 * math.Log(0.5)},
		{"more", 0, []Sampled{{0, 9, 10, 8}}, 3, 10 * 0.25, 10 * math.Log(0.5)},
		{"a quarter", -math.Log(3), []Sampled{{3, 5, 8, 4}}, 4 - 8*0.25, 8 * 0.1875, 4*math.Log(0.25) + 4*math.Log(0.75)},
		{"two strata", 0, []Sampled{{0, 9, 10, 8}, {9, 18, 4, 1}}, 3 - 1, 14 * 0.25, 14 * third},
		{"without notes", 0, []Sampled{{10, 18, 10, 5}}, 0, 0, 0},
		{"none read", 0, []Sampled{{0, 9, 0, 0}}, 0, 0, 0},
	} {
		slope, information, log := o.told(new(drawn), c.at, c.strata)
		if !near(slope, c.slope, 1e-9) || !near(information, c.information, 1e-9) || !near(log, c.log, 1e-9) {
			t.Errorf("%s: %g, %g, %g, want %g, %g, %g", c.name, slope, information, log, c.slope, c.information, c.log)
		}
	}
	mixed := &Outlook{archive: archive(map[int]int64{16: 3, 17: 1})}
	at, d := 0.0, &drawn{slope: 1}
	p := (3*0.35355339 + 0.70710678) / 4 // the middles of the bins, by their notes
	dp := (3*0.35355339*0.64644661 + 0.70710678*0.29289322) / 4
	slope, information, _ := mixed.told(d, at, []Sampled{{0, 18, 20, 11}})
	if !near(slope, (11-20*p)/(p*(1-p))*dp, 1e-6) || !near(information, 20*dp*dp/(p*(1-p)), 1e-6) {
		t.Errorf("of two bins: %g, %g", slope, information)
	}
}

// TestRead has a reading in which 90 of 100 leak, and an archive of which nothing else is known: the posterior's
// mode solves 90 - 100·p = u/4, u = 2.14, p = .895.
func TestRead(t *testing.T) {
	o := (&Risk{Spread: math.Sqrt(4 - houses*houses)}).Outlook(archive(map[int]int64{9: 10_000})) // 2 apart
	o.Read([]Sampled{{0, 18, 100, 90}})
	if got := o.Shares()[9]; !near(got, 0.893, 0.006) {
		t.Errorf("share %g, want .893", got)
	}
	e := o.Expect() // ± 1.96 · √(.895·.105/100) = .06
	if !near(float64(e.Notes), 8950, 60) || !near(float64(e.Low), 8260, 120) || !near(float64(e.High), 9430, 120) {
		t.Errorf("%+v", e)
	}
}

func TestKinds(t *testing.T) {
	all := func(n int64, kinds ...Kind) []Expected {
		return sure([3]float64{50, 0, 0}).Outlook(archive(map[int]int64{9: n})).Kinds(kinds)
	}
	exactly := func(n int64) Expected { return Expected{n, n, n} }
	for _, c := range []struct {
		name  string
		kinds []Kind
		want  []Expected
	}{
		{"one", []Kind{{"PERSON", 7, 0}}, []Expected{exactly(1000)}},
		{"one without spans", []Kind{{"PERSON", 7, 0}, {"EMAIL", 0, 0}}, []Expected{exactly(1000), exactly(0)}},
		{"a reading", []Kind{{"PERSON", 7, 0}, {"EMAIL", 0, 12}}, []Expected{exactly(250), exactly(750)}}, // 4 and 12 of 16
	} {
		for i, got := range all(1000, c.kinds...) {
			if got != c.want[i] {
				t.Errorf("%s, %s: %+v, want %+v", c.name, c.kinds[i].Name, got, c.want[i])
			}
		}
	}
	// 406 notes of 3,658 spans against 0 of 127 with what all categories have among 30 more: .111 and .0104.
	if got := all(10_000, Kind{"PERSON", 1000, 0}, Kind{"EMAIL", 1000, 0}); got[0].Notes < 8700 || got[0].Notes > 9400 || got[0].Notes+got[1].Notes < 9900 || got[0].Notes+got[1].Notes > 10_100 {
		t.Errorf("as many spans of persons as of addresses: %+v", got)
	}
}

func TestBinomial(t *testing.T) {
	draw := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		n int64
		p float64
	}{{0, 0.3}, {5, 0}, {5, 1}, {10, 0.3}, {10, 0.9}, {1000, 0.02}, {1000, 0.5}, {1000, 0.97}, {40_000, 0.001}, {3, 0.5}} {
		const times = 4000
		sum, square := 0.0, 0.0
		for range times {
			k := binomial(draw, c.n, c.p)
			if k < 0 || k > float64(c.n) || k != math.Trunc(k) {
				t.Fatalf("%d, %g: %g come true", c.n, c.p, k)
			}
			sum, square = sum+k, square+k*k
		}
		mean, variance := sum/times, square/times-sum/times*sum/times
		wantMean, wantVariance := float64(c.n)*c.p, float64(c.n)*c.p*(1-c.p)
		if !near(mean, wantMean, 5*math.Sqrt(wantVariance/times)+1e-9) || !near(variance, wantVariance, 0.12*wantVariance+1e-9) {
			t.Errorf("%d, %g: mean %g and variance %g, want %g and %g", c.n, c.p, mean, variance, wantMean, wantVariance)
		}
	}
}

// TestApart wants the notes of a part that lies apart to be less certain than those of the archive that the map foretells,
// and as certain in the middle.
func TestApart(t *testing.T) {
	o := (&Risk{Spread: 3}).Outlook(archive(map[int]int64{9: 1000}))
	o.Read([]Sampled{{0, 18, 900, 450}})
	part := archive(map[int]int64{9: 1000})
	with, apart := o.Part(part, false), o.Part(part, true)
	if with.High-with.Low > 140 || apart.High-apart.Low < 900 || !near(float64(with.Notes), 500, 20) || !near(float64(apart.Notes), 500, 150) {
		t.Errorf("%+v, apart %+v", with, apart)
	}
}

// TestWilson has the figures of his paper's formula.
func TestWilson(t *testing.T) {
	for _, c := range []struct {
		part, whole int64
		want        [2]float64
	}{{0, 0, [2]float64{0, 1}}, {10, 10, [2]float64{0.7225, 1}}, {0, 10, [2]float64{0, 0.2775}}, {5, 10, [2]float64{0.2366, 0.7634}}, {940, 1000, [2]float64{0.9235, 0.9531}}} {
		got := Wilson(c.part, c.whole)
		if math.Abs(got[0]-c.want[0]) > 1e-4 || math.Abs(got[1]-c.want[1]) > 1e-4 {
			t.Errorf("%d of %d: %v, want %v", c.part, c.whole, got, c.want)
		}
	}
}
