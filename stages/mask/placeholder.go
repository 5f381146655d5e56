package mask

import (
	"bytes"
	"fmt"
	"strconv"
	"sync"

	"github.com/velum-health/velum/models/word/gazetteer"
	"github.com/velum-health/velum/pipeline"
)

// PlaceholderName is the name of the placeholder, the last operator of every chain.
const PlaceholderName = "placeholder"

// placeholders holds the bracketed name of every category, including user-defined ones. A span without a category is
// still PHI.
var placeholders = sync.OnceValue(func() [][]byte {
	names := make([][]byte, pipeline.Categories())
	for c := range names {
		names[c] = fmt.Appendf(nil, "[%v]", pipeline.Category(c))
	}
	names[pipeline.None] = []byte("[PHI]")
	return names
})

func appendPlaceholder(dst []byte, c pipeline.Category) []byte {
	return append(dst, placeholderOf(c)...)
}

// placeholderOf returns the placeholder of a category; nobody may change it.
func placeholderOf(c pipeline.Category) []byte {
	all := placeholders()
	if int(c) >= len(all) {
		c = pipeline.None
	}
	return all[c]
}

// stateless makes an operator of a function that needs no state between values.
type stateless func(dst []byte, v Value) []byte

func (f stateless) Replace(dst []byte, _ *Note, v Value) ([]byte, bool) { return f(dst, v), true }

func (f stateless) new(*Options) Operator { return f }

func newPlaceholder(s *settings) func(*Options) Operator {
	switch s.word("form", "typed", "typed", "untyped", "numbered") {
	case 1:
		return stateless(func(dst []byte, _ Value) []byte { return appendPlaceholder(dst, pipeline.None) }).new
	case 2:
		return func(*Options) Operator { return new(numbered) }
	}
	return stateless(func(dst []byte, v Value) []byte { return appendPlaceholder(dst, v.Category) }).new
}

// numbered writes [PERSON_1]. Two values of a category are one when their words
// are the same, or all words of one stand in the other: García is Ana García,
// as in "Visto por la Dra. García".
type numbered struct {
	words  []byte  // folded, a blank behind each
	values []named // of this note
}

type named struct {
	start, end int32 // in words
	category   pipeline.Category
	number     int32
}

func (o *numbered) begin(*Note) { o.words, o.values = o.words[:0], o.values[:0] }

// Replace implements Operator.
func (o *numbered) Replace(dst []byte, _ *Note, v Value) ([]byte, bool) {
	start := len(o.words)
	o.words = appendWords(o.words, v.Words)
	n := o.number(o.words[start:], v.Category)
	o.values = append(o.values, named{int32(start), int32(len(o.words)), v.Category, n})
	dst = appendPlaceholder(dst, v.Category)
	dst = append(dst[:len(dst)-1], '_')
	dst = strconv.AppendInt(dst, int64(n), 10)
	return append(dst, ']'), true
}

func (o *numbered) number(words []byte, c pipeline.Category) int32 {
	last := int32(0)
	for _, have := range o.values {
		if have.category != c {
			continue
		}
		if other := o.words[have.start:have.end]; within(words, other) || within(other, words) {
			return have.number
		}
		last = max(last, have.number)
	}
	return last + 1
}

// appendWords appends the words of a value folded, a blank behind each. Digits
// that signs keep apart are one word: 93 400 00 00 is 93-400.00.00.
func appendWords(dst, text []byte) []byte {
	digits := false
	for word := range bytes.FieldsFuncSeq(text, func(r rune) bool { return r == ' ' || r == ',' || r == '/' || r == '-' || r == '\n' || r == '\t' }) {
		before := len(dst)
		numeric := word[0] >= '0' && word[0] <= '9'
		if numeric && digits {
			dst = dst[:before-1]
		}
		dst = gazetteer.Fold(dst, word)
		if len(dst) > before || numeric {
			dst = append(dst, ' ')
			digits = numeric
		}
	}
	return dst
}

// within tells whether every word of a stands in b.
func within(a, b []byte) bool {
	if len(a) == 0 {
		return len(b) == 0
	}
	for len(a) > 0 {
		end := bytes.IndexByte(a, ' ') + 1
		if !hasWord(b, a[:end]) {
			return false
		}
		a = a[end:]
	}
	return true
}

// hasWord tells whether a word with its blank stands in words.
func hasWord(words, word []byte) bool {
	for len(words) > 0 {
		end := bytes.IndexByte(words, ' ') + 1
		if bytes.Equal(words[:end], word) {
			return true
		}
		words = words[end:]
	}
	return false
}
