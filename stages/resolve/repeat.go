package resolve

import "github.com/velum-health/velum/pipeline"

// shortestValue is how many letters or digits a repeated value has at least:
// what verify looks for in the masked text.
const shortestValue = 3

// shortestPart is how many letters a repeated single word of a name has at
// least. Shorter ones are mostly particles and abbreviations.
const shortestPart = 4

// repeater finds the other places of what was found. It is one worker's
// scratch.
type repeater struct {
	wholes phrases // value: index of the first span with it
	parts  phrases // single word: the same
}

// repeats masks the values of w.spans, and the single words of names, at
// their other places in the note. Values are compared as folded words, so
// that case, accents and what stands between the words do not matter; they
// start and end on word borders. Time is linear in the words of the note: at
// a word at most longestPhrase bytes are looked at.
//
// A word of a name that was found as a name by itself is a value then, and
// looked for once more in any spelling: verify lets no masked value stand.
func (w *worker) repeats() {
	if w.repeatOnce() {
		w.repeatOnce()
	}
}

// repeatOnce tells whether it found a single word of a name.
func (w *worker) repeatOnce() (parts bool) {
	w.index()
	if w.wholes.longest == 0 && w.parts.longest == 0 {
		return false
	}
	found := w.spans
	k := 0 // first span that ends behind word i
	for i := 0; i < len(w.words); i++ {
		for k < len(found) && found[k].End <= w.words[i].start {
			k++
		}
		if k < len(found) && found[k].Start < w.words[i].end {
			continue // masked already
		}
		stop := int32(len(w.text)) // values end before the next span
		if k < len(found) {
			stop = found[k].Start
		}
		end, from := w.wholes.find(w.words, i, stop)
		if end == i {
			end, from = w.partAt(i)
			parts = parts || end > i
		}
		if end == i {
			continue
		}
		w.spans = append(w.spans, pipeline.Span{
			Start: w.words[i].start, End: w.words[end-1].end,
			Score: found[from].Score, Category: found[from].Category, Source: pipeline.FromRepeat,
		})
		i = end - 1
	}
	if len(w.spans) > len(found) {
		sortSpans(w.spans)
	}
	w.wholes.reset()
	w.parts.reset()
	return parts
}

// index keeps the values and words that are looked for.
func (w *worker) index() {
	w.foldAll()
	k := 0
	for s := range w.spans {
		span := &w.spans[s]
		if !w.repeat[span.Category] && !w.part[span.Category] {
			continue
		}
		for k < len(w.words) && w.words[k].end <= span.Start {
			k++
		}
		first, length := k, int32(0)
		for k < len(w.words) && w.words[k].start < span.End {
			length += w.words[k].length
			if w.part[span.Category] && w.isPart(k) {
				w.parts.add(w.words[k:k+1], int32(s))
			}
			k++
		}
		if w.repeat[span.Category] && length >= shortestValue {
			w.wholes.add(w.words[first:k], int32(s))
		}
	}
}

// isPart tells whether word k of a name is worth looking for on its own.
func (w *worker) isPart(k int) bool {
	x := &w.words[k]
	return x.length >= shortestPart && !x.is(digits) && x.class&(title|shortTitle|particle|article|relative|institution) == 0 &&
		!w.inLexicon(w.Lexicons.Common, k) && !w.inNever(k)
}

// inNever tells whether word k alone is a phrase of the never list.
func (w *worker) inNever(k int) bool {
	if end, _ := w.never.find(w.words, k, w.words[k].end); end > k {
		return true
	}
	for i := range w.Lexicons.Never {
		if w.inLexicon(w.Lexicons.Never[i], k) {
			return true
		}
	}
	return false
}

// partAt tells whether word i is a word of a name found elsewhere. It must be
// written as a name here, or be known as one.
func (w *worker) partAt(i int) (end int, from int32) {
	end, from = w.parts.find(w.words, i, w.words[i].end)
	if end == i || w.words[i].is(capital) || w.inLexicon(w.Lexicons.GivenNames, i) || w.inLexicon(w.Lexicons.Surnames, i) {
		return end, from
	}
	return i, 0
}
