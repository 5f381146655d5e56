package resolve

import (
	"github.com/velum-health/velum/models/tag/overlap"
)

// longestPhrase bounds the folded bytes of a phrase or repeated value, and so
// the work at one word.
const longestPhrase = 128

// phrases finds phrases of one or more words at a word.
type phrases struct {
	entries map[uint64]int32        // by the hash of its words
	lengths [longestPhrase + 1]bool // lengths in folded bytes that occur
	longest int32
}

// add adds the words as one phrase. It tells false if there is no word or too many.
func (p *phrases) add(words []word, value int32) bool {
	h, n := uint64(0), int32(0)
	for i := range words {
		h = join(h, &words[i])
		n += words[i].length
		if n > longestPhrase {
			return false
		}
	}
	if n == 0 {
		return false
	}
	if p.entries == nil {
		p.entries = map[uint64]int32{}
	}
	if _, known := p.entries[h]; !known {
		p.entries[h] = value
	}
	p.lengths[n] = true
	p.longest = max(p.longest, n)
	return true
}

// find returns the end (a word's index) and the value of the longest phrase
// that starts at word i and ends at byte stop or before; end is i if there is
// none.
func (p *phrases) find(words []word, i int, stop int32) (end int, value int32) {
	end = i
	h, n := uint64(0), int32(0)
	for k := i; k < len(words); k++ {
		h = join(h, &words[k])
		n += words[k].length
		if n > p.longest || words[k].end > stop {
			break
		}
		if !p.lengths[n] {
			continue
		}
		if v, ok := p.entries[h]; ok {
			end, value = k+1, v
		}
	}
	return end, value
}

// mostKept is the largest number of phrases for which a map is kept for the next note.
const mostKept = 64

func (p *phrases) reset() {
	if p.longest == 0 {
		return
	}
	if len(p.entries) > mostKept {
		p.entries = nil // to clear a map takes as long as it once was large, and most notes are short
	}
	clear(p.entries)
	clear(p.lengths[:p.longest+1])
	p.longest = 0
}

// addAlways adds candidates for the phrases of the always-mask list.
func (w *worker) addAlways() {
	w.foldAll()
	for i := 0; i < len(w.words); i++ {
		end, entry := w.always.find(w.words, i, int32(len(w.text)))
		if end == i {
			continue
		}
		w.propose(w.words[i].start, w.words[end-1].end, w.alwaysAs[entry], byList)
		w.counts.Always[entry]++
		i = end - 1
	}
}

// dropNever removes what the model took for PHI and is only an eponym, a drug
// or another phrase of the never list. A title or a given name beside it makes
// it a person again.
func (w *worker) dropNever() {
	kept := w.cands[:0]
	for i, c := range w.cands {
		if w.besideUntyped(i) || !w.isNever(&c) {
			kept = append(kept, c)
		}
	}
	w.cands = kept
}

// besideUntyped tells whether candidate i is an untyped one that another touches:
// a part of a name, which may be called as an eponym is (Lobo Rot), for an inverse
// tagger gives each word a span of its own.
func (w *worker) besideUntyped(i int) bool {
	if !isUntyped(&w.cands[i].Span) {
		return false
	}
	touches := func(left, right int) bool {
		return left >= 0 && right < len(w.cands) && isUntyped(&w.cands[left].Span) && isUntyped(&w.cands[right].Span) &&
			w.cands[right].Start-w.cands[left].End <= 1
	}
	return touches(i-1, i) || touches(i, i+1)
}

// neverContext is how many words before a span a phrase of the never list may
// start: "enfermedad de Parkinson" covers "Parkinson".
const neverContext = 4

// neverWords is the longest span that is looked up in the lexicons.
const neverWords = 6

func (w *worker) isNever(c *overlap.Candidate) bool {
	i, j := w.wordsIn(c.Start, c.End)
	if i == j || w.namedBeside(i, j) {
		return false
	}
	if w.eponymAt(i) && w.isPerson(c.Category) {
		return true
	}
	if w.never.longest > 0 {
		w.foldAll()
		for s := i; s >= max(i-neverContext, 0); s-- {
			if end, entry := w.never.find(w.words, s, int32(len(w.text))); end >= j && end > s {
				w.counts.Never[entry]++
				return true
			}
		}
	}
	if j-i > neverWords {
		return false
	}
	phrase := w.text[w.words[i].start:w.words[j-1].end]
	for k := range w.Lexicons.Never {
		if w.Lexicons.Never[k].Contains(phrase) {
			w.counts.NeverLists[k]++
			return true
		}
	}
	return false
}

// eponymAt tells whether word i follows what only eponyms follow: "tendón de
// Aquiles", "técnica antirreflujo de Gil Vernet".
func (w *worker) eponymAt(i int) bool {
	k := i - 1
	if k < 0 || !w.touch(k) {
		return false
	}
	if w.words[k].class&of == 0 {
		return w.words[k].class&eponymous != 0
	}
	for k--; k >= max(i-4, 0) && w.touch(k); k-- {
		if w.words[k].class&eponymous != 0 {
			return true
		}
		if w.words[k].is(capital) || w.words[k].class&(of|particle|until) != 0 {
			return false
		}
	}
	return false
}

// namedBeside tells whether a title or a given name stands directly beside
// the words [i, j).
func (w *worker) namedBeside(i, j int) bool {
	if i > 0 && w.titleAt(i-1) {
		return true
	}
	given := w.Lexicons.GivenNames
	if given == nil {
		return false
	}
	return i > 0 && w.touch(i-1) && w.isGiven(i-1) || j < len(w.words) && w.touch(j-1) && w.isGiven(j)
}

// isGiven tells whether word k is a given name and, unless it is written with
// a capital, nothing else.
func (w *worker) isGiven(k int) bool {
	return w.inLexicon(w.Lexicons.GivenNames, k) &&
		(w.words[k].is(capital) || !w.inLexicon(w.Lexicons.Common, k))
}

func (w *worker) inLexicon(l Lexicon, k int) bool {
	return l != nil && l.Contains(w.text[w.words[k].start:w.words[k].end])
}
