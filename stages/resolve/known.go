package resolve

import (
	"encoding/binary"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/velum-health/velum/pipeline"
)

// reader cuts the words of notes. It is one worker's: it remembers what the
// table says of the words that come again and again.
type reader struct {
	*wordTable
	known   [1 << knownBits]known
	packed  []packedWord // of the tokens of a note that are letters
	touched uint64       // what was read only to have it fetched
}

// packedWord is the letters of a word, and where the reader may know it.
type packedWord struct {
	first, rest uint64 // see packed
	at          uint64 // in known
}

// knownBits is the number of words that are remembered: some thousand forms
// make up nine tenths of the words of notes, and 256 KiB stay near.
const knownBits = 13

// known is a word of at most 16 ASCII letters, its hash and its classes.
type known struct {
	first, rest uint64 // its letters, see packed; 0 is a free place
	hash        uint64
	class       class
}

// appendWords appends the words of the tokens to dst and returns all classes
// that occur.
func (r *reader) appendWords(dst []word, text []byte, tokens []pipeline.Token) ([]word, class) {
	newLine := true // the first token of a line need not hold a word
	seen := class(0)
	r.pack(text, tokens)
	packed := r.packed
	for _, tok := range tokens {
		first := len(dst)
		newLine = newLine || tok.Flags&pipeline.LineStart != 0
		switch {
		case tok.Flags&pipeline.Letters != 0:
			dst = append(dst, word{})
			r.letters(&dst[first], text, tok.Start, tok.End, &packed[0])
			packed = packed[1:]
		case tok.Flags&pipeline.Figures != 0:
			dst = append(dst, word{})
			w := &dst[first]
			w.start, w.end, w.shape = tok.Start, tok.End, digits
		case tok.End-tok.Start == 1 && sign(text[tok.Start]):
			continue
		default:
			dst = r.split(dst, text, tok.Start, tok.End)
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

// pack packs the tokens that are letters and asks for their places in known,
// so that the processor waits for many at once and not for each.
func (r *reader) pack(text []byte, tokens []pipeline.Token) {
	r.packed = slices.Grow(r.packed[:0], len(tokens))[:len(tokens)]
	n, touched := 0, uint64(0)
	for i := range tokens {
		tok := &tokens[i]
		if tok.Flags&pipeline.Letters == 0 {
			continue
		}
		p := &r.packed[n]
		p.first, p.rest = packed(text, int(tok.Start), int(tok.End))
		p.at = (p.first ^ p.rest*base) * 0xD6E8FEB86659FD93 >> (64 - knownBits)
		touched += r.known[p.at].first
		n++
	}
	r.packed, r.touched = r.packed[:n], touched
}

// letters fills in the word text[start:end], of which it is known that it is
// ASCII letters, capitals first, and how they are packed.
func (r *reader) letters(w *word, text []byte, start, end int32, p *packedWord) {
	w.start, w.end = start, end
	if text[start] <= 'Z' {
		w.shape = capital
	}
	if text[end-1] >= 'a' {
		w.shape |= lower
	}
	if p.first == 0 {
		r.classify(w, text)
		return
	}
	k := &r.known[p.at]
	if k.first != p.first || k.rest != p.rest {
		r.trigger(w, text)
		*k = known{first: p.first, rest: p.rest, hash: w.hash, class: w.class}
		return
	}
	w.hash, w.length, w.class = k.hash, end-start, k.class
}

// packed returns up to 16 ASCII letters, in small letters: the first eight and
// those behind them, from the lowest byte on. It reads eight bytes at a time,
// within the text: 0 for the few short words that have too little before and
// behind them, and for long ones. How long a word is no processor can tell
// beforehand, so most words take no branch that depends on it.
func packed(text []byte, start, end int) (first, rest uint64) {
	const small = 0x2020202020202020
	switch n := end - start; {
	case n <= 16 && start+16 <= len(text):
		first, rest = binary.LittleEndian.Uint64(text[start:]), binary.LittleEndian.Uint64(text[start+8:])
		return (first | small) & (math.MaxUint64 >> (64 - 8*uint(min(n, 8)))), (rest | small) & (math.MaxUint64 >> (128 - 8*uint(n)))
	case n > 16:
		return 0, 0
	case n > 8:
		rest = (binary.LittleEndian.Uint64(text[end-8:]) | small) >> (8 * (16 - n))
		return binary.LittleEndian.Uint64(text[start:]) | small, rest
	case start+8 <= len(text):
		return (binary.LittleEndian.Uint64(text[start:]) | small) & (1<<(8*n) - 1), 0
	case end >= 8:
		return (binary.LittleEndian.Uint64(text[end-8:]) | small) >> (8 * (8 - n)), 0
	}
	return 0, 0
}
