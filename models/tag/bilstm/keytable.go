package bilstm

import (
	"math/rand/v2"

	"github.com/velum-health/velum/models/number/kernels"
)

// KeyTable numbers feature keys from 1. Keys are hashes already, and each token looks up seven of them, an unknown form
// twenty. Open addressing at a load of at most one half takes half the time of Go's map, which was 3 % of the time of a
// cascade.
type KeyTable struct {
	slots []keySlot // a power of two
	used  int
	owner *[2]uint64 // of slots: each copy of the table has it
}

type keySlot struct {
	key uint64
	row int32 // 0: the place is free
}

// keySalt keeps files from choosing which keys stand side by side.
var keySalt = rand.Uint64() | 1

// Len returns the number of keys.
func (t *KeyTable) Len() int { return t.used }

// row returns the number of a key; 0: it has none.
func (t *KeyTable) row(key uint64) int32 {
	if t.used == 0 {
		return 0
	}
	return t.slots[t.find(key)].row
}

// find returns the place of a key, or the free one where it would stand.
func (t *KeyTable) find(key uint64) int {
	last := len(t.slots) - 1
	h := (key ^ keySalt) * 0x9E3779B97F4A7C15
	at := int(h>>32) & last
	for t.slots[at].row != 0 && t.slots[at].key != key {
		at = (at + 1) & last
	}
	return at
}

// Add assigns the next number to a new key.
func (t *KeyTable) Add(key uint64) { t.add(key, int32(t.used)+1) }

// add gives a key a number, unless it has one.
func (t *KeyTable) add(key uint64, row int32) {
	if 2*t.used >= len(t.slots) {
		was := t.slots
		t.slots = make([]keySlot, max(64, 2*len(was)))
		for _, s := range was {
			if s.row != 0 {
				t.slots[t.find(s.key)] = s
			}
		}
	}
	if at := t.find(key); t.slots[at].row == 0 {
		t.slots[at] = keySlot{key, row}
		t.used++
	}
}

// room makes room for n keys at once.
func (t *KeyTable) room(n int) {
	slots := 64
	for slots < 2*n+2 {
		slots *= 2
	}
	t.owner = new([2]uint64)
	t.slots = kernels.Pages[keySlot](t.owner, slots)
}
