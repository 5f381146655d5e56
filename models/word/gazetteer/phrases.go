package gazetteer

import "github.com/velum-health/velum/pipeline"

// Phrase is an entry of several words found in a note.
type Phrase struct {
	First, Last int32 // tokens, half open
	Class       Class
}

// maxPhrase is the number of tokens that a phrase may take, joints included;
// no entry needs more.
const maxPhrase = 12

// Begins reports whether an entry of several words may begin with form; if not, PhraseAt finds nothing. It depends on
// the form alone, so the result can be cached by form.
func (g *Gazetteer) Begins(form []byte) bool {
	var buf [foldRoom]byte
	if len(form) > maxForm {
		return false
	}
	folded := Fold(buf[:0], form)
	return len(folded) > 0 && g.find(hash(folded)).more
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
		if !s.more {
			return found
		}
	}
	return found
}
