package embed

import (
	"unicode/utf8"

	"github.com/zeebo/xxh3"
)

// subwords are the n-grams of every word of a vocabulary, as rows after those
// of the words.
type subwords struct {
	buckets int
	lengths [2]int
	first   []int32 // of the word's rows in rows
	rows    []int32
}

func newSubwords(v *Vocabulary, o Options) (s subwords) {
	if o.Subwords[1] == 0 {
		return s
	}
	s = subwords{buckets: o.Buckets, lengths: o.Subwords, first: make([]int32, 1, len(v.Words)+1)}
	for i, w := range v.Words {
		s.rows = append(s.rows, int32(i))
		for _, b := range ngrams(nil, []byte(w.Form), o.Subwords, o.Buckets) {
			s.rows = append(s.rows, int32(len(v.Words))+b)
		}
		s.first = append(s.first, int32(len(s.rows)))
	}
	return s
}

// inputs appends the rows whose mean is the input of word i.
func (s *subwords) inputs(dst []int32, i int32) []int32 {
	if s.buckets == 0 {
		return append(dst, i)
	}
	return append(dst, s.rows[s.first[i]:s.first[i+1]]...)
}

// ngrams appends the buckets of the n-grams of characters of <form>, as in
// fastText: with marks of its beginning and end, without the marks alone.
func ngrams(dst []int32, form []byte, lengths [2]int, buckets int) []int32 {
	marked := append(append(append(make([]byte, 0, len(form)+2), '<'), form...), '>')
	for from := 0; from < len(marked); {
		_, size := utf8.DecodeRune(marked[from:])
		to := from
		for n := 1; n <= lengths[1] && to < len(marked); n++ {
			_, next := utf8.DecodeRune(marked[to:])
			to += next
			if n >= lengths[0] && (n > 1 || (from > 0 && to < len(marked))) {
				dst = append(dst, int32(xxh3.Hash(marked[from:to])%uint64(buckets)))
			}
		}
		from += size
	}
	return dst
}
