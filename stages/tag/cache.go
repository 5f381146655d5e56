package tag

import (
	"bytes"
	"sync/atomic"
	"unsafe"

	"github.com/velum-health/velum/pipeline"
	"github.com/zeebo/xxh3"
)

// CacheStats counts over all workers how often the note cache helped. A nil
// *CacheStats counts nothing.
type CacheStats struct{ Asked, Found atomic.Int64 }

func (s *CacheStats) add(c *cache) {
	if s != nil {
		s.Asked.Add(c.asked)
		s.Found.Add(c.found)
	}
	c.asked, c.found = 0, 0
}

// cache remembers what the tagger said of whole notes. A third of the notes
// of a primary-care archive are the same few words again ("no acude"). It is
// exact: the text is compared, not only its hash, and a labeller says the same
// of the same text; so it cannot change a result, only the time. When its
// memory is full it starts again from nothing: the frequent notes are back
// within a batch, and there is no bookkeeping a look-up.
type cache struct {
	slots        []slot // direct mapped; length a power of two
	budget, used int    // bytes
	text         arena[byte]
	tags         arena[pipeline.Tag]
	matches      arena[pipeline.Match]
	probs        arena[float32]
	asked, found int64
}

type slot struct {
	hash    uint64
	text    []byte // nil: empty
	tags    []pipeline.Tag
	matches []pipeline.Match
	probs   []float32
	conf    float32
}

// maxCachedNote is the longest text worth keeping: longer ones do not repeat.
const maxCachedNote = 512

func newCache(bytes int) *cache {
	n := 1024
	for n*2*int(unsafe.Sizeof(slot{})) < bytes/2 {
		n *= 2
	}
	return &cache{slots: make([]slot, n), budget: bytes - n*int(unsafe.Sizeof(slot{}))}
}

// find returns what is known of text, or nil. The entry is good until the
// next call of keep.
func (c *cache) find(text []byte) *slot {
	c.asked++
	hash := xxh3.Hash(text)
	e := &c.slots[hash&uint64(len(c.slots)-1)]
	if e.text == nil || e.hash != hash || !bytes.Equal(e.text, text) {
		return nil
	}
	c.found++
	return e
}

// keep remembers what was said of text.
func (c *cache) keep(text []byte, tags []pipeline.Tag, matches []pipeline.Match, probs []float32, conf float32) {
	if len(text) == 0 || len(text) > maxCachedNote {
		return
	}
	need := len(text) + len(tags) + len(matches)*int(unsafe.Sizeof(pipeline.Match{})) + 4*len(probs)
	if c.used+need > c.budget {
		clear(c.slots)
		c.used = 0
		c.text.reset()
		c.tags.reset()
		c.matches.reset()
		c.probs.reset()
	}
	c.used += need
	hash := xxh3.Hash(text)
	c.slots[hash&uint64(len(c.slots)-1)] = slot{
		hash: hash, conf: conf,
		text: c.text.copy(text), tags: c.tags.copy(tags), matches: c.matches.copy(matches), probs: c.probs.copy(probs),
	}
}

// arena hands out copies from blocks that are used again after reset.
type arena[T any] struct {
	blocks [][]T
	at     int // block in use
}

const arenaBlock = 1 << 16 // items; longer than any cached note

func (a *arena[T]) copy(v []T) []T {
	if len(v) > arenaBlock {
		return append([]T(nil), v...)
	}
	for {
		if a.at == len(a.blocks) {
			a.blocks = append(a.blocks, make([]T, 0, arenaBlock))
		}
		b := a.blocks[a.at]
		if len(b)+len(v) <= cap(b) {
			n := len(b)
			a.blocks[a.at] = append(b, v...)
			return a.blocks[a.at][n:len(a.blocks[a.at]):len(a.blocks[a.at])]
		}
		a.at++
	}
}

func (a *arena[T]) reset() {
	for i := range a.blocks {
		a.blocks[i] = a.blocks[i][:0]
	}
	a.at = 0
}
