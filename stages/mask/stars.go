package mask

import "unicode/utf8"

// newStars returns the operator that masks characters, blanks, too: the lengths
// of given name and surname tell more than their sum. As many as fill whole
// groups of size: the length of a name is enough to tell it from most others.
func newStars(s *settings) func(*Options) Operator {
	size := s.number("size", 16, 1, 256)
	return stateless(func(dst []byte, v Value) []byte {
		for range (utf8.RuneCount(v.Words) + size - 1) / size * size {
			dst = append(dst, '*')
		}
		return dst
	}).new
}
