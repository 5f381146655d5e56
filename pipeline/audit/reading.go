package audit

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/velum-health/velum/pipeline/commit"
)

// Reading holds the results of people who read a random sample of an output to look for missed identifiers.
type Reading struct {
	Read   int64  `json:"read"`             // number of notes read
	Leaks  int64  `json:"leaks"`            // of these, number with something unmasked
	By     string `json:"by,omitempty"`     // name of the reader
	Sample string `json:"sample,omitempty"` // SHA-256 of the sample's file
	Extent

	Strata []Stratum `json:"strata,omitempty"` // the strata that the sample was drawn from, each at random; none: it was drawn from all notes
	Found

	Readers []Reader `json:"readers,omitempty"`
	Kappa   *float64 `json:"kappa,omitempty"` // Cohen's kappa of two readers; nil: not defined, since chance would agree as often

	Signed string   `json:"signed_with,omitempty"`     // id of the key that all journals are signed with; "": not signed, they may be forged
	Before []string `json:"journals_before,omitempty"` // last lines of the journals of earlier readings that these journals continue
	Others int64    `json:"others,omitempty"`          // number of further readings of the same output, see Standing; never in the log

	Samples []Stratum `json:"-"` // for joined readings: the strata as each was read; no bound may be computed from them
}

// Extent lists the masked parts that a sample was drawn from. A reading is valid for an output as long as it holds all
// of these parts; new months do not invalidate it.
type Extent struct {
	Output string   `json:"output,omitempty"` // hash of the output's parts
	Parts  []string `json:"parts,omitempty"`  // first 16 digits of the SHA-256 of each part, sorted
}

// ExtentOf returns the extent of the masked parts for which in is true; a nil in selects all.
func ExtentOf(m *commit.Manifest, in func(part string) bool) (e Extent) {
	var sums []string
	for i := range m.Units {
		for _, p := range m.Units[i].Parts {
			if p.Kind == "masked" && (in == nil || in(short(p.SHA256))) {
				sums, e.Parts = append(sums, p.SHA256), append(e.Parts, short(p.SHA256))
			}
		}
	}
	slices.Sort(sums)
	slices.Sort(e.Parts)
	e.Output = fmt.Sprintf("%x", sha256.Sum256(fmt.Appendf(nil, "velum output read 1 %q", sums)))
	return e
}

func short(sum string) string { return sum[:min(16, len(sum))] }

// Has reports whether the extent contains a masked part.
func (e *Extent) Has(part string) bool {
	_, has := slices.BinarySearch(e.Parts, short(part))
	return has
}

// In reports whether all parts of the extent are in the output unchanged. An extent without a list of parts stands for
// a whole output.
func (e *Extent) In(m *commit.Manifest) bool {
	whole := ExtentOf(m, nil)
	return e.Output == whole.Output || len(e.Parts) > 0 && !slices.ContainsFunc(e.Parts, func(p string) bool { return !whole.Has(p) })
}

// Judgement records which of several readings of an output is valid, who decided that, and why.
type Judgement struct {
	By   string `json:"by"`
	Line int64  `json:"line"` // line of the log with the reading that counts
	Why  string `json:"why"`
}

// Recorded is a reading as found in a log.
type Recorded struct {
	*Reading
	Line   int64
	Time   time.Time
	Judged *Judgement // the decision that sets this reading aside; nil: none
}

// Readings returns all readings in a log, in order, with the judgements on them.
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

// Places returns the places with rare facts that a person has read and accepted, as recorded in a log.
func Places(name string) (all map[uint64]bool, err error) {
	all = map[uint64]bool{}
	return all, Each(name, func(l *Line) {
		for _, place := range l.Stand {
			all[place] = !l.Gone
		}
	})
}

// LetStand records in a log that places are accepted (stand), or no longer, except where the log says so already, in lines
// of limited length: the last answer counts.
func LetStand(name string, places []uint64, stand bool) error {
	known, err := Places(name)
	if err != nil {
		return err
	}
	places = slices.DeleteFunc(places, func(place uint64) bool { return known[place] == stand })
	for some := range slices.Chunk(places, 1<<13) {
		if _, err := Append(name, Entry{Event: "stand", Stand: some, Gone: !stand}); err != nil {
			return err
		}
	}
	return nil
}

// Standing returns the valid reading of an output. It joins readings of several months that have samples of their own
// (see joined). If none is valid any more it returns the newest one, whose Output differs; nil if there is none.
func Standing(all []Recorded, m *commit.Manifest) *Reading {
	var valid []*Reading
	for k := range all {
		seen := slices.ContainsFunc(all[:k], func(r Recorded) bool { return r.Output == all[k].Output })
		if !seen && all[k].In(m) {
			if r := worst(all, all[k].Output); r != nil {
				valid = append(valid, r)
			}
		}
	}
	if len(valid) == 0 {
		if len(all) == 0 || all[len(all)-1].In(m) {
			return nil
		}
		return all[len(all)-1].Reading
	}
	return joined(valid, m)
}

// worst is the reading that stands of several of one extent. No reading overrules another: of
// several the one stands that leaves the most notes possible, until somebody judges by name. One that
// goes on with the journals of an earlier one, and takes back no find, takes its place.
func worst(all []Recorded, output string) *Reading {
	var worst *Recorded
	others := int64(-1)
	for k := range all {
		r := &all[k]
		if r.Output != output {
			continue
		}
		others++
		if r.Judged == nil && !slices.ContainsFunc(all[k+1:], func(x Recorded) bool { return x.Judged == nil && x.continues(r) }) &&
			(worst == nil || r.Upper() >= worst.Upper()) {
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

// joined makes one reading of those of several extents, the largest first. Of an extent that overlaps a larger
// one the finds alone count, where they are more. Strata of the same bins of doubt become one, read as thinly as the
// thinnest of them (thinned); strata that differ become one of all. What no sample was drawn of is a stratum of which
// nothing was read.
func joined(valid []*Reading, m *commit.Manifest) *Reading {
	whole := ExtentOf(m, nil)
	if len(valid) == 1 && valid[0].Output == whole.Output {
		return valid[0]
	}
	slices.SortStableFunc(valid, func(a, b *Reading) int { return cmp.Compare(b.notes(), a.notes()) })
	r := &Reading{Extent: whole, Signed: valid[0].Signed}
	covered, overlapping := map[string]bool{}, int64(0)
	var names, samples []string
	var each [][]Stratum
	for _, v := range valid {
		if slices.ContainsFunc(v.Parts, func(p string) bool { return covered[p] }) {
			overlapping += v.Leaks
			r.Others++
			continue
		}
		for _, p := range v.Parts {
			covered[p] = true
		}
		r.Read, r.Leaks, r.Others = r.Read+v.Read, r.Leaks+v.Leaks, r.Others+v.Others
		r.add(&v.Found)
		if v.Signed != r.Signed {
			r.Signed = ""
		}
		if r.Readers = append(r.Readers, v.Readers...); !slices.Contains(names, v.By) {
			names = append(names, v.By)
		}
		samples, each, r.Samples = append(samples, v.Sample), append(each, v.Strata), append(r.Samples, v.Strata...)
	}
	r.By, r.Sample = strings.Join(names, ", "), samples[0]
	if r.Strata = thinned(each); overlapping > r.Leaks {
		s := &r.Strata[len(r.Strata)-1]
		more := min(overlapping-r.Leaks, s.Read-s.Leaks)
		s.Leaks, r.Leaks = s.Leaks+more, r.Leaks+more
	}
	if rest := m.Counts.Masked - r.notes(); rest > 0 {
		r.Strata = append(r.Strata, Stratum{Notes: rest})
	}
	return r
}

// thinned joins the strata of several samples. A sample that was read more densely proves no less when some of
// its notes are forgotten, so all count as if the same share had been read of each: the least. The finds all count.
func thinned(each [][]Stratum) (all []Stratum) {
	bins := func(s []Stratum) (b []int) {
		for _, x := range s {
			b = append(b, x.From, x.To)
		}
		return b
	}
	same := !slices.ContainsFunc(each, func(s []Stratum) bool { return !slices.Equal(bins(s), bins(each[0])) })
	least := map[int]float64{}
	for _, strata := range each {
		for _, s := range strata {
			at := slices.IndexFunc(all, func(x Stratum) bool { return x.From == s.From || !same })
			if at < 0 {
				at, all = len(all), append(all, Stratum{From: s.From, To: s.To})
				least[at] = 1
			}
			x := &all[at]
			x.From, x.To = min(x.From, s.From), max(x.To, s.To)
			x.Notes, x.Leaks = x.Notes+s.Notes, x.Leaks+s.Leaks
			least[at] = min(least[at], float64(s.Read)/float64(max(s.Notes, 1)))
		}
	}
	for k := range all {
		all[k].Read = max(int64(least[k]*float64(all[k].Notes)+1e-9), all[k].Leaks)
	}
	return all
}

// continues tells whether a reading goes on where an earlier one ended.
func (r *Recorded) continues(earlier *Recorded) bool {
	return r.Output == earlier.Output && r.Read >= earlier.Read && r.Leaks >= earlier.Leaks && len(earlier.Readers) > 0 &&
		!slices.ContainsFunc(earlier.Readers, func(x Reader) bool { return x.Journal == "" || !slices.Contains(r.Before, x.Journal) })
}

// Stratum is a part of an output from which a sample was drawn: the notes whose doubt is in the bins [From, To)
// (models/tag/calibrate).
type Stratum struct {
	From  int   `json:"doubt_from"`
	To    int   `json:"doubt_to"`
	Notes int64 `json:"notes"` // notes of the output in the stratum
	Read  int64 `json:"read"`  // of these, number drawn at random and read
	Leaks int64 `json:"leaks"` // of those, number with something unmasked
}

// Drawn describes the stratum of a note in a sample.
type Drawn struct {
	From  int   `json:"doubt_from"`
	To    int   `json:"doubt_to"`
	Notes int64 `json:"stratum_notes"` // notes of the output in the stratum
	Place int   `json:"stratum_place"` // place in the order of drawing, from 0
}

// Found counts the leaks by category and by centre.
type Found struct {
	Categories map[string]int64 `json:"leaks_by_category,omitempty"` // by category: notes of the sample with something of it unmasked
	Centers    map[string]Share `json:"by_center,omitempty"`
}

func (f *Found) add(g *Found) {
	for name, n := range g.Categories {
		if f.Categories == nil {
			f.Categories = map[string]int64{}
		}
		f.Categories[name] += n
	}
	for name, x := range g.Centers {
		if f.Centers == nil {
			f.Centers = map[string]Share{}
		}
		f.Centers[name] = Share{f.Centers[name].Read + x.Read, f.Centers[name].Leaks + x.Leaks}
	}
}

// Share counts the notes that were read, and those that still held an identifier.
type Share struct {
	Read  int64 `json:"read"`
	Leaks int64 `json:"leaks"`
}

// Reader describes one of the people who read a sample.
type Reader struct {
	By      string `json:"by"`
	Notes   int64  `json:"notes"`
	From    string `json:"from"` // times of the first and the last decision, RFC 3339
	To      string `json:"to"`
	Seconds int64  `json:"seconds"`           // median time for a note
	Journal string `json:"journal,omitempty"` // hash of the last line of the reader's journal
}

// Seconds returns the median time per note of the fastest reader, in seconds.
func (r *Reading) Seconds() int64 {
	least := int64(-1)
	for _, x := range r.Readers {
		if least < 0 || x.Seconds < least {
			least = x.Seconds
		}
	}
	return max(least, 0)
}

// Upper is UpperAt for a confidence of 95 %.
func (r *Reading) Upper() float64 { return r.UpperAt(0.95) }

// UpperAt returns the one-sided exact upper bound of the share of notes that still hold an identifier, at a confidence.
func (r *Reading) UpperAt(confidence float64) float64 {
	if len(r.Strata) == 0 {
		return UpperShare(r.Read, r.Leaks, confidence)
	}
	strata, notes := slices.Clone(r.Strata), max(r.notes(), 1)
	if r.Samples != nil {
		notes *= alike
		for k := range strata {
			strata[k].Notes *= alike
		}
	}
	return float64(UpperStrata(strata, confidence)) / float64(notes)
}

// alike makes of the bound of a joined reading one for notes drawn with replacement: as many times as many notes are
// taken for granted. What several
// samples found, each without replacement, varies like draws of as many chances that differ, and few finds of these are no
// more probable than of chances that are all alike (Hoeffding 1956). The bound of one sample of all would not do: of
// 14 of 28 notes in three months
// it held with 94.2 of 100.
const alike = 1000

// Estimate returns the estimated share of notes that still hold an identifier; strata are weighted by their notes.
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

// OutputDigest returns the digest of all masked parts of an output.
func OutputDigest(m *commit.Manifest) string { return ExtentOf(m, nil).Output }

// NotesToRead returns how many notes without a leak prove, at a confidence, that at most that share of the notes leaks.
func NotesToRead(share, confidence float64) int64 {
	return int64(math.Ceil(math.Log1p(-confidence) / math.Log1p(-share)))
}

// UpperShare returns the one-sided upper bound of Clopper and Pearson (1934): the rate at which at most so many leaks
// among n notes would have the probability 1-confidence. Drawing without replacement proves slightly more, so the bound
// is conservative.
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
