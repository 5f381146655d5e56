package calibrate

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Expected is the expected number of notes that still hold an identifier, with the ends of the 95 % interval.
type Expected struct {
	Notes int64 `json:"notes"`
	Low   int64 `json:"low"`
	High  int64 `json:"high"`
}

// draws is the number of simulated archives: each end of the interval rests on 50 of them.
const draws = 2000

// An Outlook predicts the number of leaking notes of one archive: it holds random draws of the coefficients of the
// calibration and of the intercept of this archive. Archives differ (Spread), so the interval is wider than that of
// binomial sampling (over-dispersion). Read reweights the draws by what people found in a sample.
type Outlook struct {
	risk    *Risk
	archive *Source
	draws   [draws]drawn
	read    []Sampled
}

// houses is how much institutions differ beyond the writers and kinds of document of one corpus, as a standard
// deviation of log odds. Each of nubes-phi, notes-ca, notes-voices and our own hands was predicted from the other
// three, with errors of .86, .45, .64 and .56 (the CRF: .71, .15, .32, .31): .64 in the root mean square, which
// Student's t for four values widens to .9.
const houses = 0.8

// slopes is how much the slopes of institutions differ. When the least sure notes of fifty copies of an archive were
// read, the interval held the true number in 51 of 60 cases without it, and in 56 with it.
const slopes = 0.1

// drawn is one draw.
type drawn struct {
	at, context, slope float64 // logit P = at + context·m + slope·z + shift
	shift              float64 // u of the archive
	weight             float64
}

// Sampled counts the notes of some bins of doubt that were drawn at random and read, and those that leaked.
type Sampled struct {
	From, To    int // bins, To exclusive
	Read, Leaks int64
}

// Outlook draws the Outlook of an archive. The random numbers are seeded, so equal counts give equal results.
func (r *Risk) Outlook(archive *Source) *Outlook {
	o := &Outlook{risk: r, archive: archive}
	draw := rand.New(rand.NewPCG(uint64(r.Notes), uint64(r.Leaks)))
	l := Symmetric(r.Cov).Cholesky()
	for i := range o.draws {
		a, b, c := draw.NormFloat64(), draw.NormFloat64(), draw.NormFloat64()
		o.draws[i] = drawn{
			at: r.Mean[0] + l[0]*a, slope: max(r.Mean[1]+l[1]*a+l[2]*b+slopes*draw.NormFloat64(), 0), context: r.Mean[2] + l[3]*a + l[4]*b + l[5]*c,
			shift: r.apart() * draw.NormFloat64(), weight: 1,
		}
	}
	return o
}

// apart returns how much the archive of another institution may differ.
func (r *Risk) apart() float64 { return math.Hypot(r.Spread, houses) }

// Read updates the outlook with the results of a reading. The intercept of each draw is drawn again around its maximum
// (Laplace), and the draw is weighted by the likelihood of the reading (importance sampling; Gelman et al., Bayesian
// Data Analysis, 10.4). The result still depends on the model; audit.UpperStrata is a bound that does not.
func (o *Outlook) Read(strata []Sampled) {
	draw := rand.New(rand.NewPCG(uint64(o.risk.Notes), 1))
	m, spread := o.archive.MeanDoubt(), o.risk.apart()
	logs, most := make([]float64, draws), math.Inf(-1)
	for i := range o.draws {
		d := &o.draws[i]
		u, precision := 0.0, 0.0
		for range 12 {
			slope, information, _ := o.told(d, d.at+d.context*m+u, strata)
			precision = information + 1/(spread*spread)
			u += min(max((slope-u/(spread*spread))/precision, -1), 1)
		}
		z := draw.NormFloat64()
		d.shift = u + z/math.Sqrt(precision)
		_, _, log := o.told(d, d.at+d.context*m+d.shift, strata)
		logs[i] = log - d.shift*d.shift/(2*spread*spread) + z*z/2 - math.Log(precision)/2
		most = max(most, logs[i])
	}
	for i := range o.draws {
		o.draws[i].weight = math.Exp(logs[i] - most)
	}
	o.read = strata
}

// told returns the log likelihood of a reading, its derivative by the intercept, and Fisher's information.
func (o *Outlook) told(d *drawn, at float64, strata []Sampled) (slope, information, log float64) {
	for _, s := range strata {
		notes, p, dp := 0.0, 0.0, 0.0
		for k := s.From; k < s.To; k++ {
			n, q := float64(o.archive.Notes[k]), Sigmoid(at+d.slope*DoubtOdds[k])
			notes, p, dp = notes+n, p+n*q, dp+n*q*(1-q)
		}
		if notes == 0 || s.Read == 0 {
			continue
		}
		p, dp = min(max(p/notes, 1e-9), 1-1e-9), dp/notes
		read, leaks := float64(s.Read), float64(s.Leaks)
		slope += (leaks - read*p) / (p * (1 - p)) * dp
		information += read * dp * dp / (p * (1 - p))
		log += leaks*math.Log(p) + (read-leaks)*math.Log1p(-p)
	}
	return slope, information, log
}

// Expect returns the expected number of notes of the archive in which an identifier was left. Notes of the sample that a
// person has read count as what the person found.
func (o *Outlook) Expect() Expected {
	rest, known := *o.archive, int64(0)
	for _, s := range o.read {
		notes := int64(0)
		for k := s.From; k < s.To; k++ {
			notes += rest.Notes[k]
		}
		for k := s.From; k < s.To && notes > 0; k++ {
			rest.Notes[k] -= rest.Notes[k] * min(s.Read, notes) / notes
		}
		known += s.Leaks
	}
	e := o.of(&rest, false)
	return Expected{e.Notes + known, e.Low + known, e.High + known}
}

// Part is Expect for a part of the notes. With apart, the part has an intercept of its own beside that of the archive,
// as the notes of one centre.
func (o *Outlook) Part(s *Source, apart bool) Expected { return o.of(s, apart) }

// Shares returns the expected share of leaking notes in each bin, the mean over all draws.
func (o *Outlook) Shares() (p [DoubtBins]float64) {
	m, all := o.archive.MeanDoubt(), 0.0
	for i := range o.draws {
		d := &o.draws[i]
		all += d.weight
		for k, z := range DoubtOdds {
			p[k] += d.weight * Sigmoid(d.at+d.context*m+d.shift+d.slope*z)
		}
	}
	for k := range p {
		p[k] /= all
	}
	return p
}

// of simulates archives with these counts: the leaking notes of each bin.
func (o *Outlook) of(s *Source, apart bool) Expected {
	return o.shared(s, apart, 1, func(_ *rand.Rand, shares []float64) { shares[0] = 1 })[0]
}

// shared is of, divided into parts: share returns which share of the leaking notes belongs to each part in a draw.
func (o *Outlook) shared(s *Source, apart bool, parts int, share func(draw *rand.Rand, shares []float64)) []Expected {
	draw := rand.New(rand.NewPCG(uint64(o.risk.Notes), uint64(o.risk.Leaks)+1))
	sums, shares := make([][]sum, parts), make([]float64, parts)
	all, m := 0.0, o.archive.MeanDoubt()
	common := houses * houses / (o.risk.apart() * o.risk.apart()) // correlation of two sources of one institution
	for i := range o.draws {
		d := &o.draws[i]
		shift := d.shift
		if apart {
			shift = common*shift + math.Sqrt(1-common*common)*o.risk.apart()*draw.NormFloat64()
		}
		at, leaks := d.at+d.context*m+shift, 0.0
		for k, n := range s.Notes {
			if n > 0 {
				leaks += binomial(draw, n, Sigmoid(at+d.slope*DoubtOdds[k]))
			}
		}
		share(draw, shares)
		for k, part := range shares {
			sums[k] = append(sums[k], sum{math.Round(leaks * part), d.weight})
		}
		all += d.weight
	}
	expected := make([]Expected, parts)
	for k, of := range sums {
		slices.SortStableFunc(of, func(a, b sum) int { return int(a.leaks - b.leaks) })
		expected[k] = Expected{quantile(of, 0.5*all), quantile(of, 0.025*all), quantile(of, 0.975*all)}
	}
	return expected
}

// sum is the number of leaking notes in a draw, with the weight of the draw.
type sum struct{ leaks, weight float64 }

// quantile returns the number at which the draws up to it have the given share of the weight.
func quantile(sums []sum, weight float64) int64 {
	below := 0.0
	for _, x := range sums {
		if below += x.weight; below >= weight {
			return int64(x.leaks)
		}
	}
	return int64(sums[len(sums)-1].leaks)
}

// Kind is a category with the number of its spans in an archive.
type Kind struct {
	Name  string
	Found int64 // number of spans
	Read  int64 // number of notes in which readers found something of it unmasked
}

// miss counts the finds and misses of a category.
type miss struct {
	notes int64 // in which something of it was left
	found int64 // its spans
}

// plainMissed counts the misses of two CRFs in 30,530 notes of nubes-phi, notes-ca and
// notes-voices, each of them by the one that had not seen its writer or kind of
// document.
var plainMissed = map[string]miss{
	"AGE": {23, 1538}, "DATE": {67, 3779}, "DNI": {0, 54}, "EMAIL": {0, 127}, "LOCATION": {263, 4357},
	"PERSON": {406, 3658}, "SANITARY_CARD_ID": {2, 257}, "TELEPHONE": {0, 267},
}

// kindsPrior is the number of leaks in a reading that count as much as the calibration for the division by category,
// because sources differ in that, too.
const kindsPrior = 4

// likeAll is the number of spans of all categories with which the miss rate of a category is smoothed.
const likeAll = 30

// Kinds divides the leaking notes by category, in proportion to the spans of each category in the archive and to its
// miss rate in the calibration notes.
func (o *Outlook) Kinds(kinds []Kind) []Expected {
	odds, apart := make([]float64, len(kinds)), make([]float64, len(kinds))
	read, whole := int64(0), miss{1, 1}
	for _, m := range plainMissed {
		whole.notes, whole.found = whole.notes+m.notes, whole.found+m.found
	}
	for i, k := range kinds {
		m := plainMissed[k.Name] // few spans say less than those of all categories
		notes := float64(m.notes) + likeAll*float64(whole.notes)/float64(whole.found)
		odds[i] = float64(k.Found) * notes / (float64(m.found) + likeAll)
		apart[i] = math.Sqrt(1/(notes+0.5) + o.risk.Spread*o.risk.Spread)
		read += k.Read
	}
	return o.shared(o.archive, false, len(kinds), func(draw *rand.Rand, shares []float64) {
		sum := 0.0
		for i := range odds {
			shares[i] = odds[i] * math.Exp(apart[i]*draw.NormFloat64())
			sum += shares[i]
		}
		for i, k := range kinds {
			shares[i] = (kindsPrior*shares[i]/max(sum, math.SmallestNonzeroFloat64) + float64(k.Read)) / float64(kindsPrior+read)
		}
	})
}

// binomial draws from a binomial distribution: by inversion for small means, otherwise from the normal distribution.
func binomial(draw *rand.Rand, n int64, p float64) float64 {
	if p > 0.5 {
		return float64(n) - binomial(draw, n, 1-p)
	}
	mean := float64(n) * p
	if mean > 30 {
		return min(max(math.Round(mean+draw.NormFloat64()*math.Sqrt(mean*(1-p))), 0), float64(n))
	}
	k, left, odds := 0.0, draw.Float64(), p/(1-p)
	term := math.Exp(float64(n) * math.Log1p(-p))
	for left > term && k < float64(n) && term > 0 {
		left -= term
		term *= (float64(n) - k) / (k + 1) * odds
		k++
	}
	return k
}
