package resolve

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	networks "github.com/velum-health/velum/models/tag/rules"
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
	lower                       // some letter is lower case
	lineStart                   // first word of a line
)

func (w *word) is(s shape) bool { return w.shape&s != 0 }

func (w *word) isLetter(text []byte) bool { return utf8.RuneCount(text[w.start:w.end]) == 1 }

// base of the polynomial hash h(c₁...cₙ) = Σ cᵢ·baseⁿ⁻ⁱ mod 2⁶⁴. It is odd and
// far from a power of two, so that short words do not collide; a collision
// would hide a word too many.
const base = 0x9E3779B97F4A7C15

// The first powers of base, the base of the rolling hash, modulo 2⁶⁴.
const (
	base2 = base * base & (1<<64 - 1)
	base3 = base2 * base & (1<<64 - 1)
	base4 = base3 * base & (1<<64 - 1)
)

// powers of base, to join the hashes of words.
var powers [longestPhrase + 1]uint64

// join returns the hash of a phrase and the word behind it. If the word is longer than every phrase, the result matches
// no phrase.
func join(h uint64, w *word) uint64 { return h*powers[min(w.length, longestPhrase)] + w.hash }

// byteKind classifies ASCII bytes; foldedByte maps them to lower case.
var (
	byteKind   [utf8.RuneSelf]uint8
	foldedByte [utf8.RuneSelf]byte
	lowerBit   [utf8.RuneSelf]shape // lower for a to z
	foldedRune [0x250][]byte        // Latin letters above ASCII, without accents
)

const (
	separator uint8 = iota
	letter
	digit
	mark // belongs to the word before it and leaves no trace in the hash
)

func init() {
	powers[0] = 1
	for i := 1; i < len(powers); i++ {
		powers[i] = powers[i-1] * base
	}
	for c := 'a'; c <= 'z'; c++ {
		lowerBit[c] = lower
	}
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

// classify fills in what triggers the word, which is ASCII, is.
func (t *wordTable) classify(w *word, text []byte) {
	if f := ends(text[w.start:w.end]); t.filter[f/64]&(1<<(f%64)) != 0 {
		t.trigger(w, text)
	}
}

// trigger sets the trigger class of any word; classify does so for ASCII words alone, and faster.
func (t *wordTable) trigger(w *word, text []byte) {
	w.fold(text)
	w.class = t.classes[w.hash]
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
			dst = append(dst, word{})
			w := &dst[first]
			if w.start, w.end = tok.Start, tok.End; text[tok.Start] <= 'Z' {
				w.shape = capital
			}
			if text[tok.End-1] >= 'a' {
				w.shape |= lower
			}
			t.classify(w, text)
		case tok.Flags&pipeline.Figures != 0:
			dst = append(dst, word{})
			w := &dst[first]
			w.start, w.end, w.shape = tok.Start, tok.End, digits
		case tok.End-tok.Start == 1 && sign(text[tok.Start]):
			continue
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

// sign tells whether a byte is a sign of ASCII, and so no word.
func sign(c byte) bool { return c < utf8.RuneSelf && byteKind[c] == separator }

// split appends the words of text[start:end].
func (t *wordTable) split(dst []word, text []byte, start, end int32) []word {
	text = text[:end]
	for i := int(start); i < len(text); {
		c := text[i]
		kind := letter
		if c < utf8.RuneSelf {
			kind = byteKind[c]
		} else if r, size := utf8.DecodeRune(text[i:]); true {
			if kind = kindOf(r); kind != letter && kind != digit {
				i += size
				continue
			}
		}
		if kind == separator {
			i++
			continue
		}
		dst = append(dst, word{})
		w := &dst[len(dst)-1]
		w.start = int32(i) // in append's literal it would stall: written in parts, read whole
		wide := w.extent(text, kind)
		switch {
		case kind == letter && wide:
			t.trigger(w, text)
		case kind == letter:
			t.classify(w, text)
		}
		i = int(w.end)
	}
	return dst
}

// extent finds the end and the shape of the word that starts at w.start: the
// characters of one kind and the marks on them. It tells whether one of them
// is outside ASCII.
func (w *word) extent(text []byte, kind uint8) (wide bool) {
	i := int(w.start)
	s := shape(0)
	if kind == digit {
		s = digits
	} else if startsUpper(text[i:]) {
		s = capital
	}
	for i < len(text) {
		c := text[i]
		if c < utf8.RuneSelf {
			if byteKind[c] != kind {
				break
			}
			s |= lowerBit[c]
			i++
			continue
		}
		r, size := utf8.DecodeRune(text[i:])
		if k := kindOf(r); k != kind && k != mark {
			break
		}
		if unicode.IsLower(r) {
			s |= lower
		}
		wide = true
		i += size
	}
	w.end, w.shape = int32(i), s
	return wide
}

func startsUpper(text []byte) bool {
	if text[0] < utf8.RuneSelf {
		return 'A' <= text[0] && text[0] <= 'Z'
	}
	r, _ := utf8.DecodeRune(text)
	return unicode.IsUpper(r)
}

// ends packs the first two letters, the last letter and the length of a word into 18 bits, as a quick filter.
func ends(s []byte) uint32 {
	return uint32(s[0]&31) | uint32(s[min(1, len(s)-1)]&31)<<5 | uint32(s[len(s)-1]&31)<<10 | uint32(len(s)&7)<<15
}

// fold fills in the hash and length of a word, unless they are.
func (w *word) fold(text []byte) {
	if w.length > 0 {
		return
	}
	h, n := uint64(0), int32(0)
	for i := w.start; i < w.end; {
		if rest := text[i:w.end]; len(rest) >= 4 && (rest[0]|rest[1]|rest[2]|rest[3]) < utf8.RuneSelf { // four at once: a product waits for the one before it
			h = h*base4 + uint64(foldedByte[rest[0]])*base3 + uint64(foldedByte[rest[1]])*base2 + uint64(foldedByte[rest[2]])*base + uint64(foldedByte[rest[3]])
			n += 4
			i += 4
			continue
		}
		if c := text[i]; c < utf8.RuneSelf {
			h, n = h*base+uint64(foldedByte[c]), n+1
			i++
			continue
		}
		r, size := utf8.DecodeRune(text[i:w.end])
		if kindOf(r) != mark {
			h, n = foldRune(h, n, r)
		}
		i += int32(size)
	}
	w.hash, w.length = h, n
}

// foldRune folds a letter or digit outside ASCII into a hash of n bytes.
func foldRune(h uint64, n int32, r rune) (uint64, int32) {
	if int(r) < len(foldedRune) {
		for _, c := range foldedRune[r] {
			h, n = h*base+uint64(c), n+1
		}
		return h, n
	}
	for r = unicode.ToLower(r); r > 0; r >>= 8 {
		h, n = h*base+uint64(byte(r)), n+1
	}
	return h, n
}

// wordTable gives a word its trigger classes. It is read-only after it was
// made and shared by the workers.
type wordTable struct {
	classes map[uint64]class     // by hash
	filter  [1 << 18 / 64]uint64 // a bit for the ends of every trigger: few other words have them
}

// newWordTable reads the trigger words.
func newWordTable(words networks.Words) *wordTable {
	t := new(wordTable)
	have := map[uint64]class{}
	for i, name := range classNames {
		list := strings.Join(words[name], " ")
		for _, w := range t.phrase(list) {
			have[w.hash] |= 1 << i
			f := ends(folded(list[w.start:w.end]))
			t.filter[f/64] |= 1 << (f % 64)
		}
	}
	t.classes = have
	return t
}

// folded returns a trigger word without case and accents.
func folded(s string) (f []byte) {
	for _, r := range s {
		if r < utf8.RuneSelf {
			f = append(f, foldedByte[r])
		} else {
			f = append(f, foldedRune[r]...)
		}
	}
	return f
}

// phrase returns the words of a phrase of the configuration, with hashes.
func (t *wordTable) phrase(s string) []word {
	words := t.split(nil, []byte(s), 0, int32(len(s)))
	for i := range words {
		words[i].fold([]byte(s))
	}
	return words
}
