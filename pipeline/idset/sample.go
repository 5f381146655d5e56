package idset

import (
	"bytes"
	"maps"
	"math"

	"github.com/zeebo/xxh3"
)

// mostSampled is how many notes of a file are kept to be compared: two shares of
// a half are told from three quarters beyond doubt.
const mostSampled = 1 << 12

// A Sample holds notes of a file, selected by a hash of their ids, so that the samples of two files select the same
// notes (coordinated sampling; Broder 1997).
type Sample struct {
	notes int64
	below uint64 // hashes that are kept
	texts map[uint64][]byte
}

// NewSample returns an empty sample.
func NewSample() *Sample { return &Sample{below: math.MaxUint64, texts: map[uint64][]byte{}} }

// Add adds a note. A nil text cannot be compared later.
func (c *Sample) Add(id, text []byte) {
	c.notes++
	h := xxh3.Hash(id)
	if h > c.below || len(id) == 0 {
		return
	}
	c.texts[h] = bytes.Clone(text)
	if len(c.texts) > mostSampled {
		c.thin(c.below / 2)
	}
}

func (c *Sample) thin(below uint64) {
	c.below = below
	maps.DeleteFunc(c.texts, func(h uint64, _ []byte) bool { return h > below })
}

// Overlap estimates how much of the file is in another one: the notes of each, the ids in both, and of these the notes
// with known texts and those with similar texts.
func (c *Sample) Overlap(now *Sample) (was, given, shared, seen, alike int64) {
	least := min(c.below, now.below)
	c.thin(least)
	now.thin(least)
	for h, text := range c.texts {
		other, there := now.texts[h]
		if !there {
			continue
		}
		shared++
		if text != nil && other != nil {
			seen++
			if isLike(text, other) {
				alike++
			}
		}
	}
	return c.notes, now.notes, shared * c.notes / int64(max(len(c.texts), 1)), seen, alike
}

// isLike tells whether a masked text may be that of a note: half of its words, placeholders
// aside, are words of the note. Beginning and end alone tell nothing of a note with a name in front.
func isLike(masked, text []byte) bool {
	words := map[string]bool{}
	for word := range bytes.FieldsSeq(text) {
		words[string(word)] = true
	}
	all, shared := 0, 0
	for word := range bytes.FieldsSeq(masked) {
		if bytes.IndexByte(word, '[') >= 0 {
			continue
		}
		all++
		if words[string(word)] {
			shared++
		}
	}
	return 2*shared >= all
}
