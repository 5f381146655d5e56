package crf

import (
	"encoding/binary"
	"unsafe"

	"github.com/velum-health/velum/models/number/kernels"
)

// cache stores blocks of scores by form. It is a set-associative table with eight slots per set: a form can be only in
// the set that its hash selects, and replaces the first slot of the set that was not used since the clock hand last
// passed (CLOCK). So its memory is fixed, and its content depends only on the forms that were looked up. A block is a
// function of its form, so the cache never changes a result.
//
// Most of the time of a look-up is memory latency: tags, entry and block are in three arrays of up to 64 MiB. warm
// therefore looks up a run of forms together, so that the processor waits for all of them at once.
//
// Forms longer than 27 bytes are not cached: they are one in ten thousand, and a key of fixed length needs no pointer.
type cache struct {
	width  int // of a row in a block: the labels, padded to half a register where a lattice has a whole one
	block  int // rows times width
	sets   uint64
	tag    [][ways]uint32 // [sets] low bits of the hash, never 0 where taken
	used   []uint8        // [sets] a bit a place
	hand   []uint8        // [sets]
	entry  []entry        // [sets·ways+1] the last one is for what is not kept
	values []float32      // [sets·ways+1][block]
	fill   []float32      // [rows][stride] what is computed of a form, before it is kept

	asked, found int
}

// entry is a place of the cache, beside its block. warm asks for it
// with the tag, so its size is what kernels.Probe takes it for.
type entry struct {
	key         [maxForm]byte // form, or the key of a mark and 0xFF, which is in no form
	length      uint8         // of the form
	first, rows uint8         // of the block; the rest of it is zero
	begins      uint16        // see features.Extractor.Begins
}

var _ [unsafe.Sizeof(entry{})]byte = [kernels.BesideBytes]byte{}

const (
	ways    = kernels.Ways
	maxForm = 27
)

// newCache makes a cache of about so many bytes, of a slab of its own.
func newCache(bytes, rows, labels, stride int) *cache {
	c := &cache{fill: make([]float32, rows*stride)}
	slab := kernels.Pages[byte](c, c.size(bytes, rows, labels))
	c.carve(&slab)
	return c
}

// size sets the numbers of a cache of about so many bytes, and returns how many
// it takes.
func (c *cache) size(bytes, rows, labels int) int {
	c.width = (labels + kernels.Half - 1) &^ (kernels.Half - 1)
	c.block = rows * c.width
	c.sets = uint64(max(bytes/(ways*(4*c.block+36)), 1))
	return int(c.sets)*(4*ways+2) + c.places()*(int(unsafe.Sizeof(entry{}))+4*c.block) + 5*64
}

func (c *cache) places() int { return int(c.sets)*ways + 1 }

// carve takes the arrays of the cache off a slab.
func (c *cache) carve(slab *[]byte) {
	sets := int(c.sets)
	c.tag, c.used, c.hand = carve[[ways]uint32](slab, sets), carve[uint8](slab, sets), carve[uint8](slab, sets)
	c.entry, c.values = carve[entry](slab, c.places()), carve[float32](slab, c.places()*c.block)
}

// carve cuts n items, which hold no pointers, off the slab, at a multiple of
// 64 bytes.
func carve[T [ways]uint32 | uint8 | entry | float32](slab *[]byte, n int) []T {
	*slab = (*slab)[-uintptr(unsafe.Pointer(&(*slab)[0]))%64:]
	items := unsafe.Slice((*T)(unsafe.Pointer(&(*slab)[0])), n)
	*slab = (*slab)[n*int(unsafe.Sizeof(items[0])):]
	return items
}

// run is the number of forms that are looked up together: the data they touch, some 20 kB, stays in the first-level
// cache.
const run = 16

// warm prefetches the entries of forms with these hashes, and returns their probable slots; -1 for unknown forms.
func (c *cache) warm(at *[run]int32, hash []uint64) {
	kernels.Probe(at[:], hash, c.tag, unsafe.Pointer(&c.entry[0]))
	for _, a := range at[:len(hash)] {
		if a >= 0 {
			kernels.Prefetch(c.nonzero(int(a)))
		}
	}
}

// nonzero returns the rows of the block that are not zero.
func (c *cache) nonzero(at int) []float32 {
	e := &c.entry[at]
	lo := at*c.block + int(e.first)*c.width
	return c.values[lo : lo+int(e.rows)*c.width]
}

// form returns the place of a form, and whether it is filled in; if not, the
// caller fills block and entry before the next call. Guess is where the form
// probably stands, -1 if it is not known.
func (c *cache) form(hash uint64, form []byte, guess int) (at int, known bool) {
	c.asked++
	if guess >= 0 && c.entry[guess].is(form) {
		c.found++
		c.used[guess/ways] |= 1 << (guess % ways)
		return guess, true
	}
	if len(form) > maxForm {
		return len(c.entry) - 1, false
	}
	if at, known = c.look(hash, form); known {
		c.found++
		return at, true
	}
	at = c.evict(hash>>32*c.sets>>32, uint32(hash)|1)
	e := &c.entry[at]
	e.length = byte(len(form))
	copy(e.key[:], form)
	return at, false
}

// look returns the place of a form, if it has one.
func (c *cache) look(hash uint64, form []byte) (at int, known bool) {
	set := hash >> 32 * c.sets >> 32
	tag := uint32(hash) | 1
	for w, t := range &c.tag[set] {
		if at := int(set)*ways + w; t == tag && c.entry[at].is(form) {
			c.used[set] |= 1 << w
			return at, true
		}
	}
	return 0, false
}

// expect prefetches the block of a slot that will be written soon.
func (c *cache) expect(at int) { kernels.PrefetchWrite(c.values[at*c.block:][:c.block]) }

// copyFrom takes over what another cache holds at a place.
func (c *cache) copyFrom(at int, other *cache, from int) {
	e, o := &c.entry[at], &other.entry[from]
	e.first, e.rows, e.begins = o.first, o.rows, o.begins
	copy(c.nonzero(at), other.nonzero(from))
}

func (e *entry) is(form []byte) bool {
	return int(e.length) == len(form) && len(form) <= maxForm && string(e.key[:len(form)]) == string(form)
}

// mark is form for the key of a mark, before a byte that no form has.
func (c *cache) mark(key uint64) (at int, known bool) {
	form := [...]byte{8: 0xFF}
	binary.LittleEndian.PutUint64(form[:], key)
	return c.form(key, form[:], -1)
}

// keep takes over the block that was computed in fill, and notes which of its
// rows are not zero.
func (c *cache) keep(at, stride int) {
	e, block := &c.entry[at], c.fill
	lo, hi := 0, len(block)
	for hi > 0 && zero(block[hi-stride:hi]) {
		hi -= stride
	}
	for lo < hi && zero(block[lo:lo+stride]) {
		lo += stride
	}
	e.first, e.rows = uint8(lo/stride), uint8((hi-lo)/stride)
	kept := c.nonzero(at)
	for ; lo < hi; lo += stride {
		kept = kept[copy(kept, block[lo:lo+c.width]):]
	}
}

func zero(row []float32) bool {
	for _, v := range row {
		if v != 0 {
			return false
		}
	}
	return true
}

// evict returns a place of the set for a newcomer.
func (c *cache) evict(set uint64, tag uint32) int {
	w := c.hand[set]
	for c.used[set]&(1<<w) != 0 {
		c.used[set] &^= 1 << w
		w = (w + 1) % ways
	}
	c.hand[set] = (w + 1) % ways
	c.tag[set][w] = tag
	return int(set)*ways + int(w)
}
