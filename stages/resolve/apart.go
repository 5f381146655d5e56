package resolve

import (
	"slices"

	"github.com/velum-health/velum/pipeline"
)

// partNames gives every person a span of their own, and cuts what stands before
// the name: "Anna Puig, Joan Soler i Rosa Mas", "l'escriptora Anna Puig". A place
// ends where a person begins: "Reus, Anna Puig". What is masked stays the same
// but for the words between.
func (w *worker) partNames() int {
	n, found := 0, len(w.spans)
	c := w.labels.person[1]
	if c == pipeline.None || w.Lexicons.Names == nil {
		return 0
	}
	for s := range found {
		if w.spans[s].Category != c && w.spans[s].Category != w.labels.place || certain(&w.spans[s]) {
			continue
		}
		i, j := w.wordsIn(w.spans[s].Start, w.spans[s].End)
		n += w.partSpan(s, i, j)
	}
	if len(w.spans) > found {
		sortSpans(w.spans)
	}
	return n
}

// partSpan parts span s of words [i, j) into those of its persons. It looks at
// every word once, however many there are.
func (w *worker) partSpan(s, i, j int) (n int) {
	c := w.labels.person[1]
	if person := w.spans[s].Category == c; person && i < j && w.spans[s].Start < w.words[i].start {
		w.spans[s].Start = w.words[i].start // ", Anna Puig"
		n++
	}
	if w.spans[s].Category == c && i < j && (s == 0 || w.spans[s-1].End <= w.words[max(i-1, 0)].start) && w.hyphenBefore(i) {
		i--
		w.spans[s].Start = w.words[i].start // Puig-Soler
		n++
	}
	if w.spans[s].Category == c && j-i >= 2 && j < len(w.words) && w.joins(j-1) {
		j-- // "Anna Puig i", and a span behind it
		w.spans[s].End = w.words[j-1].end
		n++
	}
	for k := i + 1; k < j && w.spans[s].Category == c; k++ {
		if w.words[k].class&title != 0 && w.commaBehind(k-1) {
			w.spans[s].End, j = w.words[k-1].end, k // "Anna Puig, Doctora"
			n++
		}
	}
	for j-i >= 2 {
		person := w.spans[s].Category == c
		if first := w.nameStart(i, j); person && first > i {
			w.spans[s].Start, i = w.words[first].start, first
			n++
		}
		left, right := w.secondName(i, j, person)
		if right == 0 {
			break
		}
		second := w.spans[s]
		second.Start, second.Category = w.words[right].start, c
		w.spans[s].End = w.words[left].end
		w.spans = append(w.spans, second)
		s, i = len(w.spans)-1, right
		n++
	}
	return n
}

// manyPeople is how many persons of a note rule surname remembers.
const manyPeople = 64

// findSurnames makes a person of a place that is one word, the last of a whole
// name in the same note: "Pasqual Zzyzx... explica Zzyzx". What is a town, or
// stands behind the head of a centre or where a place does, stays.
func (w *worker) findSurnames() int {
	c := w.labels.person[1]
	if c == pipeline.None || w.Lexicons.Names == nil || len(w.spans) < 2 {
		return 0
	}
	var last [manyPeople]uint64
	people := last[:0]
	for s := range w.spans {
		if w.spans[s].Category != c || len(people) == manyPeople {
			continue
		}
		if i, j := w.wordsIn(w.spans[s].Start, w.spans[s].End); j-i >= 2 && w.startsGiven(i) && w.words[j-1].is(capital) && w.words[i].class&title == 0 {
			w.words[j-1].fold(w.text)
			people = append(people, w.words[j-1].hash)
		}
	}
	if len(people) == 0 {
		return 0
	}
	n := 0
	for s := range w.spans {
		x := &w.spans[s]
		if x.Category != w.labels.place || certain(x) {
			continue
		}
		if i, j := w.wordsIn(x.Start, x.End); j == i+1 && w.isSurname(i, people) {
			x.Category = c
			n++
		}
	}
	return n
}

// isSurname tells whether word k is one of the surnames and stands where no
// place does.
func (w *worker) isSurname(k int, surnames []uint64) bool {
	x := &w.words[k]
	if !x.is(capital) || !x.is(lower) || x.class&(namesake|institution|organisation|street) != 0 ||
		k > 0 && w.words[k-1].class&(institution|organisation|street|region|comesFrom|heading) != 0 {
		return false
	}
	x.fold(w.text)
	return slices.Contains(surnames, x.hash) && !w.inLexicon(w.Lexicons.Towns, k) && !w.inLexicon(w.Lexicons.Provinces, k) && !w.inLexicon(w.Lexicons.Countries, k)
}

// nameStart returns the first of words [i, j) that belongs to a name: small
// letters before a given name do not.
func (w *worker) nameStart(i, j int) int {
	for k := i; k+1 < j && !w.words[k].is(capital); k++ {
		if w.startsGiven(k+1) && (w.words[k].class&particle == 0 || w.partOfName(k+1)&family == 0) { // Dr. de Riva
			return k + 1
		}
	}
	if i+1 < j && w.words[i].class&of != 0 && !w.words[i].is(capital) && w.words[i+1].is(capital) && w.words[i+1].class&particle == 0 &&
		w.isCatalan() && (i == 0 || w.words[i-1].class&(title|shortTitle|relative) == 0) {
		return i + 1 // "obra de Puig", not "Dr. de Riva"
	}
	return w.behindOffice(i, j)
}

// behindOffice returns the given name in words [i, j) behind what is no name:
// "conseller de Presidència, Anna Puig", "Govern de Joan Puig". It is i if there
// is none. "Zzyzx, Anna" is a name, surname first.
func (w *worker) behindOffice(i, j int) int {
	for k := i; k < j; k++ {
		switch p := w.partOfName(k); {
		case k > i && w.commaBehind(k-1) && w.startsGiven(k) && w.allGiven(k, j):
			return i
		case w.startsGiven(k) && k > i && (k == j-1 || w.words[k+1].is(capital)):
			return k
		case w.words[k].class&particle != 0 && !w.words[k].is(capital):
			continue
		case k+1 == j, w.words[k].end-w.words[k].start < 3, p&(given|family) != 0 && p != given|family, p != 0 && !w.commaSoon(k, j):
			return i
		}
	}
	return i
}

// allGiven tells whether the words [k, j) are given names alone.
func (w *worker) allGiven(k, j int) bool {
	for ; k < j; k++ {
		if w.partOfName(k)&given == 0 {
			return false
		}
	}
	return true
}

// hyphenBefore tells whether a hyphen alone joins word k to a capitalised one
// before it.
func (w *worker) hyphenBefore(k int) bool {
	return k > 0 && w.words[k].is(capital) && w.words[k-1].is(capital) && w.words[k-1].is(lower) && string(w.text[w.words[k-1].end:w.words[k].start]) == "-"
}

// commaSoon tells whether a comma and a given name stand behind the words from k
// on, within the words of a name and before word j.
func (w *worker) commaSoon(k, j int) bool {
	for j = min(j, k+longestName+1); k+1 < j; k++ {
		if w.commaBehind(k) {
			return w.startsGiven(k + 1)
		}
	}
	return false
}

// startsGiven tells whether word k is a given name with a capital, and no word
// of the language.
func (w *worker) startsGiven(k int) bool {
	x := &w.words[k]
	return x.is(capital) && x.is(lower) && w.partOfName(k)&given != 0
}

// secondName returns the last word of the first name in words [i, j) and the
// first of the second, 0, 0 if there is one name alone. García Puig, Ana and
// Josep Puig i Cadafalch are one; behind a place a person has two words.
func (w *worker) secondName(i, j int, person bool) (left, right int) {
	for k := i + 1; k < j; k++ {
		switch full := k+1 < j && w.touch(k) && w.words[k+1].is(capital) && w.partOfName(k+1)&(family|unknown) != 0; {
		case w.commaBehind(k-1) && w.startsGiven(k) && (person && k-i >= 2 && w.startsGiven(i) || !person && full && w.partOfName(k)&family == 0):
			return k - 1, k
		case person && w.joins(k) && k+1 < j && w.startsGiven(k+1) && (k+2 < j && w.words[k+2].is(capital) || k == i+1 && w.startsGiven(i)):
			return k - 1, k + 1
		}
	}
	return 0, 0
}

// joins tells whether word k is i, y or e between words.
func (w *worker) joins(k int) bool {
	x := &w.words[k]
	return x.end-x.start == 1 && (w.text[x.start] == 'i' || w.text[x.start] == 'y' || w.text[x.start] == 'e') && k > 0 && w.touch(k-1) && k+1 < len(w.words) && w.touch(k)
}

// joinPieces makes one span of names with nothing but blanks between them:
// "Dra. [PERSON:Puig] [PERSON:El Mas]" are no two people, and how many pieces a model made of
// a hidden name would tell something about its words. Places stay apart: street,
// postal code, town and province behind each other are one span each (joined, .09
// of strict F1 on reports cut short; all but numbers, .026).
func (w *worker) joinPieces() int {
	if len(w.spans) < 2 {
		return 0
	}
	kept := w.spans[:1]
	for _, s := range w.spans[1:] {
		last := &kept[len(kept)-1]
		if s.Category == last.Category && w.isPerson(s.Category) && w.blanksBetween(last.End, s.Start) {
			last.End, last.Score = s.End, min(last.Score, s.Score)
			continue
		}
		kept = append(kept, s)
	}
	n := len(w.spans) - len(kept)
	w.spans = kept
	return n
}

// blanksBetween tells whether a text is blanks of one line, or nothing.
func (w *worker) blanksBetween(start, end int32) bool {
	for _, c := range w.text[start:end] {
		if c != ' ' && c != '\t' {
			return false
		}
	}
	return true
}
