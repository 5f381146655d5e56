package rules

import (
	"strings"

	"github.com/velum-health/velum/models/word/gazetteer"
)

// wordTable says which tests of words a form passes: all of them in two look-ups.
type wordTable struct {
	folded  map[string]outcomes // without case and accents, see gazetteer.Fold
	stems   map[string]outcomes // the same of words that end with a star: what forms begin with
	literal map[string]outcomes // as they are: of tests of exact forms, and of words that fold to nothing
}

func newWordTable() wordTable {
	return wordTable{folded: map[string]outcomes{}, stems: map[string]outcomes{}, literal: map[string]outcomes{}}
}

// add puts in a word of a test that leaves case and accents aside.
func (w *wordTable) add(word string, bit int) {
	in := w.folded
	stem, begins := strings.CutSuffix(word, "*")
	if begins {
		in = w.stems
	}
	key := string(gazetteer.Fold(nil, []byte(stem)))
	if key == "" {
		w.addLiteral(bit, word)
		return
	}
	o := in[key]
	o.set(bit)
	in[key] = o
}

// addLiteral puts in forms that must stand as they are.
func (w *wordTable) addLiteral(bit int, forms ...string) {
	for _, form := range forms {
		o := w.literal[form]
		o.set(bit)
		w.literal[form] = o
	}
}

// find returns the tests that a form passes. A form too long to be looked at
// has no text here.
func (w *wordTable) find(f *form) outcomes {
	o := w.literal[string(f.text)]
	if len(f.folded) > 0 {
		o.join(w.folded[string(f.folded)])
		for n := 1; n <= len(f.folded) && len(w.stems) > 0; n++ {
			o.join(w.stems[string(f.folded[:n])])
		}
	}
	return o
}
