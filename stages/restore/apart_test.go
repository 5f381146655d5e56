package restore

import (
	"strings"
	"testing"

	"github.com/velum-health/velum/pipeline"
)

// A document in a cell is taken apart and put together again, notes beside it are as they
// were, and what only begins as a document is set aside.
func TestApart(t *testing.T) {
	cells := []string{"Nota de Ada", resource, `{"resourceType":"Patient"`, "MSH|^~\\&|a|b|||||ADT^A01|1|P|2.5||||||8859/1\rPID|||77123||Pou^Núria\r", "{} de la nota"}
	b := &pipeline.Batch{}
	for _, c := range cells {
		b.Text.Append([]byte(c))
		b.Reason = append(b.Reason, pipeline.Sound)
	}
	if err := Apart(Options{}).New()(b); err != nil {
		t.Fatal(err)
	}
	why := []pipeline.Reason{pipeline.Sound, pipeline.Sound, pipeline.BadRow, pipeline.Sound, pipeline.Sound}
	for i := range cells {
		isDocument := i == 1 || i == 3
		if b.Reason[i] != why[i] || (string(b.Text.At(i)) != cells[i]) != isDocument || (string(b.Cells.At(i)) == cells[i]) != isDocument {
			t.Errorf("cell %d: %v, text %q", i, b.Reason[i], b.Text.At(i))
		}
	}
	if text := string(b.Text.At(3)); !strings.Contains(text, "Núria") || !strings.Contains(text, "77123") {
		t.Errorf("a cell was decoded twice: %q", text)
	}
	for i := range cells { // everything in the documents is masked
		text := b.Text.At(i)
		if len(b.Cells.At(i)) > 0 {
			b.Spans.Append(pipeline.Span{End: int32(len(text))})
			b.Places.Append(pipeline.Span{End: 1})
			text = []byte("X")
		} else {
			b.Spans.Append()
			b.Places.Append()
		}
		b.Masked.Append(text)
		b.Seal(i)
	}
	if err := New(Options{}).New()(b); err != nil {
		t.Fatal(err)
	}
	for i := range cells {
		masked := string(b.Masked.At(i))
		if i != 1 && i != 3 {
			if masked != string(b.Text.At(i)) {
				t.Errorf("note %d is %q", i, masked)
			}
		} else if strings.Contains(masked, "Pou") || strings.Contains(masked, "77123") || !strings.Contains(masked, cells[i][:12]) || !b.Sealed(i) || len(b.Places.At(i)) > 0 {
			t.Errorf("document %d is %q, sealed %v", i, masked, b.Sealed(i))
		}
	}
	plain := &pipeline.Batch{Reason: []pipeline.Reason{pipeline.Sound}}
	plain.Text.Append([]byte("Nota de Ada"))
	if err := Apart(Options{}).New()(plain); err != nil || plain.Cells.Len() != 0 {
		t.Error("a batch of notes has cells")
	}
}

func BenchmarkApart(b *testing.B) {
	notes := &pipeline.Batch{}
	for range 1000 {
		notes.Text.Append([]byte(strings.Repeat("Paciente de 45 años que acude por dolor. ", 10)))
		notes.Reason = append(notes.Reason, pipeline.Sound)
	}
	do := Apart(Options{}).New()
	b.ReportAllocs()
	for b.Loop() {
		_ = do(notes)
	}
}
