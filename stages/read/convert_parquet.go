package read

import (
	"bytes"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/offset"
)

// Tables reads notes with spans from Parquet: a folder with
//
//	notes.parquet  note_id, text
//	spans.parquet  note_id, row, start, end, category, score, source
//
// or one Parquet file of notes without spans. The spans stand in the order of
// the notes; row is the number of the note, from 0. Without a column row,
// spans follow their notes by id. Without score and source they are gold.
// start and end count bytes, whatever TextOptions.Unit says.
type Tables struct {
	intake
	notes  *Parquet
	spans  *Parquet // nil if there are none
	batch  pipeline.Batch
	at     int   // next span in batch
	read   int64 // spans in the batches before
	byRow  bool
	ended  bool
	labels []label
}

// columns of spans.parquet in Batch.Extra
const (
	spanStart = iota
	spanEnd
	spanScore
	spanSource
	spanRow
)

// NewTables opens a folder, or a file of notes. TextOptions.IDColumn and
// TextColumn name the columns of the notes; "" means note_id and text.
func NewTables(path string, o TextOptions) (*Tables, error) {
	idColumn := o.IDColumn
	if idColumn == "" {
		idColumn = "note_id"
	}
	r := &Tables{intake: newIntake(path, o)}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	notes, spans := path, ""
	if info.IsDir() {
		notes, spans = filepath.Join(path, "notes.parquet"), filepath.Join(path, "spans.parquet")
	}
	r.notes, err = NewParquet(notes, 0, -1, ParquetOptions{
		ID: []string{idColumn}, Text: r.o.TextColumn, MaxText: r.o.MaxText, BatchNotes: r.o.Notes, BatchBytes: r.o.Bytes,
	})
	if err != nil || spans == "" {
		return r, err
	}
	if _, err := os.Stat(spans); os.IsNotExist(err) {
		return r, nil
	}
	r.path = spans
	if err := r.openSpans(); err != nil {
		return nil, errors.Join(err, r.notes.Close())
	}
	return r, nil
}

// openSpans opens the spans as if they were notes: the category is the text,
// the numbers pass through.
func (r *Tables) openSpans() error {
	var err error
	r.spans, err = NewParquet(r.path, 0, -1, ParquetOptions{
		Text: "category", Pass: []string{"start", "end", "score", "source", "row"},
		shapes: map[string]shape{
			"kept score": {Kind: pipeline.FloatColumn}, "kept source": {Kind: pipeline.BytesColumn}, "kept row": {Kind: pipeline.Int64Column},
		},
	})
	if err != nil {
		return err
	}
	for k, b := range r.spans.Columns() {
		ok := b.Kind == pipeline.Int32Column || b.Kind == pipeline.Int64Column
		switch k {
		case spanScore:
			ok = b.Kind == pipeline.FloatColumn || b.Kind == pipeline.DoubleColumn
		case spanSource:
			ok = b.Kind == pipeline.BytesColumn
		case spanRow:
			r.byRow = r.spans.Has(k)
		}
		if !ok {
			err := &SchemaError{r.path, b.Name, "has the wrong type", "start, end and row are whole numbers, score is a float, source a string"}
			return errors.Join(err, r.spans.Close())
		}
	}
	return nil
}

// Close closes both files.
func (r *Tables) Close() error {
	err := r.notes.Close()
	if r.spans != nil {
		err = errors.Join(err, r.spans.Close())
	}
	return err
}

// Next implements pipeline.Source.
func (r *Tables) Next(b *pipeline.Batch) error {
	err := r.notes.Next(b)
	if err == io.EOF && r.spans != nil {
		more, err := r.more()
		if err != nil {
			return err
		}
		if more {
			return r.wrong(r.here(), "span of no note", "keep the spans in the order of the notes, with their ids and rows")
		}
	}
	if err != nil {
		return err
	}
	for i := range b.Len() {
		if err := r.gold(b, i); err != nil {
			return err
		}
	}
	return nil
}

// gold appends the spans of note i.
func (r *Tables) gold(b *pipeline.Batch, i int) error {
	r.labels, r.intake.spans = r.labels[:0], r.intake.spans[:0]
	for r.spans != nil {
		more, err := r.more()
		if err != nil {
			return err
		}
		if !more || !r.of(b, i) {
			break
		}
		l, err := r.label()
		if err != nil {
			return err
		}
		r.labels = append(r.labels, l)
		r.at++
	}
	r.row++
	if b.Reason[i] == pipeline.Sound || b.Reason[i] == pipeline.ControlText {
		r.index.Reset(b.Text.At(i), offset.Bytes)
		if err := r.convert(b.Text.At(i), r.labels); err != nil {
			return err
		}
	}
	b.Gold.Append(r.disjoint(r.intake.spans)...)
	return nil
}

// more makes sure that a span is at hand, unless all have been read.
func (r *Tables) more() (bool, error) {
	for !r.ended && r.at == r.batch.Len() {
		r.read += int64(r.at)
		r.at = 0
		r.batch.Reset()
		if err := r.spans.Next(&r.batch); err == io.EOF {
			r.ended = true
		} else if err != nil {
			return false, err
		}
	}
	return !r.ended, nil
}

// here is the row of the span at hand, from 1.
func (r *Tables) here() place { return place{line: int(r.read) + r.at + 1} }

// of tells whether the span at hand belongs to note i.
func (r *Tables) of(b *pipeline.Batch, i int) bool {
	if r.byRow && r.whole(spanRow) != r.row {
		return false
	}
	return bytes.Equal(r.batch.ID.At(r.at), b.ID.At(i))
}

// whole returns a whole number of the span at hand; -1 for null.
func (r *Tables) whole(column int) int64 {
	c := &r.batch.Extra[column]
	switch {
	case !c.Valid[r.at]:
		return -1
	case c.Kind == pipeline.Int32Column:
		return int64(int32(c.Fixed[r.at]))
	}
	return int64(c.Fixed[r.at])
}

func (r *Tables) label() (label, error) {
	l := label{score: 1, source: pipeline.FromGold, at: r.here()}
	start, end := r.whole(spanStart), r.whole(spanEnd)
	if start < 0 || end < 0 || start > math.MaxInt32 || end > math.MaxInt32 {
		return l, r.wrong(l.at, "start or end is null, negative or too large", "write offsets in bytes")
	}
	l.start, l.end = int(start), int(end)
	if c := &r.batch.Extra[spanScore]; c.Valid[r.at] {
		l.score = math.Float32frombits(uint32(c.Fixed[r.at]))
		if c.Kind == pipeline.DoubleColumn {
			l.score = float32(math.Float64frombits(c.Fixed[r.at]))
		}
	}
	if c := &r.batch.Extra[spanSource]; c.Valid[r.at] {
		source, ok := pipeline.ParseSpanSource(string(c.Bytes.At(r.at)))
		if !ok {
			return l, r.wrong(l.at, "span of an unknown source", "known sources: model, pattern, repeat, list, gold")
		}
		l.source = source
	}
	var err error
	l.category, err = r.category(r.batch.Text.At(r.at), l.at)
	return l, err
}
