package resolve

import (
	"math/bits"

	"github.com/velum-health/velum/models/tag/overlap"
)

// table maps hashes to small numbers. It is emptied in time proportional to
// what it holds, so that one long note does not slow down the short ones that
// follow it (a Go map is cleared in proportion to its size).
type table struct {
	keys   []uint64
	values []int32
	used   []int32 // filled slots
}

// slot spreads a polynomial hash, whose low bits know only the last letters.
func (t *table) slot(h uint64) uint64 {
	return (h * 0xD6E8FEB86659FD93) >> (64 - bits.Len(uint(len(t.keys)-1)))
}

func (t *table) get(h uint64) (int32, bool) {
	if len(t.used) == 0 {
		return 0, false
	}
	h = max(h, 1)
	for i := t.slot(h); ; i = (i + 1) & uint64(len(t.keys)-1) {
		switch t.keys[i] {
		case h:
			return t.values[i], true
		case 0:
			return 0, false
		}
	}
}

// put keeps the first value of a key.
func (t *table) put(h uint64, v int32) {
	if 2*len(t.used) >= len(t.keys) {
		t.grow()
	}
	h = max(h, 1)
	i := t.slot(h)
	for t.keys[i] != 0 {
		if t.keys[i] == h {
			return
		}
		i = (i + 1) & uint64(len(t.keys)-1)
	}
	t.keys[i], t.values[i] = h, v
	t.used = append(t.used, int32(i))
}

func (t *table) grow() {
	old := *t
	n := max(2*len(old.keys), 64)
	*t = table{keys: make([]uint64, n), values: make([]int32, n), used: make([]int32, 0, n)}
	for _, i := range old.used {
		t.put(old.keys[i], old.values[i])
	}
}

func (t *table) reset() {
	for _, i := range t.used {
		t.keys[i] = 0
	}
	t.used = t.used[:0]
}

// longestPhrase bounds the folded bytes of a phrase or repeated value, and so
// the work at one word.
const longestPhrase = 128

// phrases finds phrases of one or more words at a word.
type phrases struct {
	entries table
	lengths [longestPhrase + 1]bool // lengths in folded bytes that occur
	longest int32
}

// addText adds a phrase as it is written in a configuration. It tells false
// if the phrase has no word or too many.
func (p *phrases) addText(t *wordTable, phrase string, value int32) bool {
	return p.add(t.phrase(phrase), value)
}

// add adds the words as one phrase.
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
	p.entries.put(h, value)
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
		if v, ok := p.entries.get(h); ok {
			end, value = k+1, v
		}
	}
	return end, value
}

func (p *phrases) reset() {
	if p.longest == 0 {
		return
	}
	p.entries.reset()
	clear(p.lengths[:p.longest+1])
	p.longest = 0
}

// always adds candidates for the phrases of the always-mask list.
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
