package resolve

import (
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
		if w.words[k].class&(title|shortTitle) == 0 || !w.linked(k, w.words[k].end-w.words[k].start <= longestAbbreviated) || !w.startsName(k) || w.inPlaceName(k) {
			continue
		}
		end := w.nameFrom(k + 1)
		if w.labels.person[0] != c && w.proposed(w.words[k+1].start, w.words[end-1].end) {
			continue // a scheme that tells patients from staff: the model's borders and category are better
		}
		w.propose(w.words[k+1].start, w.words[end-1].end, c, byRule)
		n++
		k = end - 1
	}
	return n
}

// proposed tells whether a candidate shares a byte with [start, end).
func (w *worker) proposed(start, end int32) bool {
	for i := range w.cands {
		if w.cands[i].Start < end && start < w.cands[i].End {
			return true
		}
	}
	return false
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
	if next.is(capital) && (next.is(lower) || w.words[k].class&doctor != 0 && !w.inLexicon(w.Lexicons.Common, k+1)) {
		return true // not SR RDW, DNA VHB
	}
	return (known || w.inLexicon(w.Lexicons.Surnames, k+1)) && !w.inLexicon(w.Lexicons.Common, k+1)
}

// longestAbbreviated is the letters of the longest title that is cut with a
// full stop, Prof.; behind longer ones it ends the sentence.
const longestAbbreviated = 4

// inPlaceName tells whether the title at k belongs to the name of a street,
// centre or town: Hospital Dr. Puig, calle del Dr. Puig, en Doña Mencía.
func (w *worker) inPlaceName(k int) bool {
	if k > 0 && w.words[k-1].class&inside != 0 && !w.words[k-1].is(capital) && w.words[k].is(capital) && w.touch(k-1) {
		return true
	}
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

// touches tells whether word k+1 follows word k with a space, a hyphen, or what stands for a lost letter.
func (w *worker) touches(k int) bool {
	gap := w.text[w.words[k].end:w.words[k+1].start]
	return w.touch(k) || len(gap) == 1 && (gap[0] == '-' || gap[0] == '\'' || gap[0] == '?') // Se?ora: a letter that was lost
}

func (w *worker) goesOn(k int) bool {
	x := &w.words[k]
	if x.is(digits) || !x.is(capital) || x.class&(title|article|relative|heading|institution|organisation|street|specialty) != 0 {
		return false
	}
	if x.class&opener != 0 && !w.inLexicon(w.Lexicons.Surnames, k) {
		return false
	}
	return x.is(lower) || w.inLexicon(w.Lexicons.Surnames, k) || w.inLexicon(w.Lexicons.GivenNames, k)
}

// findArticled proposes names behind the article that Catalan gives to persons:
// "en Costa", "la Vega", "l'Anna". They must be in the lists and mean nothing
// else.
func (w *worker) findArticled() int {
	n := 0
	c := w.labels.person[0]
	if c == pipeline.None || !w.isCatalan() {
		return 0
	}
	for k := 0; k+1 < len(w.words); k++ {
		if w.words[k].class&personal == 0 || w.words[k].is(capital) || !w.personalArticle(k) || !w.isPersonName(k+1) ||
			k > 0 && w.words[k-1].class&(institution|organisation|street|of) != 0 && w.linked(k-1, true) {
			continue
		}
		end := k + 2
		for end < len(w.words) && end < k+longestName && w.touches(end-1) && w.isPersonName(end) {
			end++
		}
		w.propose(w.words[k+1].start, w.words[end-1].end, c, byRule)
		n++
		k = end - 1
	}
	return n
}

// personalArticle tells whether word k, one of the articles of persons, is
// written as such before word k+1: en, la, l'.
func (w *worker) personalArticle(k int) bool {
	x := &w.words[k]
	if x.end-x.start > 1 {
		return w.touch(k)
	}
	return w.linkedPlace(k) && w.byteAt(x.end) == '\''
}

// isPersonName tells whether word k is a listed name of persons with a capital
// and neither a word nor a place.
func (w *worker) isPersonName(k int) bool {
	x := &w.words[k]
	return x.is(capital) && x.is(lower) && x.end-x.start >= 4 && w.goesOn(k) &&
		(w.inLexicon(w.Lexicons.GivenNames, k) || w.inLexicon(w.Lexicons.Surnames, k)) &&
		!w.inLexicon(w.Lexicons.Common, k) && !w.inLexicon(w.Lexicons.Towns, k) && !w.inNever(k)
}

// findCentres proposes a head such as Hospital or CAP and the capitalised words
// behind it; hospital also in small letters. In label sets that tell
// institutions from centres it knows hospitals alone: reports have
// "Microbiología Clínica" and "Nutrición Clínica" beside every name. Notes in capitals are left to the model: every word would go on.
func (w *worker) findCentres() int {
	n := 0
	if w.labels.centre == pipeline.None {
		return 0
	}
	for k := 0; k+1 < len(w.words); k++ {
		if end := w.dayBehind(k); end > 0 && !w.onlyPlain {
			w.propose(w.words[k].start, w.words[end-1].end, w.labels.centre, byRule)
			n++
			continue
		}
		if w.words[k].class&species == 0 && k > 0 && !w.onlyPlain && w.houseAt(k-1) {
			n += w.findHouse(k - 1)
			continue
		}
		if k > 0 && w.words[k-1].class&clinical != 0 && w.touch(k-1) {
			continue // EVOLUCIÓN CLÍNICA Tras
		}
		if w.words[k].class&plainHead == 0 && (w.onlyPlain || !w.words[k].is(capital)) {
			continue
		}
		if w.words[k].class&institution == 0 || !w.linked(k, w.byteAt(w.words[k].end) == '.' && w.words[k].is(capital)) {
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

// dayBehind returns the end of the day and month that a centre with the head at
// word k is named after, 0 if there are none: Hospital 14 de abril.
func (w *worker) dayBehind(k int) int {
	if k+3 >= len(w.words) || !w.headAt(k) || !w.words[k+1].is(digits) || w.words[k+1].end-w.words[k+1].start > 2 ||
		!w.linked(k, w.houseAt(k)) || w.words[k+2].class&of == 0 || w.words[k+3].class&month == 0 || !w.touch(k+1) || !w.touch(k+2) {
		return 0
	}
	return k + 4
}

// findHouse proposes the centre whose short head is word k: "H. Alto Campo",
// "Hº Robles".
func (w *worker) findHouse(k int) int {
	if w.words[k].end-w.words[k].start == 1 && k > 0 && w.linked(k-1, true) && w.words[k-1].is(capital) && w.words[k-1].class&(title|service) == 0 {
		return 0 // the initial of a name
	}
	end := w.centreFrom(k + 1)
	if end == k+1 {
		return 0
	}
	w.propose(w.words[k].start, w.words[end-1].end, w.labels.centre, byRule)
	return 1
}

// centreFrom returns the end of the capitalised words from word i on, i if
// there are none.
func (w *worker) centreFrom(i int) int {
	end := i
	for k := i; k < min(i+longestName, len(w.words)); k++ {
		if k > i && !w.touches(k-1) && !(w.words[k-1].class&(bond|title) != 0 && w.linked(k-1, true)) {
			break
		}
		if k > i && w.words[k].class&title != 0 && w.words[k-1].class&bond == 0 {
			break
		}
		x := &w.words[k]
		if x.class&particle != 0 && !x.is(capital) {
			continue
		}
		if !x.is(capital) || !x.is(lower) || x.class&(heading|street) != 0 || k > i && x.class&opener != 0 && w.byteAt(x.end) != '?' {
			break
		}
		end = k + 1
	}
	for end > i+1 && w.words[end-1].class&(particle|title) != 0 && w.words[end-1].end-w.words[end-1].start > 1 { // Centro Alba El
		end--
	}
	return end
}
