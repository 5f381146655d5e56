package patterns

import (
	"unicode"
	"unicode/utf8"
)

// Classes of bytes, for the prefilter. Bytes of characters beyond ASCII count
// as letters there; whether one really is a letter is asked only at borders.
const (
	plain = iota
	letter
	digit
	dot
	colon
	at
	bracket
	hyphen
)

var class = func() (t [256]uint8) {
	for b := range t {
		switch {
		case isASCIILetter(byte(b)) || b >= utf8.RuneSelf:
			t[b] = letter
		case isDigit(byte(b)):
			t[b] = digit
		}
	}
	t['.'], t[':'], t['@'], t['-'] = dot, colon, at, hyphen
	t['('], t['['], t['{'] = bracket, bracket, bracket
	return t
}()

func isDigit(b byte) bool       { return b-'0' < 10 }
func isASCIILetter(b byte) bool { return (b|0x20)-'a' < 26 }
func isUpper(b byte) bool       { return b-'A' < 26 }
func isLower(b byte) bool       { return b-'a' < 26 }
func isAlnum(b byte) bool       { return isDigit(b) || isASCIILetter(b) }

// byteAt returns text[i], or 0 outside the text.
func (s *scan) byteAt(i int) byte {
	if uint(i) < uint(len(s.text)) {
		return s.text[i]
	}
	return 0
}

// letterAt tells whether a letter begins at i.
func (s *scan) letterAt(i int) bool {
	b := s.byteAt(i)
	if b < utf8.RuneSelf {
		return isASCIILetter(b)
	}
	r, _ := utf8.DecodeRune(s.text[i:])
	return unicode.IsLetter(r) && r != 'º' && r != 'ª'
}

// letterBefore tells whether a letter ends at i.
func (s *scan) letterBefore(i int) bool {
	b := s.byteAt(i - 1)
	if b < utf8.RuneSelf {
		return isASCIILetter(b)
	}
	r, _ := utf8.DecodeLastRune(s.text[:i])
	return unicode.IsLetter(r) && r != 'º' && r != 'ª'
}

// wordAt and wordBefore tell whether a letter or digit touches i.
func (s *scan) wordAt(i int) bool     { return isDigit(s.byteAt(i)) || s.letterAt(i) }
func (s *scan) wordBefore(i int) bool { return isDigit(s.byteAt(i-1)) || s.letterBefore(i) }

// digits returns the end of the run of digits that starts at i.
func (s *scan) digits(i int) int {
	for i < len(s.text) && isDigit(s.text[i]) {
		i++
	}
	return i
}

// value returns the number that text[i:j] writes; j-i is at most 18.
func (s *scan) value(i, j int) int {
	v := 0
	for _, b := range s.text[i:j] {
		v = v*10 + int(b-'0')
	}
	return v
}

// space returns the width of the blank at i: 1 for a space or tab, 2 for a
// no-break space, 0 if there is none. A line end is no blank.
func (s *scan) space(i int) int {
	switch s.byteAt(i) {
	case ' ', '\t':
		return 1
	case 0xC2:
		if s.byteAt(i+1) == 0xA0 {
			return 2
		}
	}
	return 0
}

// spaces skips at most two blanks.
func (s *scan) spaces(i int) int {
	i += s.space(i)
	return i + s.space(i)
}

// spaceBefore is space, backwards.
func (s *scan) spaceBefore(i int) int {
	switch s.byteAt(i - 1) {
	case ' ', '\t':
		return 1
	case 0xA0:
		if s.byteAt(i-2) == 0xC2 {
			return 2
		}
	}
	return 0
}

func (s *scan) spacesBefore(i int) int {
	i -= s.spaceBefore(i)
	return i - s.spaceBefore(i)
}

// dash returns the width of the hyphen or dash at i, or 0.
func (s *scan) dash(i int) int {
	switch s.byteAt(i) {
	case '-':
		return 1
	case 0xE2: // U+2010 to U+2015
		if s.byteAt(i+1) == 0x80 && s.byteAt(i+2)-0x90 < 6 {
			return 3
		}
	}
	return 0
}

// groups is a number written in groups of digits with one sign, or two
// blanks, between two of them.
type groups struct {
	n          int
	start, end [maxGroups]int
	sep        [maxGroups]byte // sep[k] stands between groups k and k+1; ' ' for every blank
}

const maxGroups = 7

// group reads the groups that start at i.
func (s *scan) group(i int) (g groups) {
	for g.n < maxGroups {
		j := s.digits(i)
		if j == i || j-i > maxDigits {
			break
		}
		g.start[g.n], g.end[g.n] = i, j
		g.n++
		switch b := s.byteAt(j); {
		case b == '.' || b == '-' || b == '/':
			g.sep[g.n-1] = b
			i = j + 1
		case s.space(j) > 0:
			g.sep[g.n-1] = ' '
			i = s.spaces(j)
		default:
			return g
		}
	}
	return g
}

// lens returns the lengths of the first n groups as decimal digits: 3-2-2-2
// gives 3222. Groups of more than nine digits give 0.
func (g *groups) lens(n int) int {
	v := 0
	for k := range n {
		l := g.end[k] - g.start[k]
		if l > 9 {
			return 0
		}
		v = v*10 + l
	}
	return v
}

// sameSep tells whether the first n groups have one sign between them.
func (g *groups) sameSep(n int) bool {
	for k := 1; k < n-1; k++ {
		if g.sep[k] != g.sep[0] {
			return false
		}
	}
	return true
}

// digitsOf copies the digits of text[i:j], up to len(dst) of them, and returns
// how many there were.
func (s *scan) digitsOf(dst []byte, i, j int) int {
	n := 0
	for _, b := range s.text[i:j] {
		if isDigit(b) {
			if n < len(dst) {
				dst[n] = b
			}
			n++
		}
	}
	return n
}
