package main

import (
	"github.com/velum-health/velum/models/gazetteer"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/stages/resolve"
)

// lexicon is one kind of word or phrase of the shipped lists.
type lexicon gazetteer.Class

// longestEntry is more words than any entry of the lists has.
const longestEntry = 16

// Contains tells whether the whole phrase is one entry of the list. It
// allocates nothing: resolve asks it of every capitalised word.
func (l lexicon) Contains(phrase []byte) bool {
	var space [longestEntry]pipeline.Token
	tokens, ok := words(space[:0], phrase)
	if !ok {
		return false
	}
	var room [longestEntry]gazetteer.Phrase
	found := gazetteer.Default().Phrases(room[:0], phrase, tokens)
	return len(found) == 1 && found[0].First == 0 && int(found[0].Last) == len(tokens) &&
		found[0].Class&gazetteer.Class(l) != 0
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

// lexicons are the lists that resolve asks.
func lexicons() resolve.Lexicons {
	return resolve.Lexicons{
		GivenNames: lexicon(gazetteer.GivenName),
		Surnames:   lexicon(gazetteer.Surname),
		Common:     lexicon(gazetteer.CommonWord),
		Countries:  lexicon(gazetteer.Country),
		Provinces:  lexicon(gazetteer.Province),
		Never: []resolve.NamedLexicon{
			{Name: "eponyms", Lexicon: lexicon(gazetteer.Eponym)},
			{Name: "drugs", Lexicon: lexicon(gazetteer.Drug)},
		},
	}
}
