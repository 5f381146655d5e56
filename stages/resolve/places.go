package resolve

import "github.com/velum-health/velum/pipeline"

// longestChain is how many places may follow one another: "Orito, Putumayo
// (Colombia)".
const longestChain = 3

// findOrigins proposes places by what stands before them: "procedente de
// Orito, Putumayo", "viaje a Dakar (Senegal)", "municipio de Coari". Towns of the
// whole world are in no list, so a capital is enough there, unless the word is
// a part of a hospital, a specialty or a common word.
func (w *worker) findOrigins() int {
	n := 0
	if w.labels.place == 0 {
		return 0
	}
	for k := 0; k+1 < len(w.words); k++ {
		if w.words[k].class&(comesFrom|region) == 0 {
			continue
		}
		i := w.overLink(k)
		for range longestChain {
			end := w.townFrom(i)
			if end == i {
				break
			}
			w.proposePlace(i, end)
			n++
			if i = w.nextInChain(end); i == 0 {
				break
			}
		}
	}
	return n
}

// overLink returns the word at which a place may begin behind the word k for
// an origin or region: over "de", "en la", "a".
func (w *worker) overLink(k int) int {
	i := k + 1
	if w.words[k].class&comesFrom != 0 && w.words[i].class&(place|of) == 0 {
		return len(w.words) // viaje reciente, vive solo
	}
	for i < len(w.words) && i < k+3 && !w.words[i].is(capital) && w.words[i].class&(of|place|particle) != 0 && w.touch(i-1) {
		i++
	}
	if i < len(w.words) && !w.linkedPlace(i-1) {
		return len(w.words)
	}
	return i
}

// linkedPlace tells whether word k+1 follows word k with a space or an
// apostrophe.
func (w *worker) linkedPlace(k int) bool {
	gap := w.text[w.words[k].end:w.words[k+1].start]
	return w.touch(k) && len(gap) > 0 || len(gap) == 1 && gap[0] == '\''
}

// townFrom returns the end of the name of a place that begins at word i, i if
// none does: capitalised words, and particles between them.
func (w *worker) townFrom(i int) int {
	end := i
	for k := i; k < min(i+longestPlace, len(w.words)); k++ {
		if k > i && !w.touches(k-1) {
			break
		}
		x := &w.words[k]
		if k > i && x.class&(particle|of) != 0 && !x.is(capital) {
			continue
		}
		if !w.isTownWord(k, k > i) {
			break
		}
		end = k + 1
	}
	return end
}

// isTownWord tells whether word k may stand in the name of a place; further
// words of it may be common ones (Puerto Lindo).
func (w *worker) isTownWord(k int, further bool) bool {
	x := &w.words[k]
	if !x.is(capital) || !x.is(lower) || x.end-x.start < 3 && x.class&particle == 0 ||
		x.class&(institution|organisation|service|specialty|heading|title|relative|opener|month|weekday|person|unit|patient|street) != 0 {
		return false
	}
	return further || x.class&(particle|bond) != 0 || !w.inLexicon(w.Lexicons.Common, k) || w.inLexicon(w.Lexicons.Towns, k) || w.inLexicon(w.Lexicons.Provinces, k)
}

// nextInChain returns the word behind ", ", " (" or "-" when a place may go on
// there, 0 if not.
func (w *worker) nextInChain(end int) int {
	if end >= len(w.words) || w.words[end].is(lineStart) {
		return 0
	}
	switch gap := w.text[w.words[end-1].end:w.words[end].start]; string(gap) {
	case ", ", " (", "(", ",", "-", " - ", " , ", " ( ":
		return end
	}
	return 0
}

// findTowns proposes listed towns behind "en", "desde", "a", and behind "de"
// where a centre or institution comes before it: "hospital de Turrialba". Behind
// another noun they are criteria and scales (Amsterdam, Glasgow).
func (w *worker) findTowns() int {
	n := 0
	if w.labels.place == 0 || w.Lexicons.Towns == nil {
		return 0
	}
	behind := 0 // the town before
	for _, at := range w.capitals {
		k := int(at) - 1
		if k < max(behind, 1) || w.words[k].class&(place|of|particle) == 0 {
			continue
		}
		lead := &w.words[k]
		if end := w.beforeCountry(k); end > k+1 {
			w.proposePlace(k+1, end)
			n++
			behind = end
			continue
		}
		if lead.class&(place|of) == 0 || !w.linkedPlace(k) {
			continue
		}
		if lead.class&of != 0 && w.words[k-1].class&(institution|organisation|region) == 0 && !w.ofTown(k) {
			continue
		}
		end := w.listedTown(k + 1)
		if end == k+1 {
			continue
		}
		w.proposePlace(k+1, end)
		n++
		behind = end
	}
	return n
}

// beforeCountry returns the end of a place behind the word k, a preposition or
// particle before a capital, that a country follows: "en la Lombardía (Italia)", "de Arroyal, Francia". It is k+1 if there is
// none.
func (w *worker) beforeCountry(k int) int {
	if w.words[k].is(capital) || !w.linkedPlace(k) {
		return k + 1
	}
	end := w.townFrom(k + 1)
	if end == k+1 {
		return end
	}
	if next := w.nextInChain(end); next > 0 && w.words[next].is(capital) && w.words[next].is(lower) && w.inLexicon(w.Lexicons.Countries, next) {
		return end
	}
	return k + 1
}

// ofTown tells whether a town behind "de" at word k is where something or
// someone is, and not the name of a scale, a disease or a criterion, nor a
// surname.
func (w *worker) ofTown(k int) bool {
	if !w.touch(k-1) || w.words[k-1].is(capital) && w.words[k-1].is(lower) && w.words[k-1].class == 0 {
		return false
	}
	parts := false // of a house
	for i := k - 1; i >= max(k-4, 0) && w.linked(i, false); i-- {
		x := &w.words[i]
		if x.class&(scale|eponymous|title) != 0 {
			return false
		}
		parts = parts || x.class&(service|institution|organisation) != 0 || i >= k-2 && x.is(capital) && !x.is(lower) && x.end-x.start >= 3
	}
	return parts || !w.inLexicon(w.Lexicons.Surnames, k+1) && !w.inLexicon(w.Lexicons.GivenNames, k+1)
}

// findParts proposes the place behind a part of a house and "de": "servicio de
// urgencias de Robledal", "facultad de medicina de Arroyal". The part has a word of
// its own behind "de", so that what follows is no specialty; towns of the world
// are in no list.
func (w *worker) findParts() int {
	n := 0
	if w.labels.place == 0 {
		return 0
	}
	for k := 0; k+4 < len(w.words); k++ {
		part := &w.words[k+2]
		if w.words[k].class&(service|organisation) == 0 || w.words[k+1].class&of == 0 || part.is(capital) || part.class&(particle|of) != 0 || w.words[k+3].class&of == 0 ||
			!w.touch(k) || !w.touch(k+1) || !w.touch(k+2) || !w.linkedPlace(k+3) {
			continue
		}
		if end := w.townFrom(k + 4); end > k+4 && !w.inNever(k+4) {
			w.proposePlace(k+4, end)
			n++
		}
	}
	return n
}

// findElliptic proposes a hospital of which only the adjective is written, "al
// pediátrico de Robledal", and one whose name stands in brackets behind it:
// "hospital de origen (Alto Campo)".
func (w *worker) findElliptic() int {
	n := 0
	if w.labels.centre == pipeline.None {
		return 0
	}
	for k := 1; k < len(w.words); k++ {
		start, first := k, k
		switch x := &w.words[k]; {
		case k+2 < len(w.words) && x.class&elliptic != 0 && !x.is(capital) && w.words[k-1].class&(place|particle) != 0 && w.touch(k-1) && w.words[k+1].class&of != 0 && w.touch(k) && w.touch(k+1):
			first = k + 2
		case !w.bracketed(k):
			continue
		}
		if end := w.centreFrom(first); end > first && (end > first+1 || first > start) {
			w.propose(w.words[start].start, w.words[end-1].end, w.labels.centre, byRule)
			n++
		}
	}
	return n
}

// bracketed tells whether word k begins a bracket behind "hospital" and one word
// of what it is to the patient: hospital de origen (, hospital de referencia (.
func (w *worker) bracketed(k int) bool {
	return k >= 3 && w.words[k].is(capital) && w.words[k].is(lower) && w.words[k-3].class&plainHead != 0 && !w.words[k-3].is(capital) && w.words[k-2].class&of != 0 &&
		!w.words[k-1].is(capital) && w.touch(k-3) && w.touch(k-2) && string(w.text[w.words[k-1].end:w.words[k].start]) == " ("
}

// proposePlace proposes the words [i, end) as a country where the label set
// has those and the lists know it, as another place else.
func (w *worker) proposePlace(i, end int) {
	start, stop := w.words[i].start, w.words[end-1].end
	c := w.placeOf(w.text[start:stop])
	if c == 0 {
		c = w.labels.place
	}
	w.propose(start, stop, c, byRule)
}

// shortestTown is how many letters a town has at least that is found by its
// name alone.
const shortestTown = 4

// listedTown returns the end of the longest listed town that begins at word i,
// i if there is none.
func (w *worker) listedTown(i int) int {
	end := i
	if !w.isTownWord(i, false) {
		return i
	}
	for k := i; k < min(i+longestPlace, len(w.words)) && (k == i || w.touches(k-1)); k++ {
		x := &w.words[k]
		if k > i && !x.is(capital) {
			if x.class&(particle|of) == 0 {
				break
			}
			continue
		}
		phrase := w.text[w.words[i].start:x.end]
		if len(phrase) >= shortestTown && in(w.Lexicons.Towns, phrase) && !in(w.Lexicons.Common, phrase) && !w.isNeverPhrase(phrase) {
			end = k + 1
		}
	}
	return end
}

// isNeverPhrase tells whether a phrase is an eponym or a drug.
func (w *worker) isNeverPhrase(phrase []byte) bool {
	for i := range w.Lexicons.Never {
		if in(w.Lexicons.Never[i], phrase) {
			return true
		}
	}
	return false
}
