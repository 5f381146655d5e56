package audit

import (
	"math"
	"slices"
)

// nuisance is the part of the allowed error that is spent on the lower limits of the strata: see UpperStrata.
const nuisance = 0.002

// UpperStrata returns the one-sided upper bound of the number of notes that still hold an identifier, where each
// stratum was sampled at random without replacement. It is exact: whatever the notes are like, the true number exceeds
// the bound with a probability of at most 1-confidence.
//
// The bound is the largest number M that a test does not refuse: with M leaks divided
// among the strata in the worst way, an estimate as low as the one observed, or
// lower, must have more than 1-confidence (Wendell and Schmee 1996, Exact inference
// for proportions from a stratified finite population). The worst way among all
// would give away what strata are drawn for, so that each stratum but the one
// sampled most thinly has at least as many leaks as its own exact lower limit says,
// and what these limits may err is taken off (Berger and Boos 1994). Of one stratum
// it is the bound of the hypergeometric distribution, which comes to that of Clopper
// and Pearson in large archives. Of strata in which nothing was found it is no lower
// than that of a plain sample of as many notes.
func UpperStrata(strata []Stratum, confidence float64) int64 {
	b := newStrataBound(strata, 1-confidence)
	low, high := b.least(), b.most()+1                      // not refused; refused or impossible
	for step := max(low/8, 1); low+step < high; step *= 2 { // most bounds lie near
		if !b.holds(low + step) {
			high = low + step
			break
		}
		low += step
	}
	for high-low > 1 {
		middle := low + (high-low)/2
		if b.holds(middle) {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}

// Estimate returns the estimated number of notes that still hold an identifier: the rate found in each stratum times
// its notes. Strata without a reading count 0.
func Estimate(strata []Stratum) (sum float64) {
	for _, s := range strata {
		if s.Read > 0 {
			sum += float64(s.Notes) * float64(s.Leaks) / float64(s.Read)
		}
	}
	return sum
}

// strataBound holds what the test needs.
type strataBound struct {
	strata []Stratum // the most thinly sampled last
	floor  []int64   // lower limits of the leaks
	alpha  float64   // what is left for the test
	found  float64   // the estimate
	mass   [][]float64
}

func newStrataBound(strata []Stratum, alpha float64) *strataBound {
	b := &strataBound{alpha: alpha, found: Estimate(strata) * (1 + 1e-12)}
	b.strata = slices.DeleteFunc(slices.Clone(strata), func(s Stratum) bool { return s.Notes == 0 })
	thin := func(s Stratum) float64 { return float64(s.Read) / float64(s.Notes) }
	slices.SortStableFunc(b.strata, func(x, y Stratum) int { return int(math.Copysign(1, thin(y)-thin(x))) })
	b.floor, b.mass = make([]int64, len(b.strata)), make([][]float64, len(b.strata))
	for i, s := range b.strata {
		b.floor[i] = s.Leaks
		if i < len(b.strata)-1 {
			b.floor[i] = lowest(s, nuisance/float64(len(b.strata)-1))
		}
	}
	if len(b.strata) > 1 {
		b.alpha -= nuisance
	}
	return b
}

func (b *strataBound) least() (sum int64) {
	for _, m := range b.floor {
		sum += m
	}
	return sum
}

func (b *strataBound) most() (sum int64) {
	for _, s := range b.strata {
		sum += s.Notes - s.Read + s.Leaks
	}
	return sum
}

// lowest returns the exact lower limit of the leaks of a stratum.
func lowest(s Stratum, alpha float64) int64 {
	low, high := s.Leaks, s.Notes-s.Read+s.Leaks // so many or more of them are found in more than alpha of all samples
	for low < high {
		middle := low + (high-low)/2
		if 1-sum(hypergeometric(nil, s.Notes, s.Read, middle, s.Leaks-1)) > alpha {
			high = middle
		} else {
			low = middle + 1
		}
	}
	return low
}

// box is a set of ways to divide the leaks among the strata: each stratum but the last has between from and to of them,
// the last has the remaining ones.
type box struct{ from, to []int64 }

// slack is by how much a probability may be overestimated, indexed by the number of strata. Overestimating is safe,
// since it makes the bound larger, and it saves splitting boxes down to single divisions.
var slack = [...]float64{0, 0, 0.002, 0.04}

// holds tells whether some division of m leaks gives what was found, or less, more
// than alpha. Fewer leaks anywhere make less more probable, so that a box of
// divisions is bounded by its lowest corner (branch and bound).
func (b *strataBound) holds(m int64) bool {
	last := len(b.strata) - 1
	if last < 0 {
		return false
	}
	room := func(i int) int64 { return b.strata[i].Notes - b.strata[i].Read + b.strata[i].Leaks }
	first := box{slices.Clone(b.floor[:last]), make([]int64, last)}
	for i := range last {
		first.to[i] = room(i)
	}
	boxes := []box{first}
	for len(boxes) > 0 {
		x := boxes[len(boxes)-1]
		boxes = boxes[:len(boxes)-1]
		from, to := m, m // of the last stratum
		for i := range last {
			from, to = from-x.to[i], to-x.from[i]
		}
		if to < b.floor[last] || from > room(last) {
			continue
		}
		highest := b.tail(append(slices.Clone(x.from), max(from, b.floor[last])))
		if highest <= b.alpha {
			continue
		}
		at, widest := -1, 0.0
		for i := range last { // what is widest in leaks that a sample would show
			if w := float64(x.to[i]-x.from[i]) * float64(b.strata[i].Read+1) / float64(b.strata[i].Notes); w > widest {
				at, widest = i, w
			}
		}
		if at < 0 {
			return true // one division
		}
		if to <= room(last) && b.tail(append(slices.Clone(x.from), to)) > b.alpha/(1+slack[min(last+1, len(slack)-1)]) {
			return true
		}
		middle := x.from[at] + (x.to[at]-x.from[at])/2
		left, right := box{x.from, slices.Clone(x.to)}, box{slices.Clone(x.from), x.to}
		left.to[at], right.from[at] = middle, middle+1
		boxes = append(boxes, right, left) // what leaves most to the last stratum first: it is the likeliest
	}
	return false
}

// tail returns the probability of an estimate as low as what was found.
func (b *strataBound) tail(leaks []int64) float64 {
	for i, s := range b.strata {
		most := s.Read
		if s.Read > 0 {
			most = min(most, int64(b.found*float64(s.Read)/float64(s.Notes)+1e-9))
		}
		b.mass[i] = hypergeometric(b.mass[i][:0], s.Notes, s.Read, leaks[i], most)
	}
	last := len(b.strata) - 1
	for i := 1; i < len(b.mass[last]); i++ { // sums from the least on
		b.mass[last][i] += b.mass[last][i-1]
	}
	return b.within(0, b.found)
}

// within is the same of the strata from i on, of what is left of the estimate.
func (b *strataBound) within(i int, left float64) (p float64) {
	s := b.strata[i]
	each := 0.0
	if s.Read > 0 {
		each = float64(s.Notes) / float64(s.Read)
	}
	if i == len(b.strata)-1 {
		if each == 0 {
			return b.mass[i][0]
		}
		return b.mass[i][min(int(max(left, 0)/each+1e-9), len(b.mass[i])-1)]
	}
	for x, q := range b.mass[i] {
		rest := left - float64(x)*each
		if rest < -1e-9*each {
			break
		}
		if q > 1e-18 {
			p += q * b.within(i+1, rest)
		}
	}
	return p
}

// hypergeometric appends the probabilities of 0 to most leaks in a sample of n of
// notes of which so many leak: by their ratios from the likeliest number on, which
// loses no digits in archives of any size.
func hypergeometric(dst []float64, notes, n, leaks, most int64) []float64 {
	begin := len(dst)
	for range most + 1 {
		dst = append(dst, 0)
	}
	p := dst[begin:]
	low, high := max(0, n+leaks-notes), min(n, leaks)
	mode := min(max(int64(float64(n+1)*float64(leaks+1)/float64(notes+2)), low), high)
	all, q := 1.0, 1.0
	note := func(x int64) {
		if all += q; x <= most {
			p[x] = q
		}
	}
	if mode <= most {
		p[mode] = 1
	}
	for x := mode; x > low && q > 1e-20; x-- {
		q *= float64(x) / float64(leaks-x+1) * (float64(notes-leaks-n+x) / float64(n-x+1))
		note(x - 1)
	}
	q = 1
	for x := mode; x < high && q > 1e-20; x++ {
		q *= float64(leaks-x) / float64(x+1) * (float64(n-x) / float64(notes-leaks-n+x+1))
		note(x + 1)
	}
	for x := range p {
		p[x] /= all
	}
	return dst
}

func sum(p []float64) (s float64) {
	for _, x := range p {
		s += x
	}
	return s
}
