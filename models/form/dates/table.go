package dates

import "github.com/velum-health/velum/models/word/gazetteer"

// table holds the words by their folded bytes, with open addressing. A Go map
// costs 20 ns for a word that is not in it, which most words of a note are not.
// They end at the marks, which stay in the fastest cache.
type table struct {
	marks   [1 << tableBits]uint8 // 0 where there is no entry, else some bits of its hash
	entries [1 << tableBits]entry
}

const tableBits = 11

type entry struct {
	lo, hi uint64 // the bytes of the word
	kinds  uint32 // of all its words
	words  []word
}

// known is filled when the program starts.
var known table

// keyOf packs a folded word. False: it is longer than every word there is.
func keyOf(folded []byte) (lo, hi uint64, ok bool) {
	if len(folded) > maxName {
		return 0, 0, false
	}
	for k, b := range folded {
		if k < 8 {
			lo |= uint64(b) << (8 * k)
		} else {
			hi |= uint64(b) << (8 * (k - 8))
		}
	}
	return lo, hi, true
}

func slot(lo, hi uint64) (place int, mark uint8) {
	h := (lo ^ hi<<1) * 0x9E3779B97F4A7C15
	return int(h >> (64 - tableBits)), uint8(h>>32) | 1
}

// find returns the entry of a folded word, nil if it is not known.
func (t *table) find(folded []byte) *entry {
	lo, hi, ok := keyOf(folded)
	if !ok {
		return nil
	}
	return t.at(lo, hi)
}

func (t *table) at(lo, hi uint64) *entry {
	h, mark := slot(lo, hi)
	for t.marks[h] != 0 {
		if e := &t.entries[h]; t.marks[h] == mark && e.lo == lo && e.hi == hi {
			return e
		}
		h = (h + 1) % len(t.marks)
	}
	return nil
}

// look is find for a word as it stands in a note.
func (t *table) look(typed []byte) *entry {
	if len(typed) > 2*maxName {
		return nil
	}
	for _, b := range typed {
		if b >= 0x80 {
			var buf [3 * maxName]byte
			return t.find(gazetteer.Fold(buf[:0], typed))
		}
	}
	lo, hi, ok := keyOf(typed)
	if !ok {
		return nil
	}
	const small = 0x2020202020202020
	n := len(typed)
	if n < 8 {
		return t.at(lo|small>>(64-8*n), 0)
	}
	return t.at(lo|small, hi|small>>(64-8*(n-8)))
}

func (t *table) add(name string, words []word) {
	lo, hi, ok := keyOf([]byte(name))
	if !ok {
		panic("dates: a word is too long: " + name)
	}
	h, mark := slot(lo, hi)
	for t.marks[h] != 0 {
		h = (h + 1) % len(t.marks)
	}
	t.marks[h], t.entries[h] = mark, entry{lo: lo, hi: hi, words: words}
	for _, w := range words {
		t.entries[h].kinds |= w.kinds
	}
}
