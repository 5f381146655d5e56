package cut

import (
	"encoding/binary"
	"math/bits"
	"strings"
	"unicode/utf8"

	"github.com/velum-health/velum/models/word/gazetteer"
)

// Lexicon maps words, by their folded form, to meanings of type M. It is a hash table with open addressing: a Go map
// costs some 20 ns for a word that it does not have, which is the case for most words of a note; here such a word ends
// at an array of tags that fits the first-level cache. A lexicon is filled at program start and only read afterwards.
type Lexicon[M any] struct {
	marks   [lexiconSize]uint8 // 0 where there is no entry, else some bits of its hash
	entries [lexiconSize]entry[M]
}

const (
	lexiconBits = 12
	lexiconSize = 1 << lexiconBits
)

type entry[M any] struct {
	key     key
	meaning M
}

// key is a folded word: small letters without accents, the first in the low byte
// of lo, zeros behind the last. The letters behind the sixteenth are mixed in.
type key struct{ lo, hi uint64 }

func (k *key) hash() (place uint32, mark uint8) {
	h := (k.lo ^ bits.RotateLeft64(k.hi, 29)) * 0x9E3779B97F4A7C15
	return uint32(h >> (64 - lexiconBits)), uint8(h>>32) | 1
}

// set puts letter b at place n.
func (k *key) set(n int, b byte) {
	switch {
	case n < 8:
		k.lo |= uint64(b) << (8 * n)
	case n < 16:
		k.hi |= uint64(b) << (8 * (n - 8))
	default:
		k.hi = bits.RotateLeft64(k.hi, 9) ^ uint64(b)
	}
}

// small sets the bit that makes capitals of ASCII small in eight letters at once.
const small = 0x2020202020202020

// Word returns the meaning of t[i:j], or nil. plain says that all its letters are ASCII.
func (l *Lexicon[M]) Word(t Text, i, j int, plain bool) *M {
	n := j - i
	switch {
	case n == 0:
		return nil
	case !plain || n > 16:
		return l.folded(t[i:j])
	case i+16 > len(t):
		var k key
		for n, b := range t[i:j] {
			k.set(n, b|0x20)
		}
		return l.look(k)
	case n <= 8:
		return l.look(key{lo: (binary.LittleEndian.Uint64(t[i:]) | small) & (1<<(8*n) - 1)}) // all ones when n is 8
	}
	return l.look(key{binary.LittleEndian.Uint64(t[i:]) | small, (binary.LittleEndian.Uint64(t[i+8:]) | small) & (1<<(8*(n-8)) - 1)})
}

func (l *Lexicon[M]) folded(word []byte) *M {
	if string(word) == "ß" { // a beta of hormones, and not "ss"
		return nil
	}
	var room [2 * MaxWord]byte
	return l.look(keyOf(gazetteer.Fold(room[:0], word)))
}

func keyOf(folded []byte) (k key) {
	for n, b := range folded {
		k.set(n, b)
	}
	return k
}

func (l *Lexicon[M]) look(k key) *M {
	h, mark := k.hash()
	for l.marks[h] != 0 {
		if e := &l.entries[h]; l.marks[h] == mark && e.key == k {
			return &e.meaning
		}
		h = (h + 1) % lexiconSize
	}
	return nil
}

// Add returns the meaning of a word, adding a new one if the word is unknown.
func (l *Lexicon[M]) Add(word string) *M {
	k := keyOf(gazetteer.Fold(nil, []byte(word)))
	if m := l.look(k); m != nil {
		return m
	}
	h, mark := k.hash()
	for l.marks[h] != 0 {
		h = (h + 1) % lexiconSize
	}
	l.marks[h], l.entries[h].key = mark, k
	return &l.entries[h].meaning
}

// Prefixes is a set of the first three letters of words, by which a scanner decides whether to read on.
type Prefixes [1 << 15 / 64]uint64

// Has reports whether a word of the set may begin with these three letters, in any case; the third letter may have an
// accent.
func (p *Prefixes) Has(a, b, c byte) bool {
	k := uint(a&0x1F)<<10 | uint(b&0x1F)<<5 | uint(c&0x1F)
	return p[k>>6]>>(k&63)&1 != 0 || c >= utf8.RuneSelf
}

// Add adds a word of two or more lower-case letters without accents.
func (p *Prefixes) Add(word string) {
	for c := range 32 {
		if len(word) == 2 || int(word[2]&0x1F) == c {
			k := uint(word[0]&0x1F)<<10 | uint(word[1]&0x1F)<<5 | uint(c)
			p[k>>6] |= 1 << (k & 63)
		}
	}
}

// Sections parses a file of words: a line of names in brackets, such as "[telephone everyday]", begins a section, and
// the lines below hold its words. A # begins a comment. do is called for each line of words.
func Sections(file string, do func(names, words []string)) {
	var names []string
	for line := range strings.Lines(file) {
		line, _, _ = strings.Cut(line, "#")
		line = strings.TrimSpace(line)
		if inner, ok := strings.CutPrefix(line, "["); ok {
			names = strings.Fields(strings.TrimSuffix(inner, "]"))
		} else if line != "" {
			do(names, strings.Fields(line))
		}
	}
}
