// Package lexicon shows the lists of names and words to stages/resolve: what it
// asks of a word or a phrase.
package lexicon

import (
	"bytes"
	"fmt"
	"io/fs"
	"strings"
	"sync"

	"github.com/velum-health/velum/models/gazetteer"
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

// Contains tells whether the whole phrase is one entry of the list. It
// allocates nothing: resolve asks it of every capitalised word.
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

// heads are the first words, folded, of entries of several words.
type heads map[string]struct{}

// Contains tells whether an entry of several words may begin with the word.
func (h heads) Contains(word []byte) bool {
	var room [longestHead * 3 / 2]byte
	if len(word) > longestHead {
		return false
	}
	_, ok := h[string(gazetteer.Fold(room[:0], word))]
	return ok
}

// longestHead is more bytes than a word of the lists has.
const longestHead = 64

// placeHeads reads the lists of countries and provinces for their heads.
var placeHeads = sync.OnceValue(func() heads {
	h := heads{}
	for e, err := range gazetteer.Entries(placeLists{gazetteer.Shipped()}) {
		if err != nil {
			panic(fmt.Sprintf("embedded lists: %v", err)) // a test compiles them
		}
		for _, cut := range []string{" ", " -'’/"} { // the two ways in which the lists are compiled
			if i := strings.IndexAny(e.Form, cut); i > 0 {
				h[string(gazetteer.Fold(nil, []byte(e.Form[:i])))] = struct{}{}
			}
		}
	}
	return h
})

// placeHeadsOf returns the heads of the places in the lists: nil, which is any
// word, if they are not the built-in ones alone.
func placeHeadsOf(lists *gazetteer.Gazetteer) resolve.Lexicon {
	if lists != gazetteer.Default() {
		return nil
	}
	return placeHeads()
}

// placeLists shows those of the lists that name countries and provinces: the
// others are ten times as long.
type placeLists struct{ fs.FS }

// Glob implements fs.GlobFS.
func (l placeLists) Glob(pattern string) (names []string, err error) {
	all, err := fs.Glob(l.FS, pattern)
	for _, name := range all {
		data, err := fs.ReadFile(l.FS, name)
		if err != nil {
			return nil, err
		}
		header, _, _ := bytes.Cut(data, []byte("\n"))
		class, err := gazetteer.ParseClass(strings.TrimPrefix(string(header), "# class: "))
		if err != nil || class&(gazetteer.Country|gazetteer.Province) != 0 {
			names = append(names, name) // one that begins with something else is read as well
		}
	}
	return names, err
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

// names are the lists of the configuration, for rule listed: a word is looked up
// once in them and once in the names from all over the world.
type names struct{ lists *gazetteer.Gazetteer }

// Name implements resolve.NameLexicon.
func (n names) Name(word []byte) (given, surname, common bool) {
	own := n.lists.Classes(word)
	all := own | gazetteer.Names().Classes(word)
	return all&gazetteer.GivenName != 0, all&gazetteer.Surname != 0, own&gazetteer.CommonWord != 0
}

// Of returns the lists that resolve asks.
func Of(lists *gazetteer.Gazetteer) resolve.Lexicons {
	of := func(c gazetteer.Class) lexicon { return lexicon{lists, c} }
	return resolve.Lexicons{
		GivenNames: of(gazetteer.GivenName),
		Surnames:   of(gazetteer.Surname),
		Names:      names{lists},
		Common:     of(gazetteer.CommonWord),
		Countries:  of(gazetteer.Country),
		Provinces:  of(gazetteer.Province),
		Towns:      of(gazetteer.Municipality),
		PlaceHeads: placeHeadsOf(lists),
		Never: []resolve.NamedLexicon{
			{Name: "eponyms", Lexicon: of(gazetteer.Eponym)},
			{Name: "drugs", Lexicon: of(gazetteer.Drug)},
		},
	}
}
