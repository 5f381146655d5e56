// Package cut reads words and numbers at a position of a text: the character there, where a number or word begins and
// ends, and the meaning of the word in a [Lexicon]. It takes UTF-8 bytes and returns byte offsets. It keeps no tokens:
// a scanner looks at the few words that it needs and pays for no others.
//
// A word is a run of letters with their accents. The ordinal indicators º and ª belong to a word when it is read
// backwards, as in "Nº 12", but not when it is read forwards, as in "12º". One table of bytes distinguishes numbers and
// words; non-ASCII characters are decoded only at borders.
package cut

import (
	"unicode"
	"unicode/utf8"

	"github.com/velum-health/velum/models/number/kernels"
)

// Text is the text of a note. An index outside of it is allowed and matches nothing.
type Text []byte

// IsDigit reports whether b is an ASCII digit; IsLetter, IsUpper and IsLower test for ASCII letters.
func IsDigit(b byte) bool  { return b-'0' < 10 }
func IsLetter(b byte) bool { return (b|0x20)-'a' < 26 }
func IsUpper(b byte) bool  { return b-'A' < 26 }
func IsLower(b byte) bool  { return b-'a' < 26 }

// IsAlnum reports whether b is an ASCII letter or digit.
func IsAlnum(b byte) bool { return IsDigit(b) || IsLetter(b) }

// At returns the byte at i, or 0 outside the text.
func (t Text) At(i int) byte {
	if uint(i) < uint(len(t)) {
		return t[i]
	}
	return 0
}

// Digit reports whether the byte at i is an ASCII digit; Upper, Lower, Letter and Alnum test for other classes.
func (t Text) Digit(i int) bool  { return IsDigit(t.At(i)) }
func (t Text) Upper(i int) bool  { return IsUpper(t.At(i)) }
func (t Text) Lower(i int) bool  { return IsLower(t.At(i)) }
func (t Text) Letter(i int) bool { return IsLetter(t.At(i)) }
func (t Text) Alnum(i int) bool  { return IsAlnum(t.At(i)) }

// Blank tells whether a space stands at i.
func (t Text) Blank(i int) bool { return t.At(i) == ' ' }

func isLetter(r rune) bool { return unicode.IsLetter(r) && r != 'º' && r != 'ª' }

func isMark(r rune) bool { return r >= 0x300 && r < 0x370 }

// LetterAt tells whether a letter of any script begins at i.
func (t Text) LetterAt(i int) bool {
	b := t.At(i)
	if b < utf8.RuneSelf {
		return IsLetter(b)
	}
	r, _ := utf8.DecodeRune(t[i:])
	return isLetter(r)
}

// LetterBefore tells whether a letter of any script ends at i.
func (t Text) LetterBefore(i int) bool {
	b := t.At(i - 1)
	if b < utf8.RuneSelf {
		return IsLetter(b)
	}
	r, _ := utf8.DecodeLastRune(t[:i])
	return isLetter(r)
}

// AlnumAt tells whether a letter of any script, or a digit, begins at i.
func (t Text) AlnumAt(i int) bool { return t.Digit(i) || t.LetterAt(i) }

// AlnumBefore tells whether a letter of any script, or a digit, ends at i.
func (t Text) AlnumBefore(i int) bool { return t.Digit(i-1) || t.LetterBefore(i) }

// Digits returns the end of the run of digits that starts at i.
func (t Text) Digits(i int) int {
	for t.Digit(i) {
		i++
	}
	return i
}

// Value returns the number written by the digits t[i:j], which are at most 18.
func (t Text) Value(i, j int) (v int) {
	for _, b := range t[i:j] {
		v = v*10 + int(b-'0')
	}
	return v
}

// Space returns the width of the blank at i: 1 for a space or tab, 2 for a
// no-break space, 0 if there is none. A line end is no blank.
func (t Text) Space(i int) int {
	switch t.At(i) {
	case ' ', '\t':
		return 1
	case 0xC2:
		if t.At(i+1) == 0xA0 {
			return 2
		}
	}
	return 0
}

// Spaces skips at most two blanks.
func (t Text) Spaces(i int) int {
	i += t.Space(i)
	return i + t.Space(i)
}

// SpaceBefore returns the width of the blank that ends at i.
func (t Text) SpaceBefore(i int) int {
	switch t.At(i - 1) {
	case ' ', '\t':
		return 1
	case 0xA0:
		if t.At(i-2) == 0xC2 {
			return 2
		}
	}
	return 0
}

// SpacesBefore skips at most two blanks backwards.
func (t Text) SpacesBefore(i int) int {
	i -= t.SpaceBefore(i)
	return i - t.SpaceBefore(i)
}

// Dash returns the width of the hyphen or dash at i, or 0.
func (t Text) Dash(i int) int {
	switch t.At(i) {
	case '-':
		return 1
	case 0xE2: // U+2010 to U+2015
		if t.At(i+1) == 0x80 && t.At(i+2)-0x90 < 6 {
			return 3
		}
	}
	return 0
}

// Apostrophe returns the width of the apostrophe (' or ’) at i, or 0.
func (t Text) Apostrophe(i int) int {
	switch {
	case t.At(i) == '\'':
		return 1
	case t.At(i) == 0xE2 && t.At(i+1) == 0x80 && t.At(i+2) == 0x99:
		return 3
	}
	return 0
}

// MaxWord is the number of bytes up to which a word is read.
const MaxWord = 48

// WordEnd returns the end of the word that begins at i, or i if no word does. plain reports whether all its letters are
// ASCII.
func (t Text) WordEnd(i int) (end int, plain bool) {
	end = i
	for t.Letter(end) && end-i < MaxWord {
		end++
	}
	if t.At(end) < utf8.RuneSelf {
		return end, true
	}
	for end < len(t) && end-i < MaxWord {
		if IsLetter(t[end]) {
			end++
			continue
		}
		w := t.letterWidth(end)
		if w == 0 {
			break
		}
		end += w
	}
	return end, false
}

// letterWidth returns the bytes of the letter beyond ASCII at i, 0 if there is
// none. The middle dot of Catalan counts inside a word, and so do accents.
func (t Text) letterWidth(i int) int {
	if t.At(i) < utf8.RuneSelf {
		return 0
	}
	r, size := utf8.DecodeRune(t[i:])
	if isLetter(r) || isMark(r) || r == '·' && t.LetterBefore(i) && t.LetterAt(i+2) {
		return size
	}
	return 0
}

// WordStart returns the start of the word that ends at i, or i if no word does. Single letters with dots are one word
// (D.N.I.), and a capital after a lower-case letter begins a word (NºCol).
func (t Text) WordStart(i int) (start int, plain bool) {
	start = i
	for start > 0 && i-start < MaxWord && IsLetter(t[start-1]) {
		start--
		if IsUpper(t[start]) && t.SmallBefore(start) {
			return start, true
		}
	}
	if b := t.At(start - 1); b < utf8.RuneSelf && b != '.' {
		return start, true
	}
	for start > 0 && i-start < MaxWord {
		b := t[start-1]
		switch {
		case IsLetter(b):
			start--
			if IsUpper(b) && t.SmallBefore(start) {
				return start, false
			}
		case b >= utf8.RuneSelf:
			r, size := utf8.DecodeLastRune(t[:start])
			if r != 'º' && r != 'ª' && r != '°' && !isMark(r) && !isLetter(r) && !(r == '·' && t.LetterBefore(start-size)) {
				return start, false
			}
			start -= size
		case b == '.' && start < i && t.dotted(start):
			start--
		default:
			return start, false
		}
	}
	return start, false
}

// dotted tells whether the dot before start joins single letters: the letter at
// start stands alone, and so does the one before the dot.
func (t Text) dotted(start int) bool {
	return !t.Letter(start+1) && t.Letter(start-2) && !t.AlnumBefore(start-2)
}

// SmallBefore reports whether a lower-case ASCII letter, º or ª ends at i.
func (t Text) SmallBefore(i int) bool {
	b := t.At(i - 1)
	if b == 0xBA || b == 0xAA {
		return t.At(i-2) == 0xC2
	}
	return IsLower(b)
}

// Set is a set of bytes.
type Set [256]bool

// InWord reports whether b is an ASCII letter or of a character beyond ASCII.
func InWord(b byte) bool { return IsLetter(b) || b >= utf8.RuneSelf }

// SetOf returns the set of the bytes of a string.
func SetOf(bytes string) (s Set) {
	for _, b := range []byte(bytes) {
		s[b] = true
	}
	return s
}

// Starts are the places of a text at which a scanner stops, in order: where words and numbers begin, and the signs . : and
// @; then the end of the text.
type Starts []int32

// startOf has a bit for letters and all bytes beyond ASCII, one for digits, and one for signs.
var startOf = [256]uint8{'.': 4, ':': 4, '@': 4}

func init() {
	for b := range startOf {
		if InWord(byte(b)) {
			startOf[b] = 1
		} else if IsDigit(byte(b)) {
			startOf[b] = 2
		}
	}
}

// Of returns the places of a text, in the memory of s. It does not branch: at the end of most words a branch is predicted
// wrongly.
func (s Starts) Of(t Text) Starts {
	s = kernels.Grow(s, len(t)+1)
	n, before := 0, uint8(0)
	for i, b := range t {
		c := startOf[b]
		s[n] = int32(i)
		n += int((c&^before + 7) >> 3) // 1 for each of the bits
		before = c & 3
	}
	s[n] = int32(len(t))
	return s[:n+1]
}

// Behind drops the places up to i and returns the next one. i is in the text.
func (s *Starts) Behind(i int) int {
	for int((*s)[0]) <= i {
		*s = (*s)[1:]
	}
	return int((*s)[0])
}
