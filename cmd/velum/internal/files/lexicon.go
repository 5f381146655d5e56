package files

import (
	"github.com/velum-health/velum/models/word/gazetteer"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/stages/resolve"
)

// lexicon is one kind of word or phrase of some lists.
type lexicon struct {
	lists *gazetteer.Gazetteer
	class gazetteer.Class
}

// longestEntry is more words than any entry of the lists has.
const longestEntry = 16

// Contains reports whether the whole phrase is one entry of the list. It does not allocate, because resolve calls it
// for every capitalised word.
func (l lexicon) Contains(phrase []byte) bool {
	var space [longestEntry]pipeline.Token
	tokens, ok := words(space[:0], phrase)
	if !ok {
		return false
	}
	switch len(tokens) {
	case 0:
		return false
	case 1:
		t := tokens[0]
		return l.lists.Classes(phrase[t.Start:t.End])&l.class != 0
	}
	p := l.lists.PhraseAt(phrase, tokens, 0)
	return int(p.Last) == len(tokens) && p.Class&l.class != 0
}

// words cuts a phrase at blanks and around punctuation; false if it has too
// many words to be an entry.
func words(dst []pipeline.Token, phrase []byte) ([]pipeline.Token, bool) {
	for i := 0; i < len(phrase); {
		j := i
		for j < len(phrase) && inWord(phrase[j]) {
			j++
		}
		if j == i {
			j++
		}
		if phrase[i] != ' ' {
			if len(dst) == longestEntry {
				return dst, false
			}
			dst = append(dst, pipeline.Token{Start: int32(i), End: int32(j)})
		}
		i = j
	}
	return dst, true
}

func inWord(c byte) bool {
	return c >= 0x80 || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9'
}

// LexiconsOf returns the word lists that stages/resolve looks phrases up in.
func LexiconsOf(lists *gazetteer.Gazetteer) resolve.Lexicons {
	of := func(c gazetteer.Class) lexicon { return lexicon{lists, c} }
	return resolve.Lexicons{
		GivenNames: of(gazetteer.GivenName),
		Surnames:   of(gazetteer.Surname),
		Common:     of(gazetteer.CommonWord),
		Never: []resolve.NamedLexicon{
			{Name: "eponyms", Lexicon: of(gazetteer.Eponym)},
			{Name: "drugs", Lexicon: of(gazetteer.Drug)},
		},
	}
}
