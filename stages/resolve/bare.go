package resolve

import (
	"bytes"

	"github.com/velum-health/velum/pipeline"
)

// longestBare is how many words a name has at most that nothing but its place in
// the sentence tells.
const longestBare = 3

// findBare proposes names without title or kin in Catalan sentences: behind
// "segons", before a verb that persons are the subject of ("Puig va dir"), and
// surnames of the lists amid a sentence. What is in the lists of eponyms, drugs,
// places or words, or behind what eponyms follow, is none. In Spanish notes the
// model knows these contexts from notes that were read.
func (w *worker) findBare() int {
	n := 0
	c := w.labels.person[0]
	if c == pipeline.None || w.Lexicons.Names == nil || !w.isCatalan() {
		return 0
	}
	behind := 0 // the run before
	for _, at := range w.capitals {
		k := int(at)
		if k < behind || !w.mayBeBare(k) {
			continue
		}
		end := w.bareFrom(k)
		if end == k {
			continue
		}
		if w.actsBare(k, end) && !w.proposed(w.words[k].start, w.words[end-1].end) {
			w.propose(w.words[k].start, w.words[end-1].end, c, byRule)
			n++
		}
		behind = end
	}
	return n
}

// isCatalan tells whether the note is Catalan.
func (w *worker) isCatalan() bool {
	return w.i < len(w.batch.Language) && w.batch.Language[w.i] == pipeline.Catalan
}

// mayBeBare is a quick no for most capitals: what actsBare wants of what stands
// around a name is not there. A particle may begin a longer run.
func (w *worker) mayBeBare(k int) bool {
	if k > 0 && (w.commaBehind(k-1) || w.words[k-1].class&(source|role|linking) != 0 && w.touches(k-1)) {
		return true
	}
	for j := k + 1; j < min(k+longestBare+2, len(w.words)); j++ {
		if w.words[j].class&acts != 0 {
			return true // at once, or behind an adverb
		}
	}
	return w.nobiliary(k)
}

// bareFrom returns the end of the run of words that begins at word k, which has a
// capital, and may be a name, k if none does.
func (w *worker) bareFrom(k int) int {
	if k > 0 && w.words[k-1].is(capital) && w.touches(k-1) && (w.partOfName(k-1) != 0 || k > 1 && w.touches(k-2)) && w.words[k-1].class&source == 0 {
		return k
	}
	end := k
	for end < min(k+longestBare, len(w.words)) && (end == k || w.touches(end-1)) && (w.maybeBare(end) || w.nobiliary(end)) {
		end++
	}
	if end > k && (w.nobiliary(end-1) || w.byteAt(w.words[end-1].end) == 0xC2) { // Pal·liatives
		return k
	}
	if end > k && end < len(w.words) && w.touches(end-1) && w.words[end].is(capital) {
		return k // a part of something longer
	}
	return end
}

// nobiliary tells whether word k is a particle with a capital that begins a
// surname: Van Gaal.
func (w *worker) nobiliary(k int) bool {
	x := &w.words[k]
	return x.class&nobiliary != 0 && x.is(capital) && x.is(lower) && k+1 < len(w.words) && w.touches(k) && w.words[k+1].is(capital)
}

// maybeBare tells whether word k may be part of a name that stands by itself.
func (w *worker) maybeBare(k int) bool {
	x := &w.words[k]
	return x.is(capital) && x.is(lower) && x.end-x.start >= 3 && w.goesOn(k) && x.class&(month|weekday|service|opener|breaker|person|patient|unit|acts|source|place|particle|region|comesFrom|namesake) == 0 &&
		w.partOfName(k)&(given|family|unknown) != 0 && !w.inLexicon(w.Lexicons.Common, k) && !w.inNever(k)
}

// actsBare tells whether what stands around the words [i, end) is said of
// persons.
func (w *worker) actsBare(i, end int) bool {
	all := part(0)
	for k := i; k < end; k++ {
		all |= w.partOfName(k)
	}
	before := i > 0 && w.touches(i-1)
	if before && w.words[i-1].class&(institution|organisation|street|eponymous|region|comesFrom|heading|title) != 0 || w.eponymAt(i) {
		return false
	}
	switch {
	case before && w.words[i-1].class&(source|role) != 0:
		return all&(given|family) != 0 || !w.hasTown(i, end)
	case w.actsBehind(end) && (!before || w.words[i-1].class&determiner == 0):
		return (all&(given|family) != 0 || !w.endsAsNoun(end-1)) && (all&family != 0 && !before || !w.hasTown(i, end))
	case w.words[end-1].end-w.words[i].start < shortestPart, all&(given|family) == 0:
		return false
	case before:
		return w.words[i-1].class&linking != 0 && !w.hasTown(i, end) // not an article, which eponyms have too: el Parkinson
	}
	return end-i >= 2 && i > 0 && w.commaBehind(i-1) && end < len(w.words) && w.byteAt(w.words[end-1].end) == ',' && !w.hasTown(i, end)
}

// hasTown tells whether one of the words [i, end) is a place of the lists.
func (w *worker) hasTown(i, end int) bool {
	for k := i; k < end; k++ {
		if w.words[k].class&particle == 0 && (w.inLexicon(w.Lexicons.Towns, k) || w.inLexicon(w.Lexicons.Provinces, k) || w.inLexicon(w.Lexicons.Countries, k)) {
			return true
		}
	}
	return false
}

// actsBehind tells whether a verb of persons stands at word k, or one adverb
// further on.
func (w *worker) actsBehind(k int) bool {
	for range 2 {
		if k == 0 || k >= len(w.words) || !w.linkedPlace(k-1) && !w.touch(k-1) || w.words[k].is(capital) {
			return false
		}
		if w.words[k].class&acts != 0 {
			return true
		}
		if w.words[k].class&adverb == 0 {
			return false
		}
		k++
	}
	return false
}

// endsAsNoun tells whether word k ends as common nouns of reports do.
func (w *worker) endsAsNoun(k int) bool {
	for _, e := range w.Words[nounEndings] {
		if bytes.HasSuffix(w.text[w.words[k].start:w.words[k].end], []byte(e)) {
			return true
		}
	}
	return false
}

// joinNamesakes joins a hospital with the doctor after whom it is named: "Gran
// Canaria Dr. Negrín" is one place and tells of no doctor.
func (w *worker) joinNamesakes() int {
	n := 0
	kept := w.spans[:0]
	for _, s := range w.spans {
		i, j := w.wordsIn(s.Start, s.End)
		if len(kept) > 0 && (j == i+1 || j == i+2) && w.isPerson(s.Category) && w.words[j-1].class&namesake != 0 && i >= 2 && w.words[i-1].class&title != 0 {
			last := &kept[len(kept)-1]
			head, after := w.wordsIn(last.Start, last.End)
			if w.isPlace(last.Category) && after == i-1 && w.headAt(head) && w.touch(i-2) {
				last.End = s.End
				n++
				continue
			}
		}
		kept = append(kept, s)
	}
	w.spans = kept
	return n
}
