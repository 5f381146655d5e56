// Package idset counts repeated note ids. Each unit stores the ids of its notes as sorted hashes; the sets of all units
// together show how many ids had occurred before, without reading the notes.
//
// A hash has 64 bits, so the probability that two of n ids collide is n²/2⁶⁵: with 30 million ids the count is one too
// high once in forty thousand archives. The hashes are read again whenever a unit is added, so they take no more than
// eight bytes per note.
package idset

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"math/bits"
	"slices"

	"github.com/zeebo/xxh3"
)

// Set holds the ids of a unit. The zero value is empty.
type Set struct{ hashes []uint64 }

// Add adds an id; an empty one is ignored.
func (s *Set) Add(id []byte) {
	if len(id) > 0 {
		s.hashes = append(s.hashes, xxh3.Hash(id))
	}
}

// AppendBinary sorts the set and appends it to dst, eight bytes per id.
func (s *Set) AppendBinary(dst []byte) []byte {
	slices.Sort(s.hashes)
	for _, h := range s.hashes {
		dst = binary.LittleEndian.AppendUint64(dst, h)
	}
	return dst
}

// ErrSet is returned for data that is no encoded set.
var ErrSet = errors.New("is no set of ids")

const hashBytes = 8

// A Counter counts the repeated ids among all sets. If memory is short it needs several passes, each over a range of
// hashes. Sets are sorted, so a pass continues in each set where the last one stopped, and all passes together read
// each hash once.
//
//	for pass := range c.Passes() { for k, set := range sets { c.Add(pass, k, set) } }; c.Again()
type Counter struct {
	passes int
	pass   int      // number of the current pass
	all    []uint64 // hashes of the pass, set by set, each sorted
	ends   []int    // of the sets in all
	table  []uint64 // of the hashes that a share has had
	again  int64

	read []int64 // bytes of each set that the passes so far took
	last []uint64
	in   *bufio.Reader
}

// passBytes bounds the memory for the hashes of one pass.
const passBytes = 384 << 20

// NewCounter returns a counter for about that many ids.
func NewCounter(ids int64) *Counter { return newCounter(ids, passBytes/hashBytes) }

func newCounter(ids, fit int64) *Counter {
	return &Counter{passes: int(max(ids-1, 0)/fit) + 1, all: make([]uint64, 0, min(ids, fit)), in: bufio.NewReaderSize(nil, 1<<16)}
}

// Passes returns the number of passes over all sets.
func (c *Counter) Passes() int { return c.passes }

// Add counts the hashes of set k that are in the range of the pass. Passes must be in order, and a set has the same
// number k in all of them. The error is ErrSet or one of the reader.
func (c *Counter) Add(pass, k int, set *io.SectionReader) error {
	if pass != c.pass {
		c.count()
		c.pass = pass
	}
	for len(c.read) <= k {
		c.read, c.last = append(c.read, 0), append(c.last, 0)
	}
	if set.Size()%hashBytes != 0 {
		return ErrSet
	}
	c.in.Reset(io.NewSectionReader(set, c.read[k], set.Size()-c.read[k]))
	for ; c.read[k] < set.Size(); c.read[k] += hashBytes {
		word, err := c.in.Peek(hashBytes)
		if err != nil {
			return err
		}
		h := binary.LittleEndian.Uint64(word)
		if h < c.last[k] {
			return ErrSet
		}
		if rangeOf(h, c.passes) != pass {
			break
		}
		c.last[k], c.all = h, append(c.all, h)
		_, _ = c.in.Discard(hashBytes) // what was peeked at is there
	}
	c.ends = append(c.ends, len(c.all))
	return nil
}

// Again returns how many ids had occurred before in the same or another set.
func (c *Counter) Again() int64 {
	c.count()
	return c.again
}

// rangeOf returns which of n equal ranges a hash is in.
func rangeOf(h uint64, n int) int {
	at, _ := bits.Mul64(h, uint64(n))
	return int(at)
}

// shareIDs is about how many hashes are compared at once: their table of some
// 256 KiB stays in the second-level cache.
const shareIDs = 1 << 13

// count counts the repeated hashes of the current pass, and then clears it. Sets are sorted, so hashes that can be
// equal are in the same range of each set: every share of the work takes one range in all sets.
func (c *Counter) count() {
	shares := len(c.all)/shareIDs + 1
	at := make([]int, len(c.ends)) // where the share begins in each set
	for k := range at[min(len(at), 1):] {
		at[k+1] = c.ends[k]
	}
	pieces := make([][]uint64, len(c.ends))
	for share := range shares {
		n := 0
		for k, from := range at {
			for at[k] < c.ends[k] && rangeOf(c.all[at[k]], shares*c.passes) <= share+shares*c.pass {
				at[k]++
			}
			pieces[k] = c.all[from:at[k]]
			n += len(pieces[k])
		}
		c.share(pieces, n)
	}
	c.all, c.ends = c.all[:0], c.ends[:0]
}

// share counts what comes again among n hashes.
func (c *Counter) share(pieces [][]uint64, n int) {
	size := 1 << bits.Len(uint(2*n)) // more than half of it stays empty
	if len(c.table) < size {
		c.table = make([]uint64, size)
	}
	table := c.table[:size]
	clear(table)
	for _, piece := range pieces {
		for _, h := range piece {
			if !insert(table, max(h, 1)) { // 0 is an empty place
				c.again++
			}
		}
	}
}

// insert puts a hash into a table by its lower bits; false: it was there.
func insert(table []uint64, h uint64) bool {
	mask := uint64(len(table) - 1)
	for at := h & mask; ; at = (at + 1) & mask {
		switch table[at] {
		case 0:
			table[at] = h
			return true
		case h:
			return false
		}
	}
}

// AppendLowest appends the n lowest hashes of an encoded set, or all if there are fewer.
func AppendLowest(dst []uint64, set []byte, n int) []uint64 {
	for ; len(set) >= hashBytes && n > 0; n-- {
		dst, set = append(dst, binary.LittleEndian.Uint64(set)), set[hashBytes:]
	}
	return dst
}
