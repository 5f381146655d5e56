package main

import (
	"bytes"
	"fmt"
	"io"

	"github.com/zeebo/xxh3"
)

// census counts what makes an archive easy or hard for caches.
type census struct {
	notes, repeated, words, types int
	seenNotes, seenWords          map[uint64]struct{}
	perMillion                    []int // new types in each full million words
	lastTypes                     int
}

func (c *census) note(text []byte) {
	if c.seenNotes == nil {
		c.seenNotes, c.seenWords = map[uint64]struct{}{}, map[uint64]struct{}{}
	}
	c.notes++
	if !add(c.seenNotes, text) {
		c.repeated++
	}
	for w := range bytes.FieldsSeq(text) {
		c.words++
		if add(c.seenWords, w) {
			c.types++
		}
		if c.words%1_000_000 == 0 {
			c.perMillion = append(c.perMillion, c.types-c.lastTypes)
			c.lastTypes = c.types
		}
	}
}

func add(seen map[uint64]struct{}, v []byte) bool {
	n := len(seen)
	seen[xxh3.Hash(v)] = struct{}{}
	return len(seen) > n
}

func (c *census) print(w io.Writer) {
	fmt.Fprintf(w, "%d notes, %.2f words a note, %.1f %% repeated, %d types\n", c.notes,
		float64(c.words)/float64(max(c.notes, 1)), 100*float64(c.repeated)/float64(max(c.notes, 1)), c.types)
	if n := len(c.perMillion); n > 0 {
		fmt.Fprintf(w, "new types a million words: %d in the first, %d in the last\n", c.perMillion[0], c.perMillion[n-1])
	}
}
