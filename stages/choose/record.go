package choose

import (
	"cmp"
	"math"
)

// MaxClasses is the largest number of categories in a tag set for selection.
const MaxClasses = 32

// Confidence is a confidence in steps of 1e-4, from 0 to 10,000.
type Confidence uint16

// Round returns the Confidence nearest to p; 0 if p is no probability.
func Round(p float64) Confidence {
	if !(p > 0) {
		return 0
	}
	return Confidence(math.Floor(min(p, 1)*10_000 + 0.5))
}

// Float returns the confidence in [0, 1].
func (c Confidence) Float() float64 { return float64(c) / 10_000 }

// Key identifies a note by the index of its unit in the plan and its row in the unit's file.
type Key struct {
	Unit uint32
	Row  int64
}

// Compare orders keys by unit, then row.
func (k Key) Compare(other Key) int {
	return cmp.Or(cmp.Compare(k.Unit, other.Unit), cmp.Compare(k.Row, other.Row))
}

// Record holds what the final choice needs to know of a candidate. Counts are by class, in the order of
// TagSet.Categories, and saturate at 255.
type Record struct {
	Key
	Confidence Confidence
	Tokens     uint32
	Hash       uint64            // hash of the note's id, which breaks ties at random
	Spans      [MaxClasses]uint8 // number of spans of each class
	Lengths    [MaxClasses]uint8 // number of tokens in spans of each class
	// Least is, for each class in the note, the confidence of its least certain span; 0 for other classes.
	Least [MaxClasses]Confidence
}

// surer orders records for the selection set: by confidence, then by the hash
// of the id, then by place. No two records of a run are equal.
func (r *entry) surer(other *entry) int {
	return cmp.Or(cmp.Compare(other.confidence, r.confidence), cmp.Compare(r.hash, other.hash), r.key.Compare(other.key))
}

// entry is a candidate in a heap. Its counts are those of its stratum.
type entry struct {
	key        Key
	hash       uint64
	confidence Confidence
}

// heap keeps the best entries of a stream, at most size of them. order sorts the best first; the worst entry kept is at
// index 0.
type heap struct {
	entries []entry
	order   func(a, b *entry) int
}

// add keeps e if fewer than size entries are kept or e is better than the
// worst.
func (h *heap) add(e entry, size int) (kept bool) {
	switch {
	case len(h.entries) < size:
		h.entries = append(h.entries, e)
		h.up(len(h.entries) - 1)
	case size > 0 && h.order(&e, &h.entries[0]) < 0:
		h.entries[0] = e
		h.down(0)
	default:
		return false
	}
	return true
}

// shrink drops the worst until size are left.
func (h *heap) shrink(size int) {
	for len(h.entries) > size {
		last := len(h.entries) - 1
		h.entries[0] = h.entries[last]
		h.entries = h.entries[:last]
		h.down(0)
	}
}

func (h *heap) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if h.order(&h.entries[i], &h.entries[parent]) <= 0 {
			return
		}
		h.entries[i], h.entries[parent] = h.entries[parent], h.entries[i]
		i = parent
	}
}

func (h *heap) down(i int) {
	for {
		worst := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(h.entries); child++ {
			if h.order(&h.entries[child], &h.entries[worst]) > 0 {
				worst = child
			}
		}
		if worst == i {
			return
		}
		h.entries[i], h.entries[worst] = h.entries[worst], h.entries[i]
		i = worst
	}
}
