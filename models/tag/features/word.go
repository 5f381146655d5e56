package features

import (
	"unicode"
	"unicode/utf8"
)

// word is a form with what the groups ask of it, computed once.
type word struct {
	form  []byte
	lower []byte  // lower case
	at    []int32 // [runes+1] where the runes of lower begin, and its length
	shape []byte  // [runes] A upper, a lower, 0 digit, l other letter, - punctuation, s symbol, _ the rest
	kinds charSet // which of these occur
}

// charSet is a set of shape letters.
type charSet uint8

const (
	upper charSet = 1 << iota
	lower
	digit
	letter // without case
	punctuation
	symbol
	other
)

var shapeOf = map[charSet]byte{upper: 'A', lower: 'a', digit: '0', letter: 'l', punctuation: '-', symbol: 's', other: '_'}

// asciiKind is classify for the first 128 characters.
var asciiKind = func() (t [utf8.RuneSelf]charSet) {
	for r := range rune(utf8.RuneSelf) {
		t[r] = classify(r)
	}
	return t
}()

// shapeByte is shapeOf as a table.
var shapeByte = func() (t [256]byte) {
	for k, b := range shapeOf {
		t[k] = b
	}
	return t
}()

func classify(r rune) charSet {
	switch {
	case unicode.IsUpper(r), unicode.IsTitle(r):
		return upper
	case unicode.IsLower(r), r == 'ª', r == 'º':
		return lower
	case unicode.IsDigit(r):
		return digit
	case unicode.IsLetter(r):
		return letter
	case unicode.IsPunct(r):
		return punctuation
	case unicode.IsSymbol(r):
		return symbol
	}
	return other
}

// set reads a form. The word keeps form until the next call.
func (w *word) set(form []byte) {
	w.form, w.lower, w.at, w.shape, w.kinds = form, w.lower[:0], w.at[:0], w.shape[:0], 0
	for i := 0; i < len(form); {
		w.at = append(w.at, int32(len(w.lower)))
		if c := form[i]; c < utf8.RuneSelf {
			k := asciiKind[c]
			if k == upper {
				c += 'a' - 'A'
			}
			w.lower = append(w.lower, c)
			w.add(k)
			i++
			continue
		}
		r, n := utf8.DecodeRune(form[i:])
		w.lower = utf8.AppendRune(w.lower, unicode.ToLower(r))
		w.add(classify(r))
		i += n
	}
	w.at = append(w.at, int32(len(w.lower)))
}

func (w *word) add(k charSet) {
	w.shape = append(w.shape, shapeByte[k])
	w.kinds |= k
}

func (w *word) runes() int { return len(w.shape) }

func (w *word) has(k charSet) bool { return w.kinds&k != 0 }

// only tells whether every character is of the kinds in k.
func (w *word) only(k charSet) bool { return w.kinds&^k == 0 }

// pad stands for the characters that a form is too short for.
const pad = '_'

// prefix appends the first n characters in lower case, padded at the end.
func (w *word) prefix(dst []byte, n int) []byte {
	have := min(n, w.runes())
	dst = append(dst, w.lower[:w.at[have]]...)
	for range n - have {
		dst = append(dst, pad)
	}
	return dst
}

// suffix appends the last n characters in lower case, padded in front.
func (w *word) suffix(dst []byte, n int) []byte {
	have := min(n, w.runes())
	for range n - have {
		dst = append(dst, pad)
	}
	return append(dst, w.lower[w.at[w.runes()-have]:]...)
}

// capitals is BOOT's capitalization: lower, upper, first upper, mixed; a
// single capital is told apart, since it may be either.
func (w *word) capitals() string {
	letters := upper | lower | letter
	switch {
	case w.kinds&letters == 0:
		return ""
	case !w.has(upper):
		return "lower"
	case w.runes() == 1:
		return "single"
	case !w.has(lower | letter):
		return "upper"
	case w.shape[0] == 'A' && !hasByte(w.shape[1:], 'A'):
		return "first"
	}
	return "mixed"
}

func hasByte(s []byte, b byte) bool {
	for _, c := range s {
		if c == b {
			return true
		}
	}
	return false
}

// numeric is VIGI's numeric type.
func (w *word) numeric() string {
	switch {
	case w.only(digit) && w.year():
		return "YEAR_DIGIT"
	case w.only(digit):
		return "ALL_DIGITS"
	case w.has(digit) && w.only(digit|upper|lower|letter):
		return "ALPHANUMERIC"
	case w.has(digit):
		return "SOME_DIGITS"
	case w.roman():
		return "ROMAN_NUMERAL"
	}
	return ""
}

// year tells whether the form is four digits that begin with 1, 20 or 21.
func (w *word) year() bool {
	f := w.form
	return len(f) == 4 && (f[0] == '1' || f[0] == '2' && (f[1] == '0' || f[1] == '1'))
}

// roman tells whether the form is a roman numeral in capitals, 1 to 399: the
// larger ones are abbreviations (MC, DM) when they stand in notes.
func (w *word) roman() bool {
	f := w.form
	if len(f) == 0 || len(f) > 9 || !w.only(upper) {
		return false
	}
	f = count(f, 'C', 3)
	for _, place := range []struct{ ten, five, one byte }{{'C', 'L', 'X'}, {'X', 'V', 'I'}} {
		switch {
		case len(f) > 1 && f[0] == place.one && (f[1] == place.ten || f[1] == place.five):
			f = f[2:]
		case len(f) > 0 && f[0] == place.five:
			f = count(f[1:], place.one, 3)
		default:
			f = count(f, place.one, 3)
		}
	}
	return len(f) == 0
}

// count cuts up to n bytes b off the front.
func count(f []byte, b byte, n int) []byte {
	for ; n > 0 && len(f) > 0 && f[0] == b; n-- {
		f = f[1:]
	}
	return f
}
