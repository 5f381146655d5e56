// Package mask writes the masked text of every note. In: Text, Spans. Out:
// Masked, and a Reason for notes whose spans cannot be trusted.
//
// The masked text is built anew, gap by gap: everything that was not found is
// copied once, byte for byte, and everything that was found is written by an
// [Operator]. Patching a copy in place was ruled out: what is forgotten there
// stays readable, what is forgotten here is missing.
//
// What an operator is for which category is the policy. A category that the
// policy does not name gets the default, and the default's default is the
// placeholder: an omission in a configuration hides a value, never shows one.
package mask

import (
	"errors"
	"unicode/utf8"

	"github.com/velum-health/velum/pipeline"
)

// Options of the stage. The zero value writes placeholders.
type Options struct {
	Policy  map[pipeline.Category]Operator
	Default Operator // for categories without an entry; nil means Placeholder
	Workers int      // 0 means 1
}

// New returns the stage. A note that has a Reason, or is given one here, gets
// an empty masked text.
func New(o Options) pipeline.Step {
	return pipeline.Step{Name: "mask", Workers: o.Workers, New: func() func(*pipeline.Batch) error {
		return NewMasker(o).do
	}}
}

// Masker masks single notes. It has scratch space: one a worker.
type Masker struct {
	operators []Operator // by category
	scratch   []byte
}

// NewMasker returns a Masker for the policy of o.
func NewMasker(o Options) *Masker {
	m := &Masker{operators: make([]Operator, pipeline.Categories())}
	for c := range m.operators {
		m.operators[c] = o.operator(pipeline.Category(c))
	}
	return m
}

func (o Options) operator(c pipeline.Category) Operator {
	if op := o.Policy[c]; op != nil {
		return op
	}
	if o.Default != nil && c != pipeline.None {
		return o.Default
	}
	return Placeholder
}

var errNoSpans = errors.New("a batch without the spans of its notes: resolve has to come before mask")

func (m *Masker) do(b *pipeline.Batch) error {
	if b.Spans.Len() != b.Len() {
		return errNoSpans
	}
	for i := range b.Len() {
		if b.Reason[i] == pipeline.Sound {
			m.note(b, i)
		}
		b.Masked.End()
	}
	return nil
}

// note appends the masked text of note i to b.Masked.Data. If the spans
// overlap or leave the text, or an operator panics, the note is quarantined
// and nothing is appended.
func (m *Masker) note(b *pipeline.Batch, i int) {
	text, spans := b.Text.At(i), b.Spans.At(i)
	if len(spans) == 0 {
		b.Masked.Data = append(b.Masked.Data, text...)
		return
	}
	before := len(b.Masked.Data)
	sound := false
	pipeline.Guard(func() { b.Masked.Data, sound = m.Mask(b.Masked.Data, text, spans) })
	if !sound {
		b.Masked.Data = b.Masked.Data[:before]
		b.Quarantine(i, pipeline.Panicked)
	}
}

// Mask appends the masked text to dst. It returns false, and dst as it was,
// if the spans are not sorted, disjoint, non-empty and inside the text, or cut
// a character.
func (m *Masker) Mask(dst, text []byte, spans []pipeline.Span) (masked []byte, ok bool) {
	if !fit(text, spans) {
		return dst, false
	}
	at := int32(0)
	for _, s := range spans {
		dst = append(dst, text[at:s.Start]...)
		dst = m.replace(dst, text, s)
		at = s.End
	}
	return append(dst, text[at:]...), true
}

func (m *Masker) replace(dst, text []byte, s pipeline.Span) []byte {
	op := Placeholder
	if int(s.Category) < len(m.operators) {
		op = m.operators[s.Category]
	}
	return op.Replace(dst, Value{Words: text[s.Start:s.End:s.End], Category: s.Category})
}

// fit tells whether the spans can be masked in the text.
func fit(text []byte, spans []pipeline.Span) bool {
	at := int32(0)
	for _, s := range spans {
		if s.Start < at || s.End <= s.Start || int(s.End) > len(text) {
			return false
		}
		if !utf8.RuneStart(text[s.Start]) || int(s.End) < len(text) && !utf8.RuneStart(text[s.End]) {
			return false
		}
		at = s.End
	}
	return true
}

// Places appends to dst where the replacement of each span lies in the masked
// text: the spans of the masked text, in the same order, with category, score
// and source of the old ones. A suppressed value has an empty span. The spans
// must be such that Mask accepts them.
func (m *Masker) Places(dst []pipeline.Span, text []byte, spans []pipeline.Span) []pipeline.Span {
	shift := int32(0)
	for _, s := range spans {
		m.scratch = m.replace(m.scratch[:0], text, s)
		placed := s
		placed.Start = s.Start + shift
		placed.End = placed.Start + int32(len(m.scratch))
		shift = placed.End - s.End
		dst = append(dst, placed)
	}
	return dst
}

// Offset returns where byte old of the text lies in the masked text, given
// the spans and their places. Both ends of a span go to the ends of its
// replacement; bytes within a span, which have no place any more, to its
// start. O(log n).
func Offset(spans, places []pipeline.Span, old int32) int32 {
	k, end := 0, len(spans) // the first span that ends behind old
	for k < end {
		if mid := (k + end) / 2; spans[mid].End <= old {
			k = mid + 1
		} else {
			end = mid
		}
	}
	if k < len(spans) && spans[k].Start <= old {
		return places[k].Start
	}
	if k == 0 {
		return old
	}
	return old + places[k-1].End - spans[k-1].End
}
