package rules

import "github.com/velum-health/velum/models/word/gazetteer"

// wordTable says which tests of words a form passes: all of them in two look-ups.
type wordTable struct {
	folded  map[string]outcomes // without case and accents, see gazetteer.Fold
	literal map[string]outcomes // as they are: of tests of exact forms, and of words that fold to nothing
}

func newWordTable() wordTable {
	return wordTable{folded: map[string]outcomes{}, literal: map[string]outcomes{}}
}

// add puts in a word of a test that leaves case and accents aside.
func (w *wordTable) add(word string, bit int) {
	key := string(gazetteer.Fold(nil, []byte(word)))
	if key == "" {
		w.addLiteral(bit, word)
		return
	}
	o := w.folded[key]
	o.set(bit)
	w.folded[key] = o
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
	}
	return o
}
