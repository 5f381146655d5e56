package rules

import (
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/velum-health/velum/models/word/gazetteer"
	"github.com/velum-health/velum/pipeline"
)

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

// firstLook is a look at a token that costs no hash of its form and no cache line
// of what is known of forms. It goes by the first two bytes, the last and the
// length: what it says of a token is true of all words of the file that have the
// same. Most words of a note are thrown out by it, and most pairs of words.
type firstLook struct {
	loose may // of words that stand in no table
	bytes [256]may
	slots []may
}

// may are the finders in which a form may stand: as the first and as the second.
type may struct{ first, second uint64 }

var anywhere = may{^uint64(0), ^uint64(0)}

func (m *may) join(o may) { m.first, m.second = m.first|o.first, m.second|o.second }

// lookBits: 64 KiB for the two thousand words of a file.
const lookBits = 12

// newFirstLook makes the first look of a pack: nil if some network may begin with
// a word that stands in no table, for then each has to be known.
func newFirstLook(p *Pack) *firstLook {
	var words outcomes // bits of tests of words
	for _, table := range []map[string]outcomes{p.words.folded, p.words.literal} {
		for _, o := range table {
			words.join(o)
		}
	}
	first, second := only(p.startable, &words), only(p.follows, &words)
	of := func(o *outcomes) may { return may{finders(first, o), finders(second, o)} }
	f := &firstLook{loose: of(&outcomes{}), slots: make([]may, 1<<lookBits)}
	if f.loose.first != 0 {
		return nil
	}
	for i := range f.slots {
		f.slots[i] = f.loose
	}
	for i := range f.bytes {
		f.bytes[i] = f.loose
	}
	for word, o := range p.words.folded {
		f.add(word, of(&o))
	}
	for word, o := range p.words.literal {
		o.join(p.words.folded[string(gazetteer.Fold(nil, []byte(word)))])
		f.add(word, of(&o))
	}
	return f
}

// only returns the ways as far as tests of words go: whatever the others say.
func only(all []startable, words *outcomes) (out []startable) {
	for _, s := range all {
		o := startable{any: s.any}
		for _, way := range s.ways {
			o.ways = append(o.ways, [2]outcomes{way[0].and(words)})
		}
		out = append(out, o)
	}
	return out
}

// add puts in a word, however its ASCII letters are written.
func (f *firstLook) add(word string, o may) {
	if len(word) > 1 {
		f.slots[lookKey([]byte(word))].join(o)
		return
	}
	f.bytes[word[0]].join(o)
	if c := word[0] &^ 0x20; c >= 'A' && c <= 'Z' {
		f.bytes[c].join(o)
	}
}

// of returns in which finders a token may stand. It knows those of one byte and
// those of ASCII letters or digits alone.
func (f *firstLook) of(text []byte, flags pipeline.TokenFlags) may {
	switch {
	case len(text) == 1:
		return f.bytes[text[0]]
	case flags&(pipeline.Letters|pipeline.Figures) == 0 || len(text) == 0:
		return anywhere
	}
	return f.slots[lookKey(text)]
}

// lookKey is the same for a word of ASCII letters in capitals and in small ones.
// It wants two bytes.
func lookKey(word []byte) uint32 {
	n := len(word)
	key := uint32(word[0]|0x20) | uint32(word[1]|0x20)<<8 | uint32(word[n-1]|0x20)<<16 | uint32(n)<<24
	return key * 0x9E3779B1 >> (32 - lookBits)
}

// mostStrings is how many an expression may match to be written out.
const mostStrings = 1024

// stringsOf returns all strings that a regular expression matches as a whole, if
// it is made of a few letters: nil if not.
func stringsOf(expression string) []string {
	re, err := syntax.Parse(expression, syntax.Perl)
	if err != nil {
		return nil
	}
	if re.Op == syntax.OpConcat { // ^ and $ at the ends say nothing new
		if re.Sub[0].Op == syntax.OpBeginText {
			re.Sub = re.Sub[1:]
		}
		if n := len(re.Sub); n > 0 && re.Sub[n-1].Op == syntax.OpEndText {
			re.Sub = re.Sub[:n-1]
		}
	}
	all := written(re)
	if slices.ContainsFunc(all, func(s string) bool { return s == "" || strings.ContainsRune(s, utf8.RuneError) }) {
		return nil // a form too long to be looked at is empty here, and a broken byte matches U+FFFD
	}
	return all
}

// written returns the strings of a part of an expression; nil for what is not
// made of a few letters.
func written(re *syntax.Regexp) (all []string) {
	switch re.Op {
	case syntax.OpEmptyMatch:
		return []string{""}
	case syntax.OpCapture:
		return written(re.Sub[0])
	case syntax.OpLiteral:
		if re.Flags&syntax.FoldCase == 0 {
			all = []string{string(re.Rune)}
		}
	case syntax.OpCharClass:
		for i := 0; i < len(re.Rune); i += 2 {
			if re.Rune[i+1]-re.Rune[i] >= mostStrings {
				return nil
			}
			for r := re.Rune[i]; r <= re.Rune[i+1]; r++ {
				all = append(all, string(r))
			}
		}
	case syntax.OpAlternate:
		for _, sub := range re.Sub {
			more := written(sub)
			if more == nil {
				return nil
			}
			all = append(all, more...)
		}
	case syntax.OpConcat:
		all = []string{""}
		for _, sub := range re.Sub {
			all = crossed(all, written(sub))
		}
	}
	if len(all) > mostStrings {
		return nil
	}
	return all
}

// crossed returns each of the first strings with each of the second behind it.
func crossed(first, second []string) (all []string) {
	if len(first)*len(second) > mostStrings {
		return nil
	}
	for _, a := range first {
		for _, b := range second {
			all = append(all, a+b)
		}
	}
	return all
}
