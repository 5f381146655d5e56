package mask

import "unicode/utf8"

// newStars returns the operator that masks characters, blanks, too: the lengths
// of given name and surname tell more than their sum. As many as fill whole
// groups of size: the length of a name is enough to tell it from most others.
// The first characters may stay, J*** (BOOT §2.2.2), of a value that has more.
func newStars(s *settings) func(*Options) Operator {
	size, first := s.number("size", 16, 1, 256), s.number("first", 0, 0, 4)
	return stateless(func(dst []byte, v Value) []byte {
		runes, kept := utf8.RuneCount(v.Words), 0
		for ; kept < first && kept+1 < runes; kept++ {
			r, n := utf8.DecodeRune(v.Words)
			dst, v.Words = utf8.AppendRune(dst, r), v.Words[n:]
		}
		for range (runes+size-1)/size*size - kept {
			dst = append(dst, '*')
		}
		return dst
	}).new
}
