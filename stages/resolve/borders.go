package resolve

import (
	"bytes"

	"github.com/velum-health/velum/pipeline"
)

// endNames ends the model's names where an address, a centre or a field
// begins: footers have no punctuation between them. The rest stays masked: as
// an address or a centre if it has more words than the head, and as part of
// the name if it is anything else.
func (w *worker) endNames() int {
	n := 0
	for c := range w.cands { // those that are appended here start with a head and are no names
		if !w.isPerson(w.cands[c].Category) {
			continue
		}
		i, j := w.wordsIn(w.cands[c].Start, w.cands[c].End)
		for k := i + 1; k < j; k++ {
			if x := &w.words[k]; x.class&specialty != 0 && x.start == w.words[k-1].end+1 && w.byteAt(x.start-1) == '-' ||
				x.class&opener != 0 && x.is(capital) && x.is(lower) && !w.inLexicon(w.Lexicons.Surnames, k) {
				w.cands[c].End = w.words[k-1].end // Dra. Sáez-Hematología, Dr. Gil Tto
				n++
				break
			}
			if to := w.beforeService(i, k); to > i {
				w.cands[c].End = w.words[to-1].end // Dra. Oliveras del Servei
				n++
				break
			}
			if w.words[k].class&(street|institution|organisation|heading) == 0 || !w.words[k].is(capital) || w.inLexicon(w.Lexicons.Surnames, k) {
				continue // Plaza and Calle are surnames too
			}
			w.split(c, k, j)
			n++
			break
		}
	}
	return n
}

// beforeService returns where a name ends that goes on over "del Servei",
// "de la Unidad": the first of these words; i if word k is no such one.
func (w *worker) beforeService(i, k int) int {
	const short = 4 // c, ce, uci: initials too
	x := &w.words[k]
	if x.class&service == 0 || !x.is(capital) || x.end-x.start < short || w.inLexicon(w.Lexicons.Surnames, k) {
		return i
	}
	to := k
	for to > i && w.words[to-1].class&particle != 0 {
		to--
	}
	if to == k {
		return i
	}
	return to
}

// split ends candidate c before word k and proposes the words [k, j) as what
// word k begins. A head alone is no PHI.
func (w *worker) split(c, k, j int) {
	rest := w.cands[c]
	w.cands[c].End = w.words[k-1].end
	if k+1 == j {
		return
	}
	rest.Start = w.words[k].start
	if as := w.begunBy(w.words[k].class); as != pipeline.None {
		rest.Category = as
	}
	w.cands = append(w.cands, rest)
}

// endPlaces ends the model's places where an appointment or a doctor begins:
// "Centro Alba el día 5 a las 10", "CAP Nord Dra. Puig". What stands behind a
// title becomes a name, and what it leaves of a place is dropped if it names nothing: figures that are no postal code, and the head
// of a centre alone. Of 1,900 places in NUBes, it touched one in twenty, of
// which most were wrong.
func (w *worker) endPlaces() int {
	n := 0
	kept := w.cands[:0]
	for _, c := range w.cands {
		i, j := w.wordsIn(c.Start, c.End)
		if start := w.namedAfterDay(&c, i, j); start < j {
			n++
			c.Category, c.Start = w.labels.centre, w.words[start].start
			i = start
		} else if w.centreAsName(&c, i, j) {
			n++
			c.Category = w.labels.centre
		}
		if !w.isPlace(c.Category) {
			kept = append(kept, c)
			continue
		}
		if i < j && w.titled(i) {
			n++
			c.Category = w.labels.person[1]
			if w.words[i].class&title != 0 && i+1 < j {
				c.Start = w.words[i+1].start
			}
		} else if k := w.placeEnd(i, j); k < j {
			n++
			c.End, j = w.words[k-1].end, k
		}
		if k := w.headOf(i, j); k > i {
			n++
			c.Start, i = w.words[k].start, k
		}
		if i < j && w.namesNothing(i, j) {
			n++
			continue
		}
		kept = append(kept, c)
	}
	w.cands = kept
	return n
}

// namedAfterDay returns the head of a centre that is named after the day in
// words [i, j) of a date: Hospital 14 de abril, H. 2 de mayo; j if there is none.
func (w *worker) namedAfterDay(c *candidate, i, j int) int {
	if c.Category != w.labels.date || c.Category == pipeline.None || j-i < 2 || w.words[j-1].is(digits) {
		return j
	}
	head := i - 1
	if !w.words[i].is(digits) {
		head = i
	}
	if head < 0 || !w.words[head+1].is(digits) || !w.linked(head, w.byteAt(w.words[head].end) == '.') || !w.headAt(head) {
		return j
	}
	return head
}

// headAt tells whether word k is the head of a centre's name: Hospital, H., Hº.
func (w *worker) headAt(k int) bool {
	x := &w.words[k]
	return x.class&institution != 0 || w.houseAt(k)
}

// houseAt tells whether word k is short for a centre: a capital with a full
// stop or an ordinal sign.
func (w *worker) houseAt(k int) bool {
	x := &w.words[k]
	return x.class&house != 0 && x.is(capital) && (x.end-x.start > 1 || w.byteAt(x.end) == '.') && k+1 < len(w.words) && w.linked(k, true)
}

// centreAsName tells whether what the model took for a name begins with the
// head of a centre: H. Isabel Robles.
func (w *worker) centreAsName(c *candidate, i, j int) bool {
	return w.isPerson(c.Category) && j-i >= 2 && w.words[i].is(capital) && w.headAt(i) && !w.namesNothing(i, j) &&
		!w.inLexicon(w.Lexicons.Surnames, i)
}

// headOf returns the head of the centre in words [i, j) when what stands before
// it is a part of the centre: Unidad de Crónicos del Hospital Alba. It is i
// otherwise.
func (w *worker) headOf(i, j int) int {
	first := i
	for first < j && w.words[first].class&(particle|of) != 0 {
		first++
	}
	if first == j || w.words[first].class&service == 0 {
		return i
	}
	for k := first + 1; k+1 < j; k++ {
		if w.words[k].class&institution != 0 && w.words[k].is(capital) && w.words[k+1].is(capital) {
			return k
		}
	}
	return i
}

// titled tells whether word i is a title or follows one, and so begins the name
// of a person: "Dra. Montero", "(Dr. Campos)".
func (w *worker) titled(i int) bool {
	if w.words[i].class&title == 0 {
		i--
	}
	return i >= 0 && w.words[i].class&title != 0 && i+1 < len(w.words) && w.linked(i, true) && !w.inPlaceName(i) &&
		w.words[i+1].class&(institution|organisation|street|article) == 0
}

func (w *worker) isPlace(c pipeline.Category) bool {
	return c != pipeline.None && (c == w.labels.place || c == w.labels.centre || c == w.labels.institute)
}

// placeEnd returns the first word within (i, j) that cannot belong to the place
// which begins with word i, j if there is none.
func (w *worker) placeEnd(i, j int) int {
	for k := i + 1; k < j; k++ {
		x := &w.words[k]
		switch {
		case k >= i+2 && x.class&breaker != 0 && !x.is(capital) && w.words[k-1].is(capital),
			k >= i+2 && x.class&opener != 0 && x.is(capital) && w.words[k-1].class&particle == 0 && x.is(lower):
			return k
		case k == j-1 && k >= i+2 && (x.class&particle != 0 && x.end-x.start > 1 || x.class&title != 0) && w.words[k-1].is(capital):
			return k // Centro Alba El
		case x.class&weekday != 0, x.class&unit != 0 && k+1 < len(w.words) && w.words[k+1].is(digits):
			return w.overArticle(i, k)
		case x.is(digits) && k >= i+3 && w.words[k-1].class&particle != 0 && w.text[w.words[k-2].start]|0x20 == 'a' &&
			w.words[k-2].end-w.words[k-2].start == 1: // a las 10
			return k - 2
		case x.is(digits) && k >= i+3 && w.words[k-1].class&particle != 0 && w.words[k-1].class&of == 0 && w.words[k-2].is(capital):
			return k - 1 // Instituto Sol del 27 al
		case k == i+1 && w.words[i].class&institution != 0 && w.byteAt(w.words[i].end) != '.' && !w.touches(i):
			return k // ambulatorio, dolor
		case x.class&title != 0 && w.words[k-1].is(capital) && w.words[k-1].is(lower) &&
			w.words[k-1].class&(institution|organisation|street|general|bond) == 0 && w.titleAt(k):
			return k
		}
	}
	return j
}

// overArticle returns the word before k where that is "el" or "del", if it is
// not word i.
func (w *worker) overArticle(i, k int) int {
	if k-1 > i && w.words[k-1].class&particle != 0 {
		return k - 1
	}
	return k
}

// namesNothing tells whether the words [i, j) are figures, but for a postal
// code, particles, or the head of a centre without a name. Two heads are a name:
// Hospital Clínic.
func (w *worker) namesNothing(i, j int) bool {
	if w.numeric(i, j) {
		return j-i > 1 || w.words[i].end-w.words[i].start != 5
	}
	heads, seen := 0, class(0)
	for k := i; k < j; k++ {
		x := &w.words[k]
		if x.class&(institution|organisation) != 0 {
			heads++
		} else if x.class&(general|particle|of) == 0 && (x.class&specialty == 0 || seen&general == 0) &&
			(x.class&kindWord == 0 || x.is(capital) && j-i == 2) || k > i && x.class&general != 0 && x.is(capital) &&
			w.words[k-1].class&of == 0 && w.words[k-1].class&particle != 0 {
			return false // Clínica la Salud
		}
		seen |= x.class
	}
	return heads < 2
}

// begunBy returns the category of what a word of these classes begins.
func (w *worker) begunBy(c class) pipeline.Category {
	switch {
	case c&street != 0 && w.labels.street != pipeline.None:
		return w.labels.street
	case c&organisation != 0:
		return w.labels.institute
	case c&(institution|street) != 0:
		return w.labels.centre
	}
	return pipeline.None
}

// addInitials lengthens the model's names by what belongs to them: an initial
// before (M. Eugenia, M.a Teresa) and the second half of a hyphenated word.
func (w *worker) addInitials() int {
	n := 0
	for c := range w.cands {
		s := &w.cands[c]
		if !w.isPerson(s.Category) {
			continue
		}
		start, end := s.Start, s.End
		i, j := w.wordsIn(start, end)
		if i > 0 && i < j && w.initialBefore(i) {
			s.Start = w.words[w.firstInitial(i)].start
		}
		if 0 < j && j < len(w.words) && w.words[j-1].end == s.End && w.byteAt(s.End) == '-' && w.words[j].start == s.End+1 && !w.words[j].is(digits) &&
			w.words[j].class&specialty == 0 {
			s.End = w.words[j].end
		}
		if s.Start != start || s.End != end {
			n++
		}
	}
	return n
}

// initialBefore tells whether a capital with a full stop stands before word i,
// also as the first half of M.a for María.
func (w *worker) initialBefore(i int) bool {
	x := &w.words[w.firstInitial(i)]
	if x.class&shortTitle != 0 && w.inLexicon(w.Lexicons.GivenNames, i) {
		return false // D. Juan
	}
	return w.firstInitial(i) < i && x.is(capital) && x.end-x.start == 1 && w.byteAt(x.end) == '.' && w.linked(i-1, true)
}

func (w *worker) firstInitial(i int) int {
	if x := &w.words[i-1]; i >= 2 && x.end-x.start == 1 && x.is(lower) && x.start == w.words[i-2].end+1 && w.byteAt(x.start-1) == '.' {
		return i - 2
	}
	return i - 1
}

// longestPlace is how many words the name of a country or province has at
// most.
const longestPlace = 5

// findPlaces proposes names of countries and provinces that are written with
// a capital. On MEDDOCAN train 32 of the 35 that a tagger missed are PHI, in
// NUBes 45 of 45 that were read; names of towns are left to the model, since 65
// of 109 were abbreviations and scales (CEA, Glasgow).
func (w *worker) findPlaces() int {
	n := 0
	if w.labels.place == pipeline.None {
		return 0
	}
	behind := 0 // the place before
	for _, at := range w.capitals {
		k := int(at)
		if k < behind || w.words[k].end-w.words[k].start > 3 != w.words[k].is(lower) {
			continue // neither GARCIA nor Usa
		}
		end, c := w.placeAt(k)
		if end > k {
			w.propose(w.words[k].start, w.words[end-1].end, c, byRule)
			n++
			behind = end
		}
	}
	return n
}

// placeAt returns the end of the longest place that starts at word k. Its words
// have capitals, but for particles.
func (w *worker) placeAt(k int) (end int, c pipeline.Category) {
	end = k
	c, begins := w.oneWordPlace(k)
	if c != pipeline.None {
		end = k + 1
	}
	if !begins && k+1 < len(w.words) && w.words[k].end < w.words[k+1].start {
		return end, c // glued words are one word of a list
	}
	for j := k + 1; j < min(k+longestPlace, len(w.words)) && w.touch(j-1); j++ {
		x := &w.words[j]
		if !x.is(capital) {
			if x.class&particle == 0 {
				break
			}
			continue
		}
		if as := w.placeOf(w.text[w.words[k].start:x.end]); as != pipeline.None {
			end, c = j+1, as
		}
	}
	return end, c
}

// placeOf returns the category of a phrase that is a country or province.
func (w *worker) placeOf(phrase []byte) pipeline.Category {
	country := in(w.Lexicons.Countries, phrase)
	switch {
	case country && w.labels.country != pipeline.None:
		return w.labels.country
	case country || in(w.Lexicons.Provinces, phrase):
		return w.labels.place
	}
	return pipeline.None
}

// knownPlaces is how many words the answers of placeOf are kept for.
const knownPlaces = 1 << 14

// placeBegins marks a kept answer of a word that longer places begin with.
const placeBegins = 1 << 16

// oneWordPlace is placeOf word k, and whether a longer place may begin with it.
// Most capitals start a sentence and come again and again, so that answers are
// kept: 0.6 to 0.2 µs a note of NUBes. In notes all in capitals every pair of
// short words was looked up too, before the heads were known: a third of the
// stage on an archive in which one note in eight is.
func (w *worker) oneWordPlace(k int) (c pipeline.Category, begins bool) {
	x := &w.words[k]
	if x.place == 0 {
		x.fold(w.text)
		x.place = w.recalledPlace(x) | placeAsked
		w.keep(x)
	}
	return pipeline.Category(x.place &^ (placeBegins | placeAsked)), x.place&placeBegins != 0
}

// recalledPlace is oneWordPlace for a word of which the reader knows nothing.
func (w *worker) recalledPlace(x *word) int32 {
	kept, ok := w.places.get(x.hash)
	if ok {
		return kept
	}
	if len(w.places.used) >= knownPlaces {
		w.places.reset()
	}
	word := w.text[x.start:x.end]
	kept = int32(w.placeOf(word))
	if w.Lexicons.PlaceHeads == nil || w.Lexicons.PlaceHeads.Contains(word) {
		kept |= placeBegins
	}
	w.places.put(x.hash, kept)
	return kept
}

func in(l Lexicon, phrase []byte) bool { return l != nil && l.Contains(phrase) }

// completeBorders adds to spans what the annotation of reports counts in: the
// country letter and the second half of postal codes (E-28015, 04005-005),
// the full stop of initials (D.F.), a closing quotation mark, the República of a country.
func (w *worker) completeBorders() int {
	n := 0
	for s := range w.spans {
		span := &w.spans[s]
		from, to := int32(0), int32(len(w.text))
		if s > 0 {
			from = w.spans[s-1].End
		}
		if s+1 < len(w.spans) {
			to = w.spans[s+1].Start
		}
		start, end := w.completed(span, from, to)
		if start != span.Start || end != span.End {
			span.Start, span.End = start, end
			n++
		}
	}
	return n
}

// completed returns the borders of a span that may grow within [from, to).
func (w *worker) completed(s *pipeline.Span, from, to int32) (start, end int32) {
	start, end = s.Start, s.End
	i, j := w.wordsIn(start, end)
	if i == j {
		return start, end
	}
	if s.Category == w.labels.place && w.words[i].is(digits) {
		start, end = w.wholeCode(i, j, start, end)
	}
	if s.Category == w.labels.country && i > 0 && w.words[i-1].class&republic != 0 && w.touch(i-1) {
		start = w.words[i-1].start
	}
	end += w.closing(start, end)
	if start < from || end > to {
		return s.Start, s.End
	}
	return start, end
}

// wholeCode lengthens a postal code.
func (w *worker) wholeCode(i, j int, start, end int32) (int32, int32) {
	first := &w.words[i]
	if i > 0 && first.end-first.start == 5 {
		x := &w.words[i-1]
		gap := w.text[x.end:first.start]
		if x.end-x.start == 1 && w.text[x.start] == 'E' && len(gap) == 1 && (gap[0] == '-' || gap[0] == ' ') {
			start = x.start
		}
	}
	if j == i+1 && j < len(w.words) && w.words[j].is(digits) && w.words[j].end-w.words[j].start == 3 &&
		w.words[j].start == end+1 && w.text[end] == '-' {
		end = w.words[j].end
	}
	return start, end
}

// closing returns how many bytes behind a span close it.
func (w *worker) closing(start, end int32) int32 {
	s := w.text[start:end]
	switch next := w.byteAt(end); {
	case next == '.' && initials(s):
		return 1
	case next == '"' && bytes.Count(s, []byte(`"`))%2 == 1:
		return 1
	}
	return 0
}
