package patterns

import (
	"unicode/utf8"

	"github.com/velum-health/velum/models/word/cut"
)

// Classes of bytes for the first pass over a text. All bytes of multi-byte characters count as letters; whether such a
// character is a letter is checked only at borders.
const (
	plain = iota
	letter
	digit
	dot
	colon
	at
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
	t['.'], t[':'], t['@'] = dot, colon, at
	return t
}()
