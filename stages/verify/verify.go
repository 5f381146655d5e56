// Package verify is the last look at a masked note before it may leave. In:
// Text, Spans, Masked, Places. Out: a Reason for every note that is not clean; write
// then keeps the note back.
//
// It looks twice, at the normalized view of the masked text (models/word/view), and
// trusts nothing else that worked on the note before: it shares no table and no
// code with models/form/patterns, and does not ask what resolve did about repeats.
//
// First look: can a masked value still be read? What counts as surviving was
// weighed so that the answer is strict and yet does not quarantine every
// report: of MEDDOCAN train's 500 with their gold spans masked, 14 hold a
// surviving value (8 of them a name, place or number that the gold missed)
// and one an identifier:
//
//   - the whole value of a span, three letters or digits or more, on word
//     borders, folded for case, accents, spacing and punctuation: Pérez-Gil is
//     found in "PEREZ GIL";
//   - of names also every single word of three letters or more that is no
//     particle: a surname left alone tells as much as the whole name. Words that
//     names share with the language (blanco, dolores) count when they begin
//     with a capital;
//   - numbers of five digits or more, whatever signs stand between the digits;
//   - ages, sexes, dates and kinship only as a whole value of six letters or
//     digits or more: "5 años" is a duration elsewhere in the same note, "2014"
//     a value, "hija" a word;
//   - a value made of nothing but words like "hospital" or "de" is none.
//
// Second look: strict forms of identifiers in the masked text, with right
// check digits where there are any, so that it hardly ever fires on a sound
// note: DNI, NIE and CIF, NASS, IBAN, accounts, payment cards, IMEI, CIP, in
// pieces and glued to words alike (pieces.go); e-mail, URL, Spanish telephones
// with prefix or behind a word that announces one. Of 2,922 reports (CANTEMIST,
// MEDDOCAN train) 4 are kept back for one, as before it read pieces.
//
// Last, what was not found must stand in the masked text as it was, between the
// places and nowhere else, so that a wrong place cannot hide anything. A note
// that passes all is sealed, and write takes no other.
package verify

import (
	"bytes"
	"errors"
	"time"

	"github.com/velum-health/velum/models/word/view"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/guard"
)

// Options holds the options of the stage. The zero value is the strict default.
type Options struct {
	Workers int // 0 means 1

	// Kept are the categories that the policy leaves readable. Neither their values nor identifiers of their form are
	// looked for.
	Kept []pipeline.Category

	// Shuffled are the categories whose values are replaced by those of other notes. No place in the masked text may
	// hold a value of the note itself, however short or common.
	Shuffled []pipeline.Category

	NoteTimeout time.Duration // for a long note, see guard.Clock; 0: none
}

// The least number of letters and digits of a value that is looked for: initials and two-letter words occur in every note
// by chance. Of soft categories (dates, ages, professions, traits) a value must have as many as
// the longest frequent duration ("10 años").
const (
	minValue = 3
	minSoft  = 6
)

// New returns the stage.
func New(o Options) pipeline.Step {
	rules := newRules(o)
	return pipeline.Step{Name: "verify", Workers: o.Workers, New: func() func(*pipeline.Batch) error {
		return (&verifier{rules: rules, clock: guard.Clock{Limit: o.NoteTimeout}}).do
	}}
}

var errColumns = errors.New("a batch without spans, masked text or places: verify comes behind mask")

// do looks at every note that has no Reason yet. One guard serves the whole
// batch: a panic costs the note that it happened on.
func (v *verifier) do(b *pipeline.Batch) error {
	if b.Spans.Len() != b.Len() || b.Masked.Len() != b.Len() || b.Places.Len() != b.Len() {
		return errColumns
	}
	for v.at = 0; v.at < b.Len(); v.at++ {
		if guard.Note(func() { v.notes(b) }) {
			b.Quarantine(v.at, pipeline.Panicked)
			v.forget()
		}
	}
	return nil
}

// notes looks at the notes from v.at on.
func (v *verifier) notes(b *pipeline.Batch) {
	for ; v.at < b.Len(); v.at++ {
		if b.Reason[v.at] != pipeline.Sound {
			continue
		}
		text := b.Text.At(v.at)
		v.clock.Start(len(text))
		r := v.note(text, b.Spans.At(v.at), b.Masked.At(v.at), b.Places.At(v.at))
		switch {
		case r != pipeline.Sound:
			b.Quarantine(v.at, r)
		case v.clock.Over():
			b.Quarantine(v.at, pipeline.TimedOut)
		default:
			b.Seal(v.at)
		}
	}
}

// note returns why the note may not leave, or Sound.
func (v *verifier) note(text []byte, spans []pipeline.Span, masked []byte, places []pipeline.Span) pipeline.Reason {
	for k, s := range spans {
		if int(s.Category) >= pipeline.Categories() || int(s.Source) >= pipeline.SpanSources() {
			v.forget()
			return pipeline.BadTags
		}
		v.span = k
		seen, _ := v.seen(text[s.Start:s.End])
		v.value(seen, s.Category)
	}
	seen, from := v.seen(masked)
	v.places = v.placed.Spans(from, places)
	r := v.look(seen)
	v.forget()
	if r == pipeline.Sound && !intact(text, spans, masked, places) {
		return pipeline.ChangedText
	}
	if r == pipeline.Sound && v.anyShuffled && v.returned(text, spans, masked, places) {
		return pipeline.SurvivingValue
	}
	return r
}

// returned reports whether a place in the masked text holds a shuffled value that this note had itself, for any span of
// that category. Spans and places must have been matched before.
func (v *verifier) returned(text []byte, spans []pipeline.Span, masked []byte, places []pipeline.Span) bool {
	own := map[string]bool{}
	key := func(c pipeline.Category, value []byte) []byte {
		seen, _ := v.seen(value)
		return foldWords([]byte{byte(c)}, seen)
	}
	for _, s := range spans {
		if v.shuffled[s.Category] {
			own[string(key(s.Category, text[s.Start:s.End]))] = true
		}
	}
	for _, p := range places {
		if v.shuffled[p.Category] && p.Start < p.End && own[string(key(p.Category, masked[p.Start:p.End]))] {
			return true
		}
	}
	return false
}

// seen returns the normalized view of text and where it comes from, nil for
// plain text; good until the next one.
func (v *verifier) seen(text []byte) (seen []byte, from []int32) {
	if view.Plain(text) {
		return text, nil
	}
	v.scratch, v.from = view.Append(v.scratch[:0], v.from[:0], text)
	return v.scratch, v.from
}

// intact tells whether everything outside the spans stands in the masked text
// outside the places, and nothing else does.
func intact(text []byte, spans []pipeline.Span, masked []byte, places []pipeline.Span) bool {
	if len(spans) != len(places) {
		return false
	}
	old, now := 0, 0
	for i, s := range spans {
		p := places[i]
		if int(p.Start) < now || p.End < p.Start || int(p.End) > len(masked) || !bytes.Equal(text[old:s.Start], masked[now:p.Start]) {
			return false
		}
		old, now = int(s.End), int(p.End)
	}
	return bytes.Equal(text[old:], masked[now:])
}
