package resolve

import (
	"unicode"
	"unicode/utf8"

	"github.com/velum-health/velum/pipeline"
)

// otherScripts lists scripts in which a Spanish or Catalan note contains nothing but names. Greek is not among them,
// since medicine uses Greek letters.
var otherScripts = []*unicode.RangeTable{
	unicode.Arabic, unicode.Hebrew, unicode.Cyrillic, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul,
	unicode.Armenian, unicode.Georgian, unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Tamil, unicode.Ethiopic, unicode.Thai,
}

// findScripts proposes words of another script as names: what stands there was
// copied from a document of the person. Letters that imitate Latin ones are Latin
// in the view. A note of plain characters has no view and is not looked at.
func (w *worker) findScripts() int {
	n := 0
	c := w.labels.person[1]
	if c == pipeline.None || len(w.from) == 0 {
		return 0
	}
	w.cutWords()
	for k := 0; k < len(w.words); k++ {
		if !w.isOtherScript(k) {
			continue
		}
		end := k + 1
		for end < len(w.words) && w.touch(end-1) && w.isOtherScript(end) {
			end++
		}
		w.propose(w.words[k].start, w.words[end-1].end, c, byRule)
		n++
		k = end - 1
	}
	return n
}

// isOtherScript tells whether word k has a letter of another script.
func (w *worker) isOtherScript(k int) bool {
	for text := w.text[w.words[k].start:w.words[k].end]; len(text) > 0; {
		r, size := utf8.DecodeRune(text)
		if r > unicode.MaxLatin1 && unicode.IsOneOf(otherScripts, r) {
			return true
		}
		text = text[size:]
	}
	return false
}
