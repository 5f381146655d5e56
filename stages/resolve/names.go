package resolve

import (
	"bytes"

	"github.com/velum-health/velum/pipeline"
)

// longestName is how many words a name or the name of a centre has at most.
const longestName = 6

// findTitled proposes names behind a title that the model may have missed:
// "Dr. García", "la Sra. Puig Soler".
func (w *worker) findTitled() int {
	n := 0
	c := w.labels.person[1]
	if c == pipeline.None {
		return 0
	}
	for k := 0; k+1 < len(w.words); k++ {
		if w.words[k].class&(title|shortTitle) == 0 || !w.linked(k, true) || !w.startsName(k) || w.inPlaceName(k) {
			continue
		}
		end := w.nameFrom(k + 1)
		w.propose(w.words[k+1].start, w.words[end-1].end, c, byRule)
		n++
		k = end - 1
	}
	return n
}

// startsName tells whether the word behind the title at k is a name. In a note
// without capitals, and behind D., Na, En and the like, it must be known as
// one.
func (w *worker) startsName(k int) bool {
	next := &w.words[k+1]
	if next.is(digits) || next.end-next.start < 2 || next.class&(title|article|relative|heading|institution|organisation|street) != 0 {
		return false
	}
	known := w.inLexicon(w.Lexicons.GivenNames, k+1)
	if w.words[k].class&title == 0 {
		return known && w.titleAt(k) && next.is(capital)
	}
	if next.is(capital) && (next.is(lower) || !w.inLexicon(w.Lexicons.Common, k+1)) {
		return true
	}
	return (known || w.inLexicon(w.Lexicons.Surnames, k+1)) && !w.inLexicon(w.Lexicons.Common, k+1)
}

// inPlaceName tells whether the title at k belongs to the name of a street or
// centre: Hospital Dr. Puig, calle del Dr. Puig.
func (w *worker) inPlaceName(k int) bool {
	for i := k - 1; i >= max(k-2, 0) && w.linked(i, true); i-- {
		if w.words[i].class&(institution|street) != 0 {
			return true
		}
	}
	return false
}

// nameFrom returns the end of the name that starts at word i: capitalised
// words and the particles between them. In a note of capitals only known names
// go on.
func (w *worker) nameFrom(i int) int {
	end := i + 1
	for k := i + 1; k < min(i+longestName, len(w.words)) && w.touches(k-1); k++ {
		x := &w.words[k]
		if x.class&particle != 0 && !(x.is(capital) && x.is(lower)) {
			continue
		}
		if !w.goesOn(k) {
			break
		}
		end = k + 1
	}
	return end
}

// touches tells whether word k+1 follows word k with a space or a hyphen.
func (w *worker) touches(k int) bool {
	gap := w.text[w.words[k].end:w.words[k+1].start]
	return w.touch(k) || len(gap) == 1 && (gap[0] == '-' || gap[0] == '\'')
}

func (w *worker) goesOn(k int) bool {
	x := &w.words[k]
	if x.is(digits) || !x.is(capital) || x.class&(title|article|relative|heading|institution|organisation|street) != 0 {
		return false
	}
	return x.is(lower) || w.inLexicon(w.Lexicons.Surnames, k) || w.inLexicon(w.Lexicons.GivenNames, k)
}

// findCentres proposes a head such as Hospital or CAP and the capitalised words
// behind it. Notes in capitals are left to the model: every word would go on.
func (w *worker) findCentres() int {
	n := 0
	if w.labels.centre == pipeline.None {
		return 0
	}
	for k := 0; k+1 < len(w.words); k++ {
		if w.words[k].class&institution == 0 || !w.words[k].is(capital) || !w.linked(k, bytes.IndexByte([]byte("."), w.byteAt(w.words[k].end)) >= 0) {
			continue
		}
		end := w.centreFrom(k + 1)
		if end == k+1 || w.namesNothing(k, end) {
			continue
		}
		w.propose(w.words[k].start, w.words[end-1].end, w.labels.centre, byRule)
		n++
		k = end - 1
	}
	return n
}

// centreFrom returns the end of the capitalised words from word i on, i if
// there are none.
func (w *worker) centreFrom(i int) int {
	end := i
	for k := i; k < min(i+longestName, len(w.words)); k++ {
		if k > i && !w.touches(k-1) {
			break
		}
		x := &w.words[k]
		if x.class&particle != 0 && !x.is(capital) {
			continue
		}
		if !x.is(capital) || !x.is(lower) || x.class&(heading|street) != 0 {
			break
		}
		end = k + 1
	}
	return end
}
