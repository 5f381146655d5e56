package mask

import "encoding/hex"

// newHash returns the operator that writes a keyed hash behind the category,
// [PERSON:7f3a09c2]. Equal words have equal hashes whatever their case, accents
// and signs, so that the notes of a scope can be joined. The default has 8
// digits: of 10,000 people, one pair in a hundred archives shares one.
func newHash(s *settings) func(*Options) Operator {
	scope, digits := s.scope(PatientScope), s.number("digits", 8, 4, 64)
	return func(*Options) Operator { return &keyedHash{scope: scope, digits: digits} }
}

type keyedHash struct {
	scope  Scope
	digits int
	folded []byte
	text   [64]byte
}

// Replace implements Operator.
func (o *keyedHash) Replace(dst []byte, n *Note, v Value) ([]byte, bool) {
	o.folded = appendWords(o.folded[:0], v.Words)
	hex.Encode(o.text[:], n.Sum(o.scope, "hash "+v.Category.String(), o.folded))
	dst = appendPlaceholder(dst, v.Category)
	dst = append(dst[:len(dst)-1], ':')
	dst = append(dst, o.text[:o.digits]...)
	return append(dst, ']'), true
}
