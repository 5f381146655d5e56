package mask

import "unicode/utf8"

// newStars returns the operator that masks characters, blanks, too: the lengths
// of given name and surname tell more than their sum.
func newStars(*settings) func(*Options) Operator {
	return stateless(func(dst []byte, v Value) []byte {
		for range utf8.RuneCount(v.Words) {
			dst = append(dst, '*')
		}
		return dst
	}).new
}
