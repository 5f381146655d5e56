// Command strata draws archives of what models left in notes (scripts/experiments/coverage.py
// writes that), reads a sample of each by every design, and prints how often the bound
// holds and how high it is.
//
//	go run ./scripts/experiments/strata outcomes.jsonl
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"log"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"slices"

	"github.com/velum-health/velum/models/tag/calibrate"
	"github.com/velum-health/velum/pipeline/audit"
)

// outcome is a note that a model has masked.
type outcome struct {
	Model, Source string
	Confidence    float32
	Leaks         bool
}

const (
	archives   = 200
	notes      = 20_000
	read       = 600
	confidence = 0.95
)

func main() {
	pools := map[string][]outcome{}
	f, err := os.Open(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var o outcome
		if err := json.Unmarshal(lines.Bytes(), &o); err != nil {
			log.Fatal(err)
		}
		if o.Model == "half 1" { // two halves are one model: each note is by that which had not seen it
			o.Model = "half 0"
		}
		pools[o.Model+", "+o.Source] = append(pools[o.Model+", "+o.Source], o)
	}
	names := slices.Sorted(maps.Keys(pools))
	for _, name := range names {
		fmt.Printf("%-24s %s\n", name, concentration(pools[name]))
	}
	r := rand.New(rand.NewPCG(30, 3))
	for _, keep := range []float64{1, 0.1, 0.01} { // a share of the leaks, as if the others had been found
		held, sums := map[string]int{}, map[string]float64{}
		for i := range archives {
			name := names[i%len(names)]
			bins, leaks := draw(pools[name], keep, r)
			all := audit.Stratum{Notes: notes, Read: read}
			for _, s := range leaks {
				all.Leaks += s
			}
			total := all.Leaks
			all.Leaks = sample(r, notes, total, read)
			strata := design(bins, pools[names[(i+1)%len(names)]])
			for h := range strata {
				s, in := &strata[h], int64(0)
				for k := s.From; k < s.To; k++ {
					in += leaks[k]
				}
				s.Leaks = sample(r, s.Notes, in, s.Read)
			}
			for design, upper := range map[string]float64{
				"plain, Clopper-Pearson": audit.UpperShare(read, all.Leaks, confidence) * notes,
				"plain, hypergeometric":  float64(audit.UpperStrata([]audit.Stratum{all}, confidence)),
				"plain, mid-p":           midP(all.Leaks) * notes,
				"strata by certainty":    float64(audit.UpperStrata(strata, confidence)),
			} {
				if upper >= float64(total) {
					held[design]++
				}
				sums[design] += upper / notes
			}
			sums["true"] += float64(total) / notes
		}
		fmt.Printf("%g of the leaks, true share %.4f\n", keep, sums["true"]/archives)
		for _, d := range slices.Sorted(maps.Keys(held)) {
			fmt.Printf("    %-24s holds in %3d of %d, mean bound %.4f\n", d, held[d], archives, sums[d]/archives)
		}
	}
}

// concentration says which share of the leaks the least sure notes have.
func concentration(pool []outcome) string {
	sorted := slices.Clone(pool)
	slices.SortFunc(sorted, func(a, b outcome) int { return int(math.Copysign(1, float64(a.Confidence-b.Confidence))) })
	all, at := 0, []int{len(sorted) * 3 / 100, len(sorted) / 10, len(sorted) / 4}
	found := make([]int, len(at))
	for i, o := range sorted {
		if o.Leaks {
			all++
			for k := range at {
				if i < at[k] {
					found[k]++
				}
			}
		}
	}
	of := func(k int) float64 { return 100 * float64(found[k]) / float64(max(all, 1)) }
	return fmt.Sprintf("%5d notes, %.4f leak; the least sure 3, 10, 25 %% hold %2.0f, %2.0f, %2.0f %% of the leaks", len(pool), float64(all)/float64(len(pool)), of(0), of(1), of(2))
}

// draw is an archive: notes and leaks by bin of doubt.
func draw(pool []outcome, keep float64, r *rand.Rand) (bins, leaks [calibrate.DoubtBins]int64) {
	for range notes {
		o := pool[r.IntN(len(pool))]
		k := calibrate.DoubtBin(o.Confidence)
		bins[k]++
		if o.Leaks && r.Float64() < keep {
			leaks[k]++
		}
	}
	return bins, leaks
}

// design divides the notes as report.PlanOf does, by the shares of another pool.
func design(bins [calibrate.DoubtBins]int64, other []outcome) []audit.Stratum {
	var n, x [calibrate.DoubtBins]float64
	for _, o := range other {
		k := calibrate.DoubtBin(o.Confidence)
		n[k]++
		if o.Leaks {
			x[k]++
		}
	}
	part := func(from, to int) (s audit.Stratum, spread float64) {
		s, p := audit.Stratum{From: from, To: to}, 0.0
		for k := from; k < to; k++ {
			s.Notes += bins[k]
			p += float64(bins[k]) * (x[k] + 0.1) / (n[k] + 1)
		}
		p /= float64(max(s.Notes, 1))
		return s, float64(s.Notes) * math.Sqrt(p*(1-p))
	}
	best, strata := math.Inf(1), []audit.Stratum{}
	for cut := 1; cut < calibrate.DoubtBins; cut++ {
		a, sa := part(cut, calibrate.DoubtBins)
		b, sb := part(0, cut)
		if a.Notes == 0 || b.Notes == 0 || sa+sb >= best {
			continue
		}
		best = sa + sb
		a.Read = min(int64(read*sa/best)+1, a.Notes)
		b.Read = min(read-a.Read, b.Notes)
		strata = []audit.Stratum{a, b}
	}
	return strata
}

// sample is how many of so many leaks are in n notes, drawn without replacement.
func sample(r *rand.Rand, notes, leaks, n int64) (found int64) {
	for range n {
		if r.Int64N(notes) < leaks {
			found++
			leaks--
		}
		notes--
	}
	return found
}

// midP is the upper bound at which half of the probability of what was found counts
// (Lancaster 1961): it holds in 95 of 100 samples on average, and not in each archive.
func midP(found int64) float64 {
	low, high := 0.0, 1.0
	for range 60 {
		p := (low + high) / 2
		tail, term := 0.0, math.Pow(1-p, read)
		for k := range found + 1 {
			if k == found {
				term /= 2
			}
			tail += term
			term *= float64(read-k) / float64(k+1) * p / (1 - p)
		}
		if tail > 1-confidence {
			low = p
		} else {
			high = p
		}
	}
	return high
}
