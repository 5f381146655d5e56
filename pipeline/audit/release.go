package audit

import (
	"slices"
	"time"
)

// Release is a released extract, recorded in the ledger as a line of an audit log with event "release". It is written
// before the extract is committed, so that a crash can leave one release too many but never one too few.
type Release struct {
	Purpose    string `json:"purpose,omitempty"`
	Recipients string `json:"recipients,omitempty"`
	Notes      int64  `json:"notes"`             // number of masked notes
	Output     string `json:"output_sha256"`     // hash of the output, see OutputDigest
	Policy     string `json:"policy_sha256"`     // hash of the operators of all categories
	Spans      string `json:"spans_sha256"`      // hash of everything that decided where the spans are
	K          int    `json:"k,omitempty"`       // the k of k-anonymity
	Plan       string `json:"k_plan,omitempty"`  // levels of generalization of the columns, by cohort
	Allowed    bool   `json:"allowed,omitempty"` // some notes were released before with other texts, and that was allowed

	Files Sketch `json:"files,omitempty"` // digests of the input files
	IDs   Sketch `json:"ids,omitempty"`   // hashes of the notes' ids, as they are written

	Key   string    `json:"-"` // id of the key, from the log's line
	Model string    `json:"-"` // hash of the model, from the log's line
	Time  time.Time `json:"-"` // time of the log's line
}

// Differs names what makes the texts of two releases different: key, purpose, policy and so on; nil if equal notes have
// equal text in both.
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

// SketchSize is the number of hashes in a sketch. If two releases of a million notes share five notes in a thousand,
// their sketches share one with probability .99.
const SketchSize = 1024

// Sketch is a sample of a set of hashes: the lowest ones in ascending order (Broder 1997), limited to numbers that
// every JSON parser can hold. If sketches share an element, so do the sets. The converse holds for sets that fit into a
// sketch, and with the probability above for larger ones.
type Sketch []uint64

// NewSketch returns the sketch of hashes given in any order.
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

// Meets reports whether the sketches share an element.
func (s Sketch) Meets(o Sketch) bool {
	return slices.ContainsFunc(s, func(h uint64) bool {
		_, found := slices.BinarySearch(o, h)
		return found
	})
}

// Releases returns the releases in a ledger, in order; none if the file does not exist.
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
