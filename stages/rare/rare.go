// Package rare finds facts that single a person out without a name: a rare disease, a rare office, being the first or
// only one, newspapers, a court case, an unusual family, an extreme body, an event with few survivors. It reads Text or
// View, Tokens and Spans. It fills Rare with such words outside of spans, or adds spans for them, or sets a Reason.
//
// The words and their frequencies in the population are in rule files (models/tag/rules), the first of them
// configs/rules/rare.atn. A note is judged by these public scores alone, so the result does not depend on other notes;
// frequencies in the archive are used when all units are done (models/release/rarity).
package rare

import (
	"bytes"
	"cmp"
	"slices"
	"unicode"

	"github.com/velum-health/velum/models/release/rarity"
	"github.com/velum-health/velum/models/tag/rules"
	"github.com/velum-health/velum/models/word/view"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/guard"
)

// Values of Options.Do: what happens to the words, and to the notes that hold them.
const (
	Off    = "off"    // nobody looks
	Review = "review" // they stay, and the worst notes are listed for a curator
	// they are spans, of the category that their network says: those of one person in a thousand, and all where a note stands alone
	Generalize = "generalize"
	Hold       = "hold" // a note that stands alone by them goes to quarantine, the others as in review
)

// Options holds the options of the stage. Packs are required.
type Options struct {
	Packs   []*rules.Pack
	Do      string  // Review, Generalize or Hold
	Alone   float64 // sum of scores from which a note counts as singling somebody out, see rarity.Alone
	Workers int     // 0 means 1
}

// New returns the stage.
func New(o Options) pipeline.Step {
	return pipeline.Step{Name: "rare", Workers: o.Workers, New: func() func(*pipeline.Batch) error {
		w := &worker{Options: o}
		for _, p := range o.Packs {
			w.machines = append(w.machines, p.NewMachine())
		}
		return w.do
	}}
}

// seldom is the score for something that is true of about one person in a thousand.
const seldom = 0.3

// worker is the scratch space of one goroutine.
type worker struct {
	Options
	machines []*rules.Machine
	placed   view.Placed
	finds    []rules.Find
	found    []pipeline.Span
	spans    pipeline.List[pipeline.Span] // of the batch, with what was found
}

// none is the category by which a network marks what reads like something rare and is not: it is dropped.
var none = pipeline.MustCategory("MISC")

func (w *worker) do(b *pipeline.Batch) error {
	w.spans.Reset()
	for i := range b.Len() {
		w.found = w.found[:0]
		if b.Reason[i] == pipeline.Sound && guard.Note(func() { w.find(b, i) }) {
			w.found = w.found[:0]
			b.Quarantine(i, pipeline.Panicked)
		}
		alone := rarity.Of(w.found) >= w.Alone
		if w.Do == Generalize {
			hidden := false
			w.found = slices.DeleteFunc(w.found, func(f pipeline.Span) bool {
				if f.Score > 0 { // the first piece of a find
					hidden = alone || f.Score >= seldom
				}
				return !hidden
			})
			first := len(w.spans.Items)
			w.spans.Items = append(append(w.spans.Items, b.Spans.At(i)...), w.found...)
			slices.SortFunc(w.spans.Items[first:], pipeline.ByStart)
			w.spans.End()
			continue
		}
		if w.Do == Hold && alone {
			b.Quarantine(i, pipeline.StandsAlone)
		}
		b.Rare.Append(w.found...)
	}
	if w.Do == Generalize {
		b.Spans, w.spans = w.spans, b.Spans
	}
	return nil
}

// find looks for words of note i that no span has.
func (w *worker) find(b *pipeline.Batch, i int) {
	text, from := b.Seen(i)
	tokens := w.placed.Tokens(from, b.Tokens.At(i))
	w.finds = w.finds[:0]
	for _, m := range w.machines {
		w.finds = append(w.finds, m.Finds(text, tokens)...)
	}
	if len(w.finds) == 0 {
		return
	}
	for _, f := range view.BackSpans(from, rules.Disjoint(nil, w.finds)) {
		if f.Category != none {
			w.pieces(f, b.Text.At(i), b.Spans.At(i))
		}
	}
}

// pieces finds what of a find no span has: of "alcalde de Vilassar" the town is masked. The first piece has its score, those
// behind it have none: together they are one find.
func (w *worker) pieces(f pipeline.Span, text []byte, spans []pipeline.Span) {
	at, _ := slices.BinarySearchFunc(spans, f.Start, func(s pipeline.Span, start int32) int { return cmp.Compare(s.End, start+1) })
	last := f.End
	for f.Start < last {
		next := last
		f.End = last
		if at < len(spans) && spans[at].Start < last {
			f.End, next = max(spans[at].Start, f.Start), spans[at].End
			at++
		}
		rest := bytes.TrimLeftFunc(text[f.Start:f.End], sign)
		f.Start = f.End - int32(len(rest))
		f.End = f.Start + int32(len(bytes.TrimRightFunc(rest, sign)))
		if f.Start < f.End {
			w.found = append(w.found, f)
			f.Score = 0
		}
		f.Start = next
	}
}

// sign reports whether a character is neither letter nor digit, so that it alone needs no masking.
func sign(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }
