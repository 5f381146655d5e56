package crf

import "encoding/binary"

// cache keeps blocks of scores by form. It is a table of sets of eight places;
// a form can stand only in the set that its hash names, and drives out the
// first place of the set that was not used since the hand last passed (CLOCK).
// So its memory is fixed, nothing moves, and what it holds depends on nothing
// but the forms asked for. A block is a function of its form, so what the
// cache holds never changes a result.
//
// Forms of more than 31 bytes are not kept: they are one in ten thousand, and
// a key of fixed length costs no pointer.
type cache struct {
	block  int
	sets   uint64
	tag    [][ways]uint32 // [sets] low bits of the hash, never 0 where taken
	used   []uint8        // [sets] a bit a place
	hand   []uint8        // [sets]
	key    [][32]byte     // [sets·ways] form, and its length in the last byte
	values []float32      // [sets·ways][block]
	one    []float32      // [block] for what is not kept

	asked, found int
}

const (
	ways    = 8
	maxForm = 31
	markKey = 0xFF // in place of a length: the key is the hash of a mark
)

func newCache(bytes, block int) *cache {
	sets := max(bytes/(ways*(4*block+36)), 1)
	return &cache{
		block: block, sets: uint64(sets),
		tag: make([][ways]uint32, sets), used: make([]uint8, sets), hand: make([]uint8, sets),
		key: make([][32]byte, sets*ways), values: make([]float32, sets*ways*block), one: make([]float32, block),
	}
}

// form returns the block of a form, and whether it is filled in; if not, the
// caller fills it before the next call.
func (c *cache) form(hash uint64, form []byte) (block []float32, known bool) {
	c.asked++
	if len(form) > maxForm {
		return c.one, false
	}
	set := hash >> 32 * c.sets >> 32
	tag := uint32(hash) | 1
	for w, t := range &c.tag[set] {
		if t != tag {
			continue
		}
		at := int(set)*ways + w
		if k := &c.key[at]; int(k[maxForm]) == len(form) && string(k[:len(form)]) == string(form) {
			c.found++
			c.used[set] |= 1 << w
			return c.values[at*c.block : (at+1)*c.block : (at+1)*c.block], true
		}
	}
	at := c.evict(set, tag)
	k := &c.key[at]
	k[maxForm] = byte(len(form))
	copy(k[:maxForm], form)
	return c.values[at*c.block : (at+1)*c.block : (at+1)*c.block], false
}

// mark is form for the key of a mark.
func (c *cache) mark(key uint64) (block []float32, known bool) {
	c.asked++
	set := key >> 32 * c.sets >> 32
	tag := uint32(key) | 1
	for w, t := range &c.tag[set] {
		if t != tag {
			continue
		}
		at := int(set)*ways + w
		if k := &c.key[at]; k[maxForm] == markKey && binary.LittleEndian.Uint64(k[:]) == key {
			c.found++
			c.used[set] |= 1 << w
			return c.values[at*c.block : (at+1)*c.block : (at+1)*c.block], true
		}
	}
	at := c.evict(set, tag)
	k := &c.key[at]
	k[maxForm] = markKey
	binary.LittleEndian.PutUint64(k[:], key)
	return c.values[at*c.block : (at+1)*c.block : (at+1)*c.block], false
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
	c.used[set] |= 1 << w
	return int(set)*ways + int(w)
}
