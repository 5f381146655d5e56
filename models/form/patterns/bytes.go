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
