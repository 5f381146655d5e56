package view

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"strings"
	"unicode/utf8"

	"github.com/velum-health/velum/models/word/cut"
)

// Pieces of a note that a mail program or an export has encoded: base64 (RFC
// 4648), words of a mail's head (RFC 2047), quoted-printable (RFC 2045) and
// percent signs (RFC 3986). In the view they stand as what they say. A piece in
// base64 is one unit: what is found in it masks all of it.

// Limits on base64 text that is decoded: the least number of letters and digits, nine bytes, and the largest.
const (
	leastPacked = 12
	mostPacked  = 1 << 14
)

// packedByte tells whether b may stand in base64.
func packedByte(b byte) bool { return cut.IsAlnum(b) || b == '+' || b == '/' }

// packed returns what the encoded piece that begins at i says, and how many bytes
// it has; 0 if none does.
func packed(text []byte, i int) (says string, n int) {
	if text[i] == '=' {
		return mailWord(text[i:])
	}
	if i > 0 && packedByte(text[i-1]) || !mayPack(text, i) {
		return "", 0
	}
	end := i
	mixed := uint8(0)
	for end < len(text) && end-i < mostPacked && packedByte(text[end]) {
		switch b := text[end]; {
		case b <= '9':
			mixed |= 1
		case b <= 'Z':
			mixed |= 2
		default:
			mixed |= 4
		}
		end++
	}
	if mixed == 1 || mixed&6 == 4 || mixed == 2 || end-i < leastPacked {
		return "", 0
	}
	body := text[i:end]
	for end < len(text) && text[end] == '=' && end-i-len(body) < 2 {
		end++
	}
	if says = unpack(body); says == "" {
		return "", 0
	}
	return says, end - i
}

// mayPack tells whether a run of base64 that is long enough begins at i.
func mayPack(text []byte, i int) bool {
	if i+leastPacked > len(text) {
		return false
	}
	for _, b := range text[i : i+leastPacked] {
		if !packedByte(b) {
			return false
		}
	}
	return true
}

// unpack returns the text that base64 without its padding says; "" if it says
// none: a word that looks like it gives bytes that no note has.
func unpack(body []byte) string {
	plain := make([]byte, base64.RawStdEncoding.DecodedLen(len(body)))
	n, err := base64.RawStdEncoding.Decode(plain, body)
	if err != nil || !utf8.Valid(plain[:n]) {
		return ""
	}
	for _, r := range string(plain[:n]) {
		if r < ' ' && r != '\n' && r != '\t' && r != '\r' || r >= 0x7F && r < 0xA0 || r > 0x17F && !(r >= 0x2010 && r < 0x2040) {
			return ""
		}
		if n < 2*leastPacked && r < utf8.RuneSelf && !valueSign(r) && r != '@' && r != ':' && r != '_' && r != ',' && r != '+' {
			return "" // of a short one in 100,000 gives letters, digits and signs of values by chance
		}
	}
	return string(plain[:n])
}

// mailWord reads =?UTF-8?B?...?= and =?ISO-8859-1?Q?...?=
func mailWord(text []byte) (says string, n int) {
	const most = 1024
	if len(text) < 8 || text[1] != '?' {
		return "", 0
	}
	parts := bytes.SplitN(text[2:min(len(text), most)], []byte{'?'}, 4)
	if len(parts) < 4 || len(parts[1]) != 1 || len(parts[3]) == 0 || parts[3][0] != '=' {
		return "", 0
	}
	n = 2 + len(parts[0]) + 1 + len(parts[1]) + 1 + len(parts[2]) + 2
	for _, b := range text[:n] {
		if b >= utf8.RuneSelf || b < ' ' {
			return "", 0 // the word is ASCII, and hides nothing that is none
		}
	}
	switch parts[1][0] | 0x20 {
	case 'b':
		plain, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(string(parts[2]), "="))
		if err != nil {
			return "", 0
		}
		return fromLatin(plain), n
	case 'q':
		var plain []byte
		for body := parts[2]; len(body) > 0; body = body[1:] {
			if b, ok := hexByte(body, '='); ok {
				plain = append(plain, b)
				body = body[2:]
				continue
			}
			if b := body[0]; b == '_' {
				plain = append(plain, ' ')
			} else {
				plain = append(plain, b)
			}
		}
		return fromLatin(plain), n
	}
	return "", 0
}

// fromLatin returns text as UTF-8; what is none is taken for Latin-1.
func fromLatin(text []byte) string {
	if utf8.Valid(text) {
		return string(text)
	}
	var b strings.Builder
	for _, c := range text {
		b.WriteRune(rune(c))
	}
	return b.String()
}

// hexByte reads sign and two hexadecimal digits at the start of text.
func hexByte(text []byte, sign byte) (b byte, ok bool) {
	if len(text) < 3 || text[0] != sign {
		return 0, false
	}
	var plain [1]byte
	_, err := hex.Decode(plain[:], text[1:3])
	return plain[0], err == nil
}

// hexed reads the character at text[i] that is written as =C3=B1 or %C3%B1. One
// such byte alone is a number behind a sign (PCR=12, 98%20); two in a row or
// two blanks in one word are none.
func hexed(text []byte, i int, sign byte) mark {
	b, ok := hexByte(text[i:], sign)
	if !ok || b < ' ' && b != '\n' && b != '\r' && b != '\t' || b == 0x7F {
		return mark{}
	}
	_, behind := hexByte(text[min(i+3, len(text)):], sign)
	_, before := hexByte(text[max(i-3, 0):], sign)
	if !behind && !(before && i >= 3) && !again(text, i) {
		return mark{}
	}
	if b < utf8.RuneSelf {
		return mark{n: 3, as: rune(b)}
	}
	var char [utf8.UTFMax]byte
	n := 0
	for n < len(char) {
		c, ok := hexByte(text[min(i+3*n, len(text)):], sign)
		if !ok {
			break
		}
		char[n] = c
		n++
		if utf8.FullRune(char[:n]) {
			break
		}
	}
	r, size := utf8.DecodeRune(char[:n])
	if r == utf8.RuneError || size != n || r < 0xA0 {
		return mark{}
	}
	return mark{n: 3 * n, as: r}
}

// again tells whether the three bytes at i, which stand inside a word, stand
// there once more within nine bytes: 612%20345%20678.
func again(text cut.Text, i int) bool {
	if !wordBefore(text, i) || !text.Alnum(i+3) {
		return false
	}
	code := text[i : i+3]
	return bytes.Contains(text[i+3:min(i+12, len(text))], code) || bytes.Contains(text[max(i-9, 0):i], code)
}

// broken reads the sign at text[i] where a line ends inside a word or number:
// a hyphen, or the = of quoted-printable.
func broken(text cut.Text, i int) mark {
	end := i + 1
	if text.At(end) == '\r' {
		end++
	}
	if end+1 >= len(text) || text[end] != '\n' || !wordBefore(text, i) {
		return mark{}
	}
	next := text[end+1]
	if cut.IsDigit(next) || cut.IsLower(next) || next >= utf8.RuneSelf || text[i] == '=' && cut.IsUpper(next) || cut.IsUpper(next) && text.Digit(i-1) && !cut.InWord(text.At(end+2)) {
		return mark{n: end + 1 - i}
	}
	return mark{}
}

// Overridden reports whether text contains a character that reverses the displayed order (U+202D, U+202E), also as an
// entity or escape, so that a person reads something else than what is stored.
func Overridden(text []byte) bool {
	if bytes.Contains(text, []byte("\u202d")) || bytes.Contains(text, []byte("\u202e")) {
		return true
	}
	f := formatOf(text)
	for i, b := range text {
		if heads[b]&1 != 0 {
			if m := markAt(text, i, f); m.as == 0x202D || m.as == 0x202E {
				return true
			}
		}
	}
	return false
}

// scriptDigit returns the digit that r is as a superscript or subscript, -1 if
// it is none.
func scriptDigit(r rune) rune {
	switch {
	case r >= 0x2070 && r < 0x207A && r != 0x2071, r >= 0x2080 && r < 0x208A:
		return r & 0xF
	case r == 0xB9:
		return 1
	case r == 0xB2 || r == 0xB3:
		return r & 0xF
	}
	return -1
}

// scripted tells whether the character of n bytes at i of text is one of three
// or more such digits in one value: 10⁹ is a power.
func scripted(text []byte, i, n int) bool {
	count := 1
	for at := i + n; at < len(text) && at < i+40 && count < 3; {
		r, size := utf8.DecodeRune(text[at:])
		if scriptDigit(r) >= 0 {
			count++
		} else if !valueSign(r) {
			break
		}
		at += size
	}
	for at := i; at > 0 && at > i-40 && count < 3; {
		r, size := utf8.DecodeLastRune(text[:at])
		if scriptDigit(r) >= 0 {
			count++
		} else if !valueSign(r) {
			break
		}
		at -= size
	}
	return count >= 3
}

// valueSign tells whether r stands between the digits of a value.
func valueSign(r rune) bool {
	return r < utf8.RuneSelf && (cut.IsAlnum(byte(r)) || r == '-' || r == '.' || r == '/' || r == ' ')
}

// picture tells whether r is an emoji or another picture.
func picture(r rune) bool {
	return r >= 0x1F000 && r < 0x1FB00 || r >= 0x2600 && r < 0x27C0 || r >= 0x2B00 && r < 0x2C00
}
