package tokenize

import (
	"unicode"
	"unicode/utf8"
)

// class says how a character divides or joins the tokens around it.
type class uint8

const (
	space    class = iota // white space within a line, and control characters of C1
	control               // ASCII control characters that no note holds
	newline               // ends a line
	lower                 // lower-case letters and letters without case
	upper                 // upper-case and title-case letters
	digit                 // decimal digits
	ordinal               // º ª °: ends the word or number that it is glued to
	mark                  // combining and format characters: goes with what it follows
	symbol                // punctuation and symbols: a token of its own
	bad                   // a byte that is no UTF-8: a token of its own
	notASCII              // in the table of bytes: look at the whole character
)

func (c class) letter() bool { return c == lower || c == upper }

// byteClass is the fast path: the class of an ASCII byte.
var byteClass = func() (t [256]class) {
	for b := range t {
		t[b] = notASCII
		if b < utf8.RuneSelf {
			t[b] = runeClass(rune(b))
		}
	}
	return t
}()

// wideClass has every character of two bytes: all accented Latin letters.
var wideClass = func() (t [0x800]class) {
	for r := range t {
		t[r] = runeClass(rune(r))
	}
	return t
}()

func runeClass(r rune) class {
	switch r {
	case '\n', '\r', '\v', '\f', '\u0085', '\u2028', '\u2029':
		return newline
	case 'º', 'ª', '°':
		return ordinal
	}
	switch {
	case r < ' ' && r != '\t' || r == 0x7F:
		return control
	case unicode.IsSpace(r) || unicode.IsControl(r):
		return space
	case unicode.IsUpper(r) || unicode.IsTitle(r):
		return upper
	case unicode.IsLetter(r):
		return lower
	case unicode.IsDigit(r):
		return digit
	case unicode.IsMark(r) || unicode.Is(unicode.Cf, r):
		return mark
	}
	return symbol
}

// classAt returns the class and the width in bytes of the character at i.
func classAt(text []byte, i int) (class, int) {
	b := text[i]
	if c := byteClass[b]; c != notASCII {
		return c, 1
	}
	return wideClassAt(text, i)
}

func wideClassAt(text []byte, i int) (class, int) {
	b := text[i]
	if b >= 0xC2 && b <= 0xDF && i+1 < len(text) && text[i+1]&0xC0 == 0x80 {
		return wideClass[int(b&0x1F)<<6|int(text[i+1]&0x3F)], 2
	}
	r, n := utf8.DecodeRune(text[i:])
	if r == utf8.RuneError && n <= 1 {
		return bad, 1
	}
	return runeClass(r), n
}
