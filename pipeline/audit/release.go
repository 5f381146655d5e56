package audit

import (
	"slices"
	"time"
)

// Release is an extract that may be given away, as the ledger has it: a line of an
// audit log with the event "release", written before the extract is committed. So a
// run that dies in between leaves a release too many and never one too few.
type Release struct {
	Purpose    string `json:"purpose,omitempty"`
	Recipients string `json:"recipients,omitempty"`
	Notes      int64  `json:"notes"`             // that are masked
	Output     string `json:"output_sha256"`     // OutputDigest
	Policy     string `json:"policy_sha256"`     // operators of all categories
	Spans      string `json:"spans_sha256"`      // what decided where a value is
	K          int    `json:"k,omitempty"`       // of k-anonymity
	Plan       string `json:"k_plan,omitempty"`  // levels of the columns, by cohort
	Allowed    bool   `json:"allowed,omitempty"` // although notes of it were released before, with other texts

	Files Sketch `json:"files,omitempty"` // digests of the input files
	IDs   Sketch `json:"ids,omitempty"`   // hashes of the notes' ids, as they are written

	Key   string    `json:"-"` // id of the key: of the line
	Model string    `json:"-"` // the same
	Time  time.Time `json:"-"` // the same
}

// Differs names what makes the texts of two releases others; nil: the same note reads
// the same in both.
func (r *Release) Differs(o *Release) (what []string) {
	for _, f := range []struct{ name, a, b string }{
		{"key", r.Key, o.Key}, {"purpose", r.Purpose, o.Purpose}, {"policy", r.Policy, o.Policy},
		{"model", r.Model, o.Model}, {"spans", r.Spans, o.Spans},
	} {
		if f.a != f.b {
			what = append(what, f.name)
		}
	}
	return what
}

// SketchSize is how many hashes a sketch keeps. Of releases of a million notes that
// have five in a thousand in common it shows some with a probability of .99.
const SketchSize = 1024

// Sketch is a sample of a set of hashes: the lowest ones, rising (Broder 1997), as
// numbers that every reader of JSON can hold. Sets have something in common if their
// sketches have; the other way round it holds of sets that fit, and of larger ones
// with the probability above.
type Sketch []uint64

// NewSketch takes hashes in any order.
func NewSketch(hashes ...[]uint64) (s Sketch) {
	for _, some := range hashes {
		for _, h := range some {
			s = append(s, h>>11)
		}
		slices.Sort(s)
		s = slices.Compact(s)
		s = s[:min(len(s), SketchSize)]
	}
	return s
}

// Meets tells whether two sets have something in common, as far as sketches tell.
func (s Sketch) Meets(o Sketch) bool {
	return slices.ContainsFunc(s, func(h uint64) bool {
		_, found := slices.BinarySearch(o, h)
		return found
	})
}

// Releases returns the releases of a ledger, in order. One that is not there has none.
func Releases(name string) (all []Release, err error) {
	err = Each(name, func(l *Line) {
		if l.Release != nil {
			r := *l.Release
			r.Key, r.Model, r.Time = l.Key, l.Model, l.Time
			all = append(all, r)
		}
	})
	return all, err
}
