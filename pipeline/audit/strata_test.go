package audit_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/velum-health/velum/pipeline/audit"
)

// choose is the number of ways, by Pascal's triangle.
func choose(n, k int64) float64 {
	if k < 0 || k > n {
		return 0
	}
	c := 1.0
	for i := range k {
		c = c * float64(n-i) / float64(i+1)
	}
	return math.Round(c)
}

func strata(notes, read, leaks []int64) (all []audit.Stratum) {
	for i := range notes {
		all = append(all, audit.Stratum{Notes: notes[i], Read: read[i], Leaks: leaks[i]})
	}
	return all
}

// each calls do with all lists of numbers up to most.
func each(most []int64, do func([]int64)) {
	x := make([]int64, len(most))
	for {
		do(x)
		i := 0
		for i < len(x) && x[i] == most[i] {
			x[i] = 0
			i++
		}
		if i == len(x) {
			return
		}
		x[i]++
	}
}

// In small archives the probability of every outcome can be added up: whatever the
// strata are like, the bound holds in at least 95 of 100 samples.
func TestUpperStrataCoverage(t *testing.T) {
	for _, c := range []struct{ notes, read []int64 }{
		{[]int64{30}, []int64{12}},
		{[]int64{6, 14}, []int64{4, 5}},
		{[]int64{6, 14}, []int64{6, 5}},
		{[]int64{10, 10}, []int64{2, 7}},
		{[]int64{4, 20}, []int64{0, 9}},
		{[]int64{4, 6, 12}, []int64{4, 3, 4}},
	} {
		bounds := map[string]int64{}
		each(c.read, func(x []int64) { bounds[fmt.Sprint(x)] = audit.UpperStrata(strata(c.notes, c.read, x), 0.95) })
		least := 1.0
		each(c.notes, func(leaks []int64) {
			total, holds := int64(0), 0.0
			for _, m := range leaks {
				total += m
			}
			each(c.read, func(x []int64) {
				if bounds[fmt.Sprint(x)] < total {
					return
				}
				p := 1.0
				for i := range x {
					p *= choose(leaks[i], x[i]) * choose(c.notes[i]-leaks[i], c.read[i]-x[i]) / choose(c.notes[i], c.read[i])
				}
				holds += p
			})
			least = min(least, holds)
			if holds < 0.95-1e-9 {
				t.Errorf("%v of %v, leaks %v: the bound holds with %.4f", c.read, c.notes, leaks, holds)
			}
		})
		t.Logf("%v of %v: least coverage %.4f", c.read, c.notes, least)
	}
}

// More leaks in a sample never make a lower bound, nor do more notes without one a higher one; the bound is
// between what was found and what can be.
func TestUpperStrataMonotone(t *testing.T) {
	draw := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		notes, read, leaks := make([]int64, 2), make([]int64, 2), make([]int64, 2)
		for i := range notes {
			notes[i] = 1 + draw.Int64N(60)
			read[i] = draw.Int64N(notes[i] + 1)
			leaks[i] = draw.Int64N(min(read[i], 4) + 1)
		}
		bound := audit.UpperStrata(strata(notes, read, leaks), 0.95)
		most := int64(0)
		for i := range notes {
			most += notes[i] - read[i] + leaks[i]
		}
		if bound < leaks[0]+leaks[1] || bound > most {
			t.Fatalf("%v of %v, %v found: %d", read, notes, leaks, bound)
		}
		for i := range leaks {
			if leaks[i] == read[i] {
				continue
			}
			leaks[i]++
			if more := audit.UpperStrata(strata(notes, read, leaks), 0.95); more < bound {
				t.Errorf("%v of %v: %d with %v found, %d with one fewer in stratum %d", read, notes, more, leaks, bound, i)
			}
			leaks[i]--
		}
	}
}

// Of one stratum the bound is that of the hypergeometric distribution, found by
// trying every number of leaks, and in a large archive that of Clopper and Pearson.
func TestUpperStrataOfOne(t *testing.T) {
	for _, c := range [][3]int64{{40, 10, 0}, {40, 10, 3}, {40, 40, 2}, {7, 0, 0}, {100, 60, 1}} {
		want := int64(-1)
		for m := c[2]; m <= c[0]-c[1]+c[2]; m++ {
			p := 0.0
			for x := range c[2] + 1 {
				p += choose(m, x) * choose(c[0]-m, c[1]-x) / choose(c[0], c[1])
			}
			if p > 0.05 {
				want = m
			}
		}
		if got := audit.UpperStrata(strata(c[:1], c[1:2], c[2:]), 0.95); got != want {
			t.Errorf("%v: %d, want %d", c, got, want)
		}
	}
	for _, c := range [][2]int64{{598, 0}, {3000, 2}, {500, 40}} {
		const notes = 300_000_000
		got := float64(audit.UpperStrata(strata([]int64{notes}, c[:1], c[1:]), 0.95)) / notes
		if want := audit.UpperShare(c[0], c[1], 0.95); math.Abs(got-want) > 1e-4*want {
			t.Errorf("%v: %.8f, want %.8f", c, got, want)
		}
	}
}

// Where much is found in few notes, strata by certainty prove as much with half of the
// notes; where nothing is, they prove no more than a plain sample.
func TestStrataPay(t *testing.T) {
	const notes = 100_000
	plain := audit.UpperShare(44_000, 132, 0.95)
	some := float64(audit.UpperStrata(strata([]int64{3000, 97_000}, []int64{2823, 15_643}, []int64{188, 16}), 0.95)) / notes
	if some > plain {
		t.Errorf("18,466 notes of two strata prove %.5f, 44,000 plain ones %.5f", some, plain)
	}
	none := float64(audit.UpperStrata(strata([]int64{3000, 97_000}, []int64{180, 420}, []int64{0, 0}), 0.95)) / notes
	if none < audit.UpperShare(600, 0, 0.95) {
		t.Errorf("600 notes without a find prove %.5f", none)
	}
}

func BenchmarkUpperStrata(b *testing.B) {
	for b.Loop() {
		audit.UpperStrata(strata([]int64{1_000_000, 2_000_000, 30_000_000}, []int64{180, 120, 420}, []int64{40, 4, 1}), 0.95)
	}
}
