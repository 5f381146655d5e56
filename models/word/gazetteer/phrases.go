package gazetteer

import (
	"math"
	"unicode/utf8"

	"github.com/velum-health/velum/pipeline"
)

// Phrase is an entry of several words found in a note.
type Phrase struct {
	First, Last int32 // tokens, half open
	Class       Class
}

// maxPhrase is the number of tokens that a phrase may take, joints included;
// no entry needs more.
const maxPhrase = 12

// First returns one of 16 bits for the byte with which a word begins, the same for a capital; all of them if folding may
// change that byte otherwise.
func First(form []byte) uint16 {
	if b := form[0]; b < utf8.RuneSelf && asciiFold[b] != 0 {
		return 1 << (b & 15)
	}
	return math.MaxUint16
}

// Begins returns how the second words of the entries begin whose first word is form: if it has no bit of First of the
// next token, PhraseAt finds nothing. It depends on the form alone, so the result can be cached by form.
func (g *Gazetteer) Begins(form []byte) uint16 {
	return g.find(Hash(form)).next
}

// PhraseAt returns the longest entry of several words that begins at token
// first; no class if there is none. Between two words of a phrase there may be
// one token of punctuation that can stand inside a name (Sta. Coloma,
// Vila-real, L'Hospitalet), but no line may begin. Token borders are those of
// text.
//
// The first word is tested only by Begins, a small table, since nearly always no entry continues with the second word.
func (g *Gazetteer) PhraseAt(text []byte, tokens []pipeline.Token, first int) (found Phrase) {
	var buf [foldRoom]byte
	h, joint := uint64(0), false
	for i := first; i < min(len(tokens), first+maxPhrase); i++ {
		t := tokens[i]
		if t.End-t.Start > maxForm || i > first && t.Flags&pipeline.LineStart != 0 {
			return found
		}
		word := Fold(buf[:0], text[t.Start:t.End])
		if len(word) == 0 {
			if i == first || joint {
				return found
			}
			joint = true
			continue
		}
		joint = false
		h = chain(h, hash(word))
		if i == first {
			continue
		}
		if !g.goesOn(h) {
			return found
		}
		s := g.find(h)
		if s.class != 0 {
			found = Phrase{First: int32(first), Last: int32(i + 1), Class: s.class}
		}
		if s.next == 0 {
			return found
		}
	}
	return found
}
