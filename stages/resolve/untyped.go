package resolve

import (
	"slices"

	"github.com/velum-health/velum/models/tag/overlap"
	"github.com/velum-health/velum/pipeline"
)

// An inverse tagger says of each word by itself that it is not known to be
// safe, and of none what it is (INV §4.2). So its spans give way to whoever
// knows more: what another candidate covers has that one's category, and what
// is left stays PHI. Without this a winner would take all characters of what it
// beats, and a date the words around it.

// isUntyped tells whether a span says nothing of what it covers.
func isUntyped(s *pipeline.Span) bool {
	return s.Source == pipeline.FromModel && s.Category != pipeline.None && s.Category == untypedCategory
}

var untypedCategory = func() pipeline.Category {
	set, err := pipeline.Labels("untyped")
	if err != nil {
		panic("resolve: no label set untyped") // it is built in
	}
	return set.Categories[0]
}()

// cutUntyped takes out of the untyped candidates what others cover.
func (w *worker) cutUntyped() {
	w.strict = w.strict[:0]
	if !slices.ContainsFunc(w.cands, func(c overlap.Candidate) bool { return isUntyped(&c.Span) }) {
		return
	}
	w.typed = w.typed[:0]
	for _, c := range w.cands {
		if !isUntyped(&c.Span) {
			w.typed = append(w.typed, c.Span)
		}
	}
	sortSpans(w.typed)
	kept := w.cands[:0]
	w.cut = w.cut[:0]
	first := 0 // of the typed ones that may reach the next untyped one, which come in order
	for _, c := range w.cands {
		if !isUntyped(&c.Span) {
			kept = append(kept, c)
			continue
		}
		w.strict = append(w.strict, c.Span)
		rest := c.Span
		for first < len(w.typed) && w.typed[first].End <= rest.Start {
			first++
		}
		for _, t := range w.typed[first:] {
			if t.Start >= rest.End {
				break
			}
			if t.End <= rest.Start {
				continue
			}
			left := rest
			left.End = t.Start
			w.keepCut(left)
			rest.Start = t.End
		}
		if rest == c.Span {
			w.cut = append(w.cut, rest)
		} else {
			w.keepCut(rest)
		}
	}
	w.cands = kept
	for _, s := range w.cut {
		w.cands = append(w.cands, overlap.Candidate{Span: s, Rank: uint16(byModel)})
	}
}

// keepCut keeps what a typed candidate has left of an untyped one, if more than
// signs are left.
func (w *worker) keepCut(s pipeline.Span) {
	if s.Start >= s.End || overlap.Blank(w.text[s.Start:s.End]) {
		return
	}
	s.Start, s.End = overlap.WithoutSpaces(w.text, s.Start, s.End)
	w.cut = append(w.cut, s)
}

// joinUntyped makes one span of untyped ones that follow each other with
// nothing, or one blank, between them: [PHI] and not [PHI] [PHI] [PHI], which
// would tell how many words a name has.
func (w *worker) joinUntyped() {
	spans := w.spans
	if !slices.ContainsFunc(spans, func(s pipeline.Span) bool { return isUntyped(&s) }) {
		return
	}
	n := 0
	for i := range spans {
		s := spans[i]
		if n > 0 && isUntyped(&s) && isUntyped(&spans[n-1]) {
			if last := &spans[n-1]; s.Start == last.End || s.Start == last.End+1 && w.text[last.End] == ' ' {
				last.End, last.Score = s.End, max(last.Score, s.Score)
				continue
			}
		}
		spans[n] = s
		n++
	}
	w.spans = spans[:n]
}
