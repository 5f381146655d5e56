package resolve

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	networks "github.com/velum-health/velum/models/tag/rules"
	"github.com/velum-health/velum/models/word/cut"
	"github.com/velum-health/velum/models/word/gazetteer"
	"github.com/velum-health/velum/pipeline"
)

// word is a run of letters or of digits inside one token.
type word struct {
	start, end int32
	hash       uint64 // of the folded bytes; see fold
	length     int32  // folded bytes; 0 until fold was called
	class      class
	shape      shape
}

// shape says how a word is written.
type shape uint8

const (
	digits    shape = 1 << iota // digits, not letters
	capital                     // the first letter is upper case
	lineStart                   // first word of a line
)

func (w *word) is(s shape) bool { return w.shape&s != 0 }

func (w *word) isLetter(text []byte) bool { return utf8.RuneCount(text[w.start:w.end]) == 1 }

// base of the polynomial hash h(c₁...cₙ) = Σ cᵢ·baseⁿ⁻ⁱ mod 2⁶⁴. It is odd and
// far from a power of two, so that short words do not collide; a collision
// would hide a word too many.
const base = 0x9E3779B97F4A7C15

// powers of base, to join the hashes of words.
var powers [longestPhrase + 1]uint64

// join returns the hash of a phrase and the word behind it. If the word is longer than every phrase, the result matches
// no phrase.
func join(h uint64, w *word) uint64 { return h*powers[min(w.length, longestPhrase)] + w.hash }

func init() {
	powers[0] = 1
	for i := 1; i < len(powers); i++ {
		powers[i] = powers[i-1] * base
	}
}

// fold fills in the hash and length of a word, unless they are.
func (w *word) fold(text []byte) {
	if w.length > 0 {
		return
	}
	var room [longestPhrase]byte
	for _, c := range gazetteer.Fold(room[:0], text[w.start:w.end]) {
		w.hash = w.hash*base + uint64(c)
		w.length++
	}
}

const (
	separator uint8 = iota
	letter
	digit
	mark // belongs to the word before it and leaves no trace in the hash
)

func kindOf(r rune) uint8 {
	switch {
	case unicode.IsLetter(r):
		return letter
	case unicode.IsDigit(r):
		return digit
	case unicode.Is(unicode.Mn, r):
		return mark
	}
	return separator
}

// wordTable gives a word its trigger classes. It is read-only after it was
// made and shared by the workers.
type wordTable struct{ cut.Lexicon[class] }

// maxTriggers is how many trigger words there are at most; the table has room for twice as many.
const maxTriggers = 2048

// newWordTable reads the trigger words.
func newWordTable(words networks.Words) (*wordTable, error) {
	t, n := new(wordTable), 0
	for i, name := range classNames {
		list := strings.Join(words[name], " ")
		for _, w := range t.phrase(list) {
			if n++; n > maxTriggers {
				return nil, fmt.Errorf("words: more than %d", maxTriggers)
			}
			*t.Add(list[w.start:w.end]) |= 1 << i
		}
	}
	return t, nil
}

// classOf returns what the word text[start:end] triggers; plain: it is ASCII.
func (t *wordTable) classOf(text []byte, start, end int32, plain bool) class {
	if c := t.Word(text, int(start), int(end), plain); c != nil {
		return *c
	}
	return 0
}

// appendWords appends the words of the tokens to dst and returns all classes
// that occur.
func (t *wordTable) appendWords(dst []word, text []byte, tokens []pipeline.Token) ([]word, class) {
	newLine := true // the first token of a line need not hold a word
	seen := class(0)
	for _, tok := range tokens {
		first := len(dst)
		newLine = newLine || tok.Flags&pipeline.LineStart != 0
		switch {
		case tok.Flags&pipeline.Letters != 0:
			w := word{start: tok.Start, end: tok.End, class: t.classOf(text, tok.Start, tok.End, true)}
			if text[tok.Start] <= 'Z' {
				w.shape = capital
			}
			dst = append(dst, w)
		case tok.Flags&pipeline.Figures != 0:
			dst = append(dst, word{start: tok.Start, end: tok.End, shape: digits})
		default:
			dst = t.split(dst, text, tok.Start, tok.End)
		}
		if len(dst) > first && newLine {
			dst[first].shape |= lineStart
			newLine = false
		}
		for i := first; i < len(dst); i++ {
			seen |= dst[i].class
		}
	}
	return dst, seen
}

// split appends the words of text[i:end]: the characters of one kind and the marks on them.
func (t *wordTable) split(dst []word, text []byte, i, end int32) []word {
	for i < end {
		r, size := utf8.DecodeRune(text[i:end])
		kind, plain, w := kindOf(r), true, word{start: i}
		if unicode.IsUpper(r) {
			w.shape = capital
		}
		for k := kind; k == kind || k == mark; k = kindOf(r) {
			plain = plain && r < utf8.RuneSelf
			if i += int32(size); i == end {
				break
			}
			r, size = utf8.DecodeRune(text[i:end])
		}
		switch w.end = i; kind {
		case letter:
			w.class = t.classOf(text, w.start, i, plain)
		case digit:
			w.shape = digits
		default:
			continue
		}
		dst = append(dst, w)
	}
	return dst
}

// phrase returns the words of a phrase of the configuration, with hashes.
func (t *wordTable) phrase(s string) []word {
	words := t.split(nil, []byte(s), 0, int32(len(s)))
	for i := range words {
		words[i].fold([]byte(s))
	}
	return words
}
