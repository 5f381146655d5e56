package mask

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

// newScramble returns the operator that writes the characters of a value in
// another order, JOHN as HONJ (BOOT §2.2.2): signs and blanks keep their
// places, letters change with letters and digits with digits, the case of a
// place stays. A value that no order hides (AAA) goes to the next operator. It
// hides from a glance only: an anagram can be undone, and a short value has few.
func newScramble(s *settings) func(*Options) Operator {
	scope := s.scope(NoteScope)
	return func(*Options) Operator { return &scramble{scope: scope} }
}

// ScrambleName is the name of the operator, of which reports warn.
const ScrambleName = "scramble"

type scramble struct {
	scope  Scope
	runes  []rune
	places []int
}

// Replace implements Operator. Twenty orders are tried: of those of the
// shortest value that has another order, AB, each second one is it.
func (o *scramble) Replace(dst []byte, n *Note, v Value) ([]byte, bool) {
	start := len(dst)
	rng := n.Draw(o.scope, "scramble", v.Words)
	for range 20 {
		dst = dst[:start]
		o.runes = o.runes[:0]
		for rest := v.Words; len(rest) > 0; {
			r, size := utf8.DecodeRune(rest)
			o.runes = append(o.runes, r)
			rest = rest[size:]
		}
		o.mix(unicode.IsLetter, rng.IntN)
		o.mix(unicode.IsDigit, rng.IntN)
		for _, r := range o.runes {
			dst = utf8.AppendRune(dst, r)
		}
		if !bytes.EqualFold(dst[start:], v.Words) {
			return dst, true
		}
	}
	return dst[:start], false
}

// mix changes the places of the characters that are of a kind.
func (o *scramble) mix(is func(rune) bool, below func(int) int) {
	o.places = o.places[:0]
	for i, r := range o.runes {
		if is(r) {
			o.places = append(o.places, i)
		}
	}
	for k := len(o.places) - 1; k > 0; k-- {
		a, b := o.places[k], o.places[below(k+1)]
		x, y := o.runes[a], o.runes[b]
		o.runes[a], o.runes[b] = caseOf(y, x), caseOf(x, y)
	}
}

// caseOf returns r in the case of like.
func caseOf(r, like rune) rune {
	if unicode.IsUpper(like) {
		return unicode.ToUpper(r)
	}
	return unicode.ToLower(r)
}
