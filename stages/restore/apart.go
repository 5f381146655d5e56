package restore

import (
	"github.com/velum-health/velum/models/form/document"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/guard"
)

// Apart returns the stage that takes documents in the cells of a table of notes apart: HL7 v2 messages, CDA documents,
// FHIR resources. It replaces Text by the text to examine, and fills Cells. Text that begins like a document but cannot
// be parsed goes to quarantine.
func Apart(o Options) pipeline.Step {
	o.Document.UTF8 = true
	return pipeline.Step{Name: "apart", Workers: o.Workers, New: func() func(*pipeline.Batch) error {
		return (&worker{Options: o}).apart
	}}
}

func (w *worker) apart(b *pipeline.Batch) error {
	first := 0
	for first < b.Len() && document.FormatOf(b.Text.At(first)) == document.NoFormat {
		first++
	}
	if first == b.Len() {
		return nil
	}
	w.masked.Reset()
	for i := range b.Len() {
		text, cell := b.Text.At(i), []byte(nil)
		if i >= first && b.Reason[i] == pipeline.Sound && document.FormatOf(text) != document.NoFormat {
			cell = text
			reason := pipeline.Panicked
			guard.Note(func() {
				var d *document.Document
				d, reason = document.Open(cell, w.Document)
				text = d.Text
			})
			if reason != pipeline.Sound {
				b.Quarantine(i, reason)
				text, cell = cell, nil
			}
		}
		w.masked.Append(text)
		b.Cells.Append(cell)
	}
	b.Text, w.masked = w.masked, b.Text
	return nil
}
