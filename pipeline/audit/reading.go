package audit

import (
	"crypto/sha256"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/velum-health/velum/pipeline/commit"
)

// Reading is what people found who read a random sample of an output.
type Reading struct {
	Read   int64  `json:"read"`             // notes
	Leaks  int64  `json:"leaks"`            // of them, with something left
	By     string `json:"by,omitempty"`     // who read
	Output string `json:"output,omitempty"` // OutputDigest of what was read
	Sample string `json:"sample,omitempty"` // SHA-256 of the sample's file

	Strata []Stratum `json:"strata,omitempty"` // that the sample was drawn from, each at random; none: from all notes
	Found

	Readers []Reader `json:"readers,omitempty"`
	Kappa   *float64 `json:"kappa,omitempty"` // Cohen's, of two readers; nil: chance says as much

	Signed string   `json:"signed_with,omitempty"`     // id of the key that all journals are signed with; "": whoever may write files can have made one
	Before []string `json:"journals_before,omitempty"` // ends of journals of earlier readings, on which these journals go on
	Others int64    `json:"others,omitempty"`          // further readings of the same output, see Standing; never in the log
}

// Judgement is what somebody decided of several readings of one output, by name.
type Judgement struct {
	By   string `json:"by"`
	Line int64  `json:"line"` // of the log, with the reading that stands
	Why  string `json:"why"`
}

// Recorded is a reading as a log has it.
type Recorded struct {
	*Reading
	Line   int64
	Time   time.Time
	Judged *Judgement // that does not let it stand; nil: none
}

// Readings returns all readings of a log, in order, and what was judged of them.
func Readings(name string) (all []Recorded, err error) {
	err = Each(name, func(l *Line) {
		if l.Read != nil && l.Read.Read > 0 {
			all = append(all, Recorded{Reading: l.Read, Line: l.N, Time: l.Time})
		}
		if l.Judged == nil {
			return
		}
		at := slices.IndexFunc(all, func(r Recorded) bool { return r.Line == l.Judged.Line })
		for k := range all {
			if at >= 0 && all[k].Output == all[at].Output {
				all[k].Judged = l.Judged
			}
		}
		if at >= 0 {
			all[at].Judged = nil
		}
	})
	return all, err
}

// Standing is the reading that counts of the output that was read last; nil if there is none.
// No reading overrules another: of several the one stands that leaves the most notes
// possible, until somebody judges by name. One that goes on with the journals of an earlier one,
// and takes back no find, takes its place.
func Standing(all []Recorded) *Reading {
	var worst *Recorded
	others := int64(-1)
	for k := range all {
		r := &all[k]
		if r.Output != all[len(all)-1].Output {
			continue
		}
		others++
		if r.Judged == nil && !slices.ContainsFunc(all[k+1:], func(x Recorded) bool { return x.Judged == nil && x.continues(r) }) && (worst == nil || r.Upper() >= worst.Upper()) {
			worst = r
		}
	}
	if worst == nil {
		return nil
	}
	stands := *worst.Reading
	stands.Others = others
	return &stands
}

// continues tells whether a reading goes on where an earlier one ended.
func (r *Recorded) continues(earlier *Recorded) bool {
	return r.Output == earlier.Output && r.Read >= earlier.Read && r.Leaks >= earlier.Leaks && len(earlier.Readers) > 0 &&
		!slices.ContainsFunc(earlier.Readers, func(x Reader) bool { return x.Journal == "" || !slices.Contains(r.Before, x.Journal) })
}

// Stratum is one of the parts of an output that a sample was drawn from: the notes of
// some bins of doubt (models/tag/calibrate), [From, To).
type Stratum struct {
	From  int   `json:"doubt_from"`
	To    int   `json:"doubt_to"`
	Notes int64 `json:"notes"` // of the output
	Read  int64 `json:"read"`  // of these, at random
	Leaks int64 `json:"leaks"` // of those that were read
}

// Drawn is what a line of a sample says of the stratum that it was drawn from.
type Drawn struct {
	From  int   `json:"doubt_from"`
	To    int   `json:"doubt_to"`
	Notes int64 `json:"stratum_notes"` // of the output
	Place int   `json:"stratum_place"` // in the order of drawing, from 0
}

// Found is where people found something.
type Found struct {
	Categories map[string]int64 `json:"leaks_by_category,omitempty"` // notes of the sample that keep something of a category
	Centers    map[string]Share `json:"by_center,omitempty"`
}

// Share is how many notes were read, and how many of them kept something.
type Share struct {
	Read  int64 `json:"read"`
	Leaks int64 `json:"leaks"`
}

// Reader is one of those who read a sample.
type Reader struct {
	By      string `json:"by"`
	Notes   int64  `json:"notes"`
	From    string `json:"from"` // first and last decision, RFC 3339
	To      string `json:"to"`
	Seconds int64  `json:"seconds"`           // that a note took, the median
	Journal string `json:"journal,omitempty"` // its end: the sum of its last line
}

// Seconds is what a note took the fastest of the readers, the median.
func (r *Reading) Seconds() int64 {
	least := int64(-1)
	for _, x := range r.Readers {
		if least < 0 || x.Seconds < least {
			least = x.Seconds
		}
	}
	return max(least, 0)
}

// Upper is UpperAt a confidence of 95 %.
func (r *Reading) Upper() float64 { return r.UpperAt(0.95) }

// UpperAt is the highest share of notes with something left that the reading leaves
// possible, at a confidence: the one-sided exact bound.
func (r *Reading) UpperAt(confidence float64) float64 {
	if len(r.Strata) == 0 {
		return UpperShare(r.Read, r.Leaks, confidence)
	}
	return float64(UpperStrata(r.Strata, confidence)) / float64(max(r.notes(), 1))
}

// Estimate is the share of notes with something left as the reading has it: strata
// count by their notes.
func (r *Reading) Estimate() float64 {
	if len(r.Strata) == 0 {
		return float64(r.Leaks) / float64(max(r.Read, 1))
	}
	return Estimate(r.Strata) / float64(max(r.notes(), 1))
}

func (r *Reading) notes() (sum int64) {
	for _, s := range r.Strata {
		sum += s.Notes
	}
	return sum
}

// OutputDigest is a digest of all masked parts: what a reading was of.
func OutputDigest(m *commit.Manifest) string {
	var parts []string
	for i := range m.Units {
		for _, p := range m.Units[i].Parts {
			if p.Kind == "masked" {
				parts = append(parts, p.SHA256)
			}
		}
	}
	slices.Sort(parts)
	return fmt.Sprintf("%x", sha256.Sum256(fmt.Appendf(nil, "velum output read 1 %q", parts)))
}

// UpperShare returns the one-sided upper bound of Clopper and Pearson (1934):
// the rate at which so few leaks, or fewer, in n notes would have a
// probability of 1-confidence. Drawing without replacement from an archive
// proves a little more than that, so the bound errs on the safe side.
func UpperShare(n, leaks int64, confidence float64) float64 {
	if leaks == n {
		return 1
	}
	if leaks == 0 {
		return -math.Expm1(math.Log1p(-confidence) / float64(n))
	}
	low, high := float64(leaks)/float64(n), 1.0
	for range 100 { // more bisections than a float64 has bits
		middle := (low + high) / 2
		if binomialCDF(n, leaks, middle) > 1-confidence {
			low = middle
		} else {
			high = middle
		}
	}
	return high
}

// binomialCDF returns the probability of k or fewer of n at rate p in (0, 1).
// The terms are summed from the largest, k, down: rates above k/n only.
func binomialCDF(n, k int64, p float64) float64 {
	nf, kf := float64(n), float64(k)
	lgamma := func(x float64) float64 { y, _ := math.Lgamma(x); return y }
	term := math.Exp(lgamma(nf+1) - lgamma(kf+1) - lgamma(nf-kf+1) + kf*math.Log(p) + (nf-kf)*math.Log1p(-p))
	odds, sum := (1-p)/p, 0.0
	for i := k; i >= 0 && term > sum*1e-17; i-- {
		sum += term
		term *= float64(i) / (nf - float64(i) + 1) * odds
	}
	return sum
}
