// Package restore writes masked text back into the documents that it came from. For valid notes it reads Text, Spans,
// Masked, Places and the original documents, and writes the masked documents to a column of Extra. Without this stage
// the column stays empty. If the document was a cell of a table, the masked document replaces Masked; the stage Apart,
// after the reader, has extracted its text.
//
// A document is one note: if any of its texts is in quarantine, it is not written. Every masked document is parsed
// again: it must hold the masked text, and no value that was masked elsewhere in it; otherwise it goes to quarantine
// with SurvivingValue.
package restore

import (
	"errors"

	"github.com/velum-health/velum/models/form/document"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/guard"
)

// Options holds the options of the stage.
type Options struct {
	Source, Column string // of Extra: the documents as they were read, and the masked ones; "": documents are cells
	Document       document.Options
	Workers        int // 0 means 1
}

var errColumns = errors.New("a batch without documents, masked text or places: restore comes behind verify")

// New returns the stage.
func New(o Options) pipeline.Step {
	o.Document.UTF8 = o.Source == ""
	return pipeline.Step{Name: "restore", Workers: o.Workers, New: func() func(*pipeline.Batch) error {
		return (&worker{Options: o}).do
	}}
}

// worker is the scratch space of one goroutine.
type worker struct {
	Options
	edits  []document.Edit
	masked pipeline.Bytes
	places pipeline.List[pipeline.Span]
}

func (w *worker) do(b *pipeline.Batch) error {
	if w.Source == "" && b.Cells.Len() == 0 {
		return nil
	}
	if b.Places.Len() != b.Len() || b.Masked.Len() != b.Len() {
		return errColumns
	}
	if w.Source == "" {
		w.cells(b)
		return nil
	}
	source, column := b.ExtraNamed(w.Source), b.ExtraNamed(w.Column)
	if source == nil || column == nil || len(source.Valid) != b.Len() {
		return errColumns
	}
	column.Reset()
	for i := range b.Len() {
		var doc []byte
		if source.Valid[i] {
			doc = source.Bytes.At(i)
		}
		doc = w.restored(b, i, doc)
		column.Bytes.Append(doc)
		column.Valid = append(column.Valid, doc != nil)
	}
	return nil
}

// cells puts the documents that are cells in place of their masked text. What was masked
// has no place in a document that could be told.
func (w *worker) cells(b *pipeline.Batch) {
	w.masked.Reset()
	w.places.Reset()
	for i := range b.Len() {
		masked, places := b.Masked.At(i), b.Places.At(i)
		if cell := b.Cells.At(i); len(cell) > 0 {
			masked, places = w.restored(b, i, cell), nil
		}
		w.masked.Append(masked)
		w.places.Append(places...)
	}
	b.Masked, w.masked = w.masked, b.Masked
	b.Places, w.places = w.places, b.Places
	for i := range b.Sound() {
		if len(b.Cells.At(i)) > 0 {
			b.Seal(i)
		}
	}
}

// restored returns the masked document of note i; nil if it does not leave.
func (w *worker) restored(b *pipeline.Batch, i int, doc []byte) (out []byte) {
	if b.Reason[i] != pipeline.Sound {
		return nil
	}
	reason := pipeline.Unreadable // it was taken apart when it was read
	if guard.Note(func() {
		if len(doc) > 0 {
			out, reason = w.note(b, i, doc)
		}
	}) {
		reason = pipeline.Panicked
	}
	if reason != pipeline.Sound {
		b.Quarantine(i, reason)
		return nil
	}
	return out
}

// note returns the masked document of note i.
func (w *worker) note(b *pipeline.Batch, i int, doc []byte) ([]byte, pipeline.Reason) {
	d, reason := document.Open(doc, w.Document)
	if reason != pipeline.Sound {
		return nil, reason
	}
	spans, places, masked := b.Spans.At(i), b.Places.At(i), b.Masked.At(i)
	if string(d.Text) != string(b.Text.At(i)) || len(spans) != len(places) {
		return nil, pipeline.ChangedText
	}
	if !covered(d, spans) {
		return nil, pipeline.SurvivingValue
	}
	w.edits = w.edits[:0]
	for k, s := range spans {
		w.edits = append(w.edits, document.Edit{Start: int(s.Start), End: int(s.End), With: masked[places[k].Start:places[k].End]})
	}
	out := d.Restore(w.edits)
	return out, d.Check(out, w.edits)
}

// covered reports whether spans cover every field of the document that holds personal data. A field that no stage has
// found would leave unmasked.
func covered(d *document.Document, spans []pipeline.Span) bool {
	for _, f := range d.Fields {
		for at := f.Start; at < f.End; at++ {
			for len(spans) > 0 && int(spans[0].End) <= at {
				spans = spans[1:]
			}
			if bare := len(spans) == 0 || int(spans[0].Start) > at; bare && d.Text[at] > ' ' {
				return false
			}
		}
	}
	return true
}
