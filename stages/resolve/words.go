package resolve

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/velum-health/velum/pipeline"
)

// word is a run of letters or of digits inside one token.
type word struct {
	start, end int32
	hash       uint64 // of the folded bytes
	pow        uint64 // base to the power of the number of folded bytes, to join hashes
	length     int32  // folded bytes
	class      class
	shape      shape
}

// shape says how a word is written.
type shape uint8

const (
	digits    shape = 1 << iota // digits, not letters
	capital                     // the first letter is upper case
	lower                       // some letter is lower case
	lineStart                   // first word of a line
)

func (w *word) is(s shape) bool { return w.shape&s != 0 }

// base of the polynomial hash h(c₁...cₙ) = Σ cᵢ·baseⁿ⁻ⁱ mod 2⁶⁴. It is odd and
// far from a power of two, so that short words do not collide; a collision
// would hide a word too many.
const base = 0x9E3779B97F4A7C15

// join returns the hash of a value and the word behind it.
func join(h uint64, w *word) uint64 { return h*w.pow + w.hash }

// byteKind sorts the ASCII bytes; foldedByte lower-cases them.
var (
	byteKind   [utf8.RuneSelf]uint8
	foldedByte [utf8.RuneSelf]byte
	foldedRune [0x250][]byte // Latin letters above ASCII, without accents
)

const (
	separator uint8 = iota
	letter
	digit
	mark // belongs to the word before it and leaves no trace in the hash
)

func init() {
	for c := range foldedByte {
		foldedByte[c] = byte(unicode.ToLower(rune(c)))
		switch {
		case unicode.IsLetter(rune(c)):
			byteKind[c] = letter
		case unicode.IsDigit(rune(c)):
			byteKind[c] = digit
		}
	}
	for r := rune(utf8.RuneSelf); r < rune(len(foldedRune)); r++ {
		for _, d := range norm.NFKD.String(string(unicode.ToLower(r))) {
			if unicode.IsLetter(d) || unicode.IsDigit(d) {
				foldedRune[r] = utf8.AppendRune(foldedRune[r], unicode.ToLower(d))
			}
		}
	}
}

func kindOf(r rune) uint8 {
	switch {
	case r < utf8.RuneSelf:
		return byteKind[r]
	case unicode.IsLetter(r):
		return letter
	case unicode.IsDigit(r):
		return digit
	case unicode.Is(unicode.Mn, r):
		return mark
	}
	return separator
}

// appendWords appends the words of the tokens to dst.
func (t *wordTable) appendWords(dst []word, text []byte, tokens []pipeline.Token) []word {
	newLine := true // the first token of a line need not hold a word
	for _, tok := range tokens {
		first := len(dst)
		dst = t.split(dst, text, tok.Start, tok.End)
		newLine = newLine || tok.Flags&pipeline.LineStart != 0
		if len(dst) > first && newLine {
			dst[first].shape |= lineStart
			newLine = false
		}
	}
	return dst
}

// split appends the words of text[start:end].
func (t *wordTable) split(dst []word, text []byte, start, end int32) []word {
	open := separator
	var w word
	for i := start; i < end; {
		r, size := rune(text[i]), int32(1)
		if r >= utf8.RuneSelf {
			wide, n := utf8.DecodeRune(text[i:end])
			r, size = wide, int32(n)
		}
		kind := kindOf(r)
		if kind == mark {
			if open != separator {
				w.end = i + size
			}
			i += size
			continue
		}
		if kind != open {
			if open != separator {
				dst = append(dst, t.classify(w))
			}
			open = kind
			w = word{start: i, pow: 1}
			if kind == digit {
				w.shape = digits
			} else if unicode.IsUpper(r) {
				w.shape = capital
			}
		}
		if kind != separator {
			w.add(r)
			w.end = i + size
		}
		i += size
	}
	if open != separator {
		dst = append(dst, t.classify(w))
	}
	return dst
}

// add folds one letter or digit into the hash.
func (w *word) add(r rune) {
	if r < utf8.RuneSelf {
		if 'a' <= r && r <= 'z' {
			w.shape |= lower
		}
		w.addByte(foldedByte[r])
		return
	}
	if unicode.IsLower(r) {
		w.shape |= lower
	}
	if int(r) < len(foldedRune) {
		for _, c := range foldedRune[r] {
			w.addByte(c)
		}
		return
	}
	for r = unicode.ToLower(r); r > 0; r >>= 8 {
		w.addByte(byte(r))
	}
}

func (w *word) addByte(c byte) {
	w.hash = w.hash*base + uint64(c)
	w.pow *= base
	w.length++
}

// wordTable gives a word its trigger classes. It is read-only after it was
// made and shared by the workers.
type wordTable struct{ classes table }

// newWordTable reads the trigger words.
func newWordTable(lists []triggerList) *wordTable {
	t := &wordTable{}
	have := map[uint64]class{}
	var order []uint64
	for _, l := range lists {
		for _, w := range t.split(nil, []byte(l.words), 0, int32(len(l.words))) {
			if have[w.hash] == 0 {
				order = append(order, w.hash)
			}
			have[w.hash] |= l.class
		}
	}
	for _, h := range order {
		t.classes.put(h, int32(have[h]))
	}
	return t
}

// classify fills in the classes of a finished word.
func (t *wordTable) classify(w word) word {
	c, _ := t.classes.get(w.hash)
	w.class = class(c)
	return w
}
