package patterns

import (
	"unicode/utf8"

	"github.com/velum-health/velum/models/word/cut"
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
		case cut.IsLetter(byte(b)) || b >= utf8.RuneSelf:
			t[b] = letter
		case cut.IsDigit(byte(b)):
			t[b] = digit
		}
	}
	t['.'], t[':'], t['@'], t['-'] = dot, colon, at, hyphen
	t['('], t['['], t['{'] = bracket, bracket, bracket
	return t
}()

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
		j := s.Digits(i)
		if j == i || j-i > maxDigits {
			break
		}
		g.start[g.n], g.end[g.n] = i, j
		g.n++
		switch b := s.At(j); {
		case b == '.' || b == '-' || b == '/':
			g.sep[g.n-1] = b
			i = j + 1
		case s.Space(j) > 0:
			g.sep[g.n-1] = ' '
			i = s.Spaces(j)
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
	for _, b := range s.Text[i:j] {
		if cut.IsDigit(b) {
			if n < len(dst) {
				dst[n] = b
			}
			n++
		}
	}
	return n
}
