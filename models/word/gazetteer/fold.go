package gazetteer

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxForm is the length in bytes of the longest form that is looked up; the
// longest entry of the lists is shorter.
const maxForm = 64

// foldRoom is the room for the longest folded form: no letter grows by more
// than half.
const foldRoom = maxForm * 3 / 2

// Fold appends form to dst in lower case without accents, diacritics and the
// punctuation that stands inside words (full stop, apostrophe, hyphen, middle
// dot), so that Núria, NURIA and nuria, St. and st, col·legi and collegi are
// one. Folding ñ to n and ç to c is deliberate: notes drop them as they drop
// accents. Bytes that are not UTF-8 are kept.
func Fold(dst, form []byte) []byte {
	for i := 0; i < len(form); {
		c := form[i]
		if c < utf8.RuneSelf {
			if f := asciiFold[c]; f != 0 {
				dst = append(dst, f)
			}
			i++
			continue
		}
		if c == 0xC3 && i+1 < len(form) && form[i+1]&0xC0 == 0x80 { // Latin-1 letters, nearly all there are
			if f := latinFold[form[i+1]&0x3F]; f != 0 {
				dst = append(dst, f)
				i += 2
				continue
			}
		}
		r, n := utf8.DecodeRune(form[i:])
		if r == utf8.RuneError && n == 1 {
			dst = append(dst, c)
			i++
			continue
		}
		dst = foldRune(dst, r)
		i += n
	}
	return dst
}

// foldRune is the slow part of Fold: letters beyond Latin-1.
func foldRune(dst []byte, r rune) []byte {
	switch {
	case r == 'ŀ' || r == 'Ŀ' || r == 'ł' || r == 'Ł':
		return append(dst, 'l')
	case r == '·' || r == '’' || r == '‘' || r == '‐' || r == '–' || unicode.Is(unicode.Mn, r):
		return dst
	case r == 'ª':
		return append(dst, 'a')
	case r == 'º' || r == '°':
		return append(dst, 'o')
	case r == 'ß':
		return append(dst, "ss"...)
	case r == 'æ' || r == 'Æ':
		return append(dst, "ae"...)
	}
	r = unicode.ToLower(r)
	if base, ok := extended[r]; ok {
		return append(dst, base)
	}
	return utf8.AppendRune(dst, r)
}

var (
	asciiFold [utf8.RuneSelf]byte
	latinFold [64]byte // second byte of U+00C0 to U+00FF; 0 asks foldRune
	extended  = map[rune]byte{}
)

func init() {
	for c := range asciiFold {
		asciiFold[c] = byte(c)
		if c >= 'A' && c <= 'Z' {
			asciiFold[c] = byte(c) + 'a' - 'A'
		}
	}
	for _, c := range ".'-`" {
		asciiFold[c] = 0
	}
	for group := range strings.FieldsSeq("aàáâãäå cç dð eèéêë iìíîï nñ oòóôõöø uùúûü yýÿ") {
		for _, r := range group[1:] {
			latinFold[r-0xC0] = group[0]
			if r != 'ÿ' {
				latinFold[r-0xE0] = group[0]
			}
		}
	}
	for group := range strings.FieldsSeq(`aāăąǎ cćĉċč dďđ eēĕėęě gĝğġģ hĥħ iĩīĭįı jĵ kķ
		lĺļľ nńņňŉ oōŏőơ rŕŗř sśŝşšș tţťŧț uũūŭůűųư wŵ yŷỳ zźżž`) {
		for _, r := range group[1:] {
			extended[r] = group[0]
		}
	}
}
