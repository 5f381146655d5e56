package verify

import (
	"unicode"
	"unicode/utf8"
)

// Classes of bytes. Bytes that begin a non-ASCII character are classified by block: letters from U+00C0 on, signs in
// U+0080-U+00BF and U+2000-U+2FFF.
const (
	sign = iota
	lower
	upper
	other // a letter beyond ASCII, or a byte inside one
	numeric
)

var kinds = func() (t [256]uint8) {
	for b := range t {
		switch {
		case b >= 'a' && b <= 'z':
			t[b] = lower
		case b >= 'A' && b <= 'Z':
			t[b] = upper
		case b >= '0' && b <= '9':
			t[b] = numeric
		case b >= 0xC3 && b != 0xE2:
			t[b] = other
		}
	}
	return t
}()

func isLetter(b byte) bool { return kinds[b]-lower <= other-lower }

// The base letters of U+00C0 to U+00FF and of U+0100 to U+017F; a space is no
// letter.
const (
	latin1    = "aaaaaaaceeeeiiiidnooooo ouuuuytsaaaaaaaceeeeiiiidnooooo ouuuuyty"
	latinMore = "aaaaaaccccccccddddeeeeeeeeeegggggggghhhhiiiiiiiiiiiijjkkkllllllllllnnnnnnnnnoooooooo" +
		"rrrrrrssssssssttttttuuuuuuuuuuuuwwyyyzzzzzzs"
)

// Codes of folded signs that are neither letters nor digits.
const (
	gap    = ' ' // between two words
	nought = 0   // inside a word, as if it were not there
)

// fold reads the character at i and returns its folded form: a small base
// letter, a digit, gap, or nought for combining accents, soft hyphens and
// characters without width. Letters of other scripts fold to a number of their
// own above 0x7F.
func fold(text []byte, i int) (c rune, width int) {
	b := text[i]
	switch kinds[b] {
	case lower, numeric:
		return rune(b), 1
	case upper:
		return rune(b | 0x20), 1
	}
	r, width := utf8.DecodeRune(text[i:])
	switch {
	case r >= 0xC0 && r < 0x100:
		return rune(latin1[r-0xC0]), width
	case r >= 0x100 && r < 0x180:
		return rune(latinMore[r-0x100]), width
	case r >= 0x300 && r < 0x370, r == 0xAD, r >= 0x200B && r <= 0x200F, r == 0xFEFF, r == 0xB7:
		return nought, width
	case r == utf8.RuneError, !unicode.IsLetter(r) && !unicode.IsDigit(r), r == 'º', r == 'ª':
		return gap, width
	}
	return unicode.ToLower(r), width
}

// foldWords appends text to dst folded: words with one gap between them.
func foldWords(dst []byte, text []byte) []byte {
	first := len(dst)
	pending := false
	for i := 0; i < len(text); {
		if c := ascii[text[i]]; c != 0xFF && c != gap {
			if pending {
				dst = append(dst, gap)
				pending = false
			}
			dst = append(dst, c)
			i++
			continue
		}
		c, width := fold(text, i)
		i += width
		switch c {
		case nought:
		case gap:
			pending = len(dst) > first
		default:
			if pending {
				dst = append(dst, gap)
				pending = false
			}
			dst = utf8.AppendRune(dst, c)
		}
	}
	return dst
}

// key mixes the first two folded characters of a word.
func key(a, b rune) uint8 { return uint8(a*31 + b) }

// ascii is fold for ASCII, 0xFF for the rest.
var ascii = func() (t [256]uint8) {
	for b := range t {
		t[b] = 0xFF
		if b < utf8.RuneSelf {
			c, _ := fold([]byte{byte(b)}, 0)
			t[b] = uint8(c)
		}
	}
	return t
}()

// keyAt returns the key of the word that begins at i.
func keyAt(text []byte, i int) uint8 {
	if i+1 < len(text) {
		if a, b := ascii[text[i]], ascii[text[i+1]]; a != 0xFF && b != 0xFF {
			return a*31 + b
		}
	}
	return slowKey(text, i)
}

func slowKey(text []byte, i int) uint8 {
	a, width := fold(text, i)
	for i += width; i < len(text); i += width {
		var b rune
		if b, width = fold(text, i); b != nought {
			return key(a, b)
		}
	}
	return key(a, gap)
}

// same tells whether the folded words of want stand in text at i, and where
// they end. Between two words any few signs may stand, or none.
func same(text []byte, i int, want []byte) (end int, ok bool) {
	for len(want) > 0 {
		w, size := utf8.DecodeRune(want)
		if w == gap {
			want = want[1:]
			i = skipSigns(text, i)
			continue
		}
		if i >= len(text) {
			return 0, false
		}
		c, width := fold(text, i)
		i += width
		if c == nought {
			continue
		}
		if c != w {
			return 0, false
		}
		want = want[size:]
	}
	return i, true
}

// maxSigns is how many signs may stand between two words of a value.
const maxSigns = 4

func skipSigns(text []byte, i int) int {
	for n := 0; n < maxSigns && i < len(text); n++ {
		c, width := fold(text, i)
		if c != gap && c != nought {
			break
		}
		i += width
	}
	return i
}

// ends tells whether a word may end at i, behind a letter or digit: a sign
// follows, a digit behind a letter or the other way round, or a capital behind
// a small letter.
func ends(text []byte, i int) bool {
	last := text[i-1]
	for i < len(text) {
		b := text[i]
		if b < utf8.RuneSelf {
			return kinds[b] == sign || (kinds[b] == numeric) != (kinds[last] == numeric) ||
				kinds[b] == upper && (kinds[last] == lower || last >= utf8.RuneSelf)
		}
		c, width := fold(text, i)
		if c != nought {
			return c == gap || kinds[last] == numeric
		}
		i += width
	}
	return true
}
