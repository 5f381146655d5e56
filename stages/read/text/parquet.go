package text

import (
	"cmp"
	"errors"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/offset"
	"github.com/velum-health/velum/stages/read/input"
	"github.com/velum-health/velum/stages/read/parquet"
)

// Parquet reads notes of a file of Parquet: an id, a text and, if there is such a
// column, spans as a JSON list as in CSV. Their offsets count bytes, whatever
// Options.Unit says. Spans without a source are gold.
type Parquet struct {
	intake
	notes  *parquet.Reader
	labels []label
}

// NewParquet opens a file. Options.IDColumn, TextColumn and SpansColumn name its
// columns; "" means note_id, text and spans.
func NewParquet(path string, o Options) (*Parquet, error) {
	p := &Parquet{intake: newIntake(path, o)}
	spans := p.o.SpansColumn
	var err error
	p.notes, err = parquet.New(path, 0, -1, input.Options{
		ID: []string{cmp.Or(o.IDColumn, "note_id")}, Text: p.o.TextColumn, MaxText: p.o.MaxText, BatchNotes: p.o.Notes, BatchBytes: p.o.Bytes,
		Pass: []string{spans}, Shapes: map[string]input.Shape{"kept " + spans: {Kind: pipeline.BytesColumn}},
	})
	if err == nil && p.notes.Columns()[0].Kind != pipeline.BytesColumn {
		err = &input.SchemaError{Path: path, Column: spans, Cause: "has another type than text",
			Remedy: "write spans as a JSON list, as velum convert does"}
		err = errors.Join(err, p.Close())
	}
	return p, err
}

// Close closes the file.
func (p *Parquet) Close() error { return p.notes.Close() }

// Next implements pipeline.Source.
func (p *Parquet) Next(b *pipeline.Batch) error {
	if err := p.notes.Next(b); err != nil {
		return err
	}
	field := &b.Extra[0]
	for i := range b.Len() {
		p.row++
		p.labels, p.spans = p.labels[:0], p.spans[:0]
		if read := b.Reason[i] == pipeline.Sound || b.Reason[i] == pipeline.ControlText; read && field.Valid[i] {
			var err error
			if p.labels, err = p.spanList(p.labels, field.Bytes.At(i), place{line: int(p.row)}); err != nil {
				return err
			}
			p.index.Reset(b.Text.At(i), offset.Bytes)
			if err = p.convert(b.Text.At(i), p.labels); err != nil {
				return err
			}
		}
		b.Gold.Append(p.disjoint(p.spans)...)
	}
	return nil
}
