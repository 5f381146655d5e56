// Package offset converts span offsets between bytes, which velum uses, and the unit that a file format counts in.
package offset

import (
	"fmt"
	"math/bits"
	"unicode/utf8"
)

// Unit is the unit of the offsets in a file, such as bytes or code points. Inside velum all offsets count bytes.
type Unit uint8

const (
	CodePoints Unit = iota // brat, spaCy, Python
	Bytes                  // Go, Rust
	UTF16                  // JavaScript, Java, UIMA
	numUnits   = iota
)

var unitNames = [numUnits]string{"codepoints", "bytes", "utf16"}

// String returns the name used in configuration and flags.
func (u Unit) String() string {
	if int(u) < len(unitNames) {
		return unitNames[u]
	}
	return "?"
}

// ParseUnit returns the unit of that name.
func ParseUnit(name string) (Unit, error) {
	for u, have := range unitNames {
		if have == name {
			return Unit(u), nil
		}
	}
	return 0, fmt.Errorf("unknown offset unit %q; known: codepoints, bytes, utf16", name)
}

// stride is the number of bytes between two marks of an Index.
const stride = 64

// Index converts offsets between bytes and another unit for one text at
// a time. Building it is linear in the text, a conversion reads at most one
// stride of it (and halves the marks when it goes to bytes), so a note with
// many spans costs no more than one with few. The text must be valid UTF-8.
// The zero value is ready for Reset.
type Index struct {
	text  []byte
	unit  Unit
	marks []int32 // [k] units that start before byte k*stride
	total int32   // units in the text
}

// Reset points the index at text, which it keeps until the next Reset.
func (i *Index) Reset(text []byte, unit Unit) {
	i.text, i.unit, i.marks = text, unit, i.marks[:0]
	i.total = int32(len(text))
	if unit == Bytes {
		return
	}
	n := int32(0)
	for len(text) > 0 {
		i.marks = append(i.marks, n)
		k := min(stride, len(text))
		n += unitsIn(text[:k], unit)
		text = text[k:]
	}
	i.total = n
}

// Len returns the length of the text in units.
func (i *Index) Len() int { return int(i.total) }

// FromByte turns a byte offset into an offset in the index's units (bytes, code points or UTF-16 units). An offset that
// equals the text's length is the end of the text. It returns false if at lies beyond the text or inside a character.
func (i *Index) FromByte(at int) (int, bool) {
	if !i.border(at) {
		return 0, false
	}
	if i.unit == Bytes {
		return at, true
	}
	k := at / stride
	if k == len(i.marks) {
		return int(i.total), true
	}
	return int(i.marks[k] + unitsIn(i.text[k*stride:at], i.unit)), true
}

// ToByte returns the byte where unit at starts (the end of the text for the
// text's length), and false if at is outside the text or inside a character.
func (i *Index) ToByte(at int) (int, bool) {
	if at < 0 || at > int(i.total) {
		return 0, false
	}
	if i.unit == Bytes {
		return at, i.border(at)
	}
	if at == int(i.total) {
		return len(i.text), true
	}
	// The last mark that is not behind at: halve the range.
	k := 0
	for step := 1 << bits.Len(uint(len(i.marks))); step > 0; step >>= 1 {
		if k+step < len(i.marks) && int(i.marks[k+step]) <= at {
			k += step
		}
	}
	b, n := k*stride, int(i.marks[k])
	for b < len(i.text) && !utf8.RuneStart(i.text[b]) {
		b++ // the character that started before the mark is counted there
	}
	for n < at {
		c := i.text[b]
		n++
		if i.unit == UTF16 && c >= 0xF0 {
			n++
		}
		b++
		for b < len(i.text) && !utf8.RuneStart(i.text[b]) {
			b++
		}
	}
	return b, n == at
}

// border tells whether a character starts at byte at, or the text ends there.
func (i *Index) border(at int) bool {
	return at >= 0 && (at == len(i.text) || at < len(i.text) && utf8.RuneStart(i.text[at]))
}

// unitsIn counts the units whose first byte is in text: one for every byte
// that starts a character, and in UTF-16 one more for a character of four
// bytes, which is written as a surrogate pair.
func unitsIn(text []byte, unit Unit) int32 {
	n := int32(0)
	for _, c := range text {
		if c&0xC0 != 0x80 {
			n++
		}
	}
	if unit == UTF16 {
		for _, c := range text {
			if c >= 0xF0 {
				n++
			}
		}
	}
	return n
}
