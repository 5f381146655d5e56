package text

import (
	"bytes"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/offset"
	"github.com/velum-health/velum/stages/read/input"
	"github.com/velum-health/velum/stages/read/parquet"
)

// Tables reads notes with spans from Parquet: a folder with
//
//	notes.parquet  note_id, text
//	spans.parquet  note_id, row, start, end, category, score, source
//
// or one Parquet file of notes without spans. The spans stand in the order of
// the notes; row is the number of the note, from 0. Without a column row,
// spans follow their notes by id. Without score and source they are gold.
// start and end count bytes, whatever Options.Unit says.
type Tables struct {
	intake
	notes  *parquet.Reader
	spans  *parquet.Reader // nil if there are none
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

// NewTables opens a folder, or a file of notes. Options.IDColumn and
// TextColumn name the columns of the notes; "" means note_id and text.
func NewTables(path string, o Options) (*Tables, error) {
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
	r.notes, err = parquet.New(notes, 0, -1, input.Options{
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
func (t *Tables) openSpans() error {
	var err error
	t.spans, err = parquet.New(t.path, 0, -1, input.Options{
		Text: "category", Pass: []string{"start", "end", "score", "source", "row"},
		Shapes: map[string]input.Shape{
			"kept score": {Kind: pipeline.FloatColumn}, "kept source": {Kind: pipeline.BytesColumn}, "kept row": {Kind: pipeline.Int64Column},
		},
	})
	if err != nil {
		return err
	}
	for k, b := range t.spans.Columns() {
		ok := b.Kind == pipeline.Int32Column || b.Kind == pipeline.Int64Column
		switch k {
		case spanScore:
			ok = b.Kind == pipeline.FloatColumn || b.Kind == pipeline.DoubleColumn
		case spanSource:
			ok = b.Kind == pipeline.BytesColumn
		case spanRow:
			t.byRow = t.spans.Has(k)
		}
		if !ok {
			err := &input.SchemaError{Path: t.path, Column: b.Name, Cause: "has the wrong type", Remedy: "start, end and row are whole numbers, score is a float, source a string"}
			return errors.Join(err, t.spans.Close())
		}
	}
	return nil
}

// Close closes both files.
func (t *Tables) Close() error {
	err := t.notes.Close()
	if t.spans != nil {
		err = errors.Join(err, t.spans.Close())
	}
	return err
}

// Next implements pipeline.Source.
func (t *Tables) Next(b *pipeline.Batch) error {
	err := t.notes.Next(b)
	if err == io.EOF && t.spans != nil {
		more, err := t.more()
		if err != nil {
			return err
		}
		if more {
			return t.wrong(t.here(), "span of no note", "keep the spans in the order of the notes, with their ids and rows")
		}
	}
	if err != nil {
		return err
	}
	for i := range b.Len() {
		if err := t.gold(b, i); err != nil {
			return err
		}
	}
	return nil
}

// gold appends the spans of note i.
func (t *Tables) gold(b *pipeline.Batch, i int) error {
	t.labels, t.intake.spans = t.labels[:0], t.intake.spans[:0]
	for t.spans != nil {
		more, err := t.more()
		if err != nil {
			return err
		}
		if !more || !t.of(b, i) {
			break
		}
		l, err := t.label()
		if err != nil {
			return err
		}
		t.labels = append(t.labels, l)
		t.at++
	}
	t.row++
	if b.Reason[i] == pipeline.Sound || b.Reason[i] == pipeline.ControlText {
		t.index.Reset(b.Text.At(i), offset.Bytes)
		if err := t.convert(b.Text.At(i), t.labels); err != nil {
			return err
		}
	}
	b.Gold.Append(t.disjoint(t.intake.spans)...)
	return nil
}

// more makes sure that a span is at hand, unless all have been read.
func (t *Tables) more() (bool, error) {
	for !t.ended && t.at == t.batch.Len() {
		t.read += int64(t.at)
		t.at = 0
		t.batch.Reset()
		if err := t.spans.Next(&t.batch); err == io.EOF {
			t.ended = true
		} else if err != nil {
			return false, err
		}
	}
	return !t.ended, nil
}

// here is the row of the span at hand, from 1.
func (t *Tables) here() place { return place{line: int(t.read) + t.at + 1} }

// of tells whether the span at hand belongs to note i.
func (t *Tables) of(b *pipeline.Batch, i int) bool {
	if t.byRow && t.whole(spanRow) != t.row {
		return false
	}
	return bytes.Equal(t.batch.ID.At(t.at), b.ID.At(i))
}

// whole returns a whole number of the span at hand; -1 for null.
func (t *Tables) whole(column int) int64 {
	c := &t.batch.Extra[column]
	switch {
	case !c.Valid[t.at]:
		return -1
	case c.Kind == pipeline.Int32Column:
		return int64(int32(c.Fixed[t.at]))
	}
	return int64(c.Fixed[t.at])
}

func (t *Tables) label() (label, error) {
	l := label{score: 1, source: pipeline.FromGold, at: t.here()}
	start, end := t.whole(spanStart), t.whole(spanEnd)
	if start < 0 || end < 0 || start > math.MaxInt32 || end > math.MaxInt32 {
		return l, t.wrong(l.at, "start or end is null, negative or too large", "write offsets in bytes")
	}
	l.start, l.end = int(start), int(end)
	if c := &t.batch.Extra[spanScore]; c.Valid[t.at] {
		l.score = math.Float32frombits(uint32(c.Fixed[t.at]))
		if c.Kind == pipeline.DoubleColumn {
			l.score = float32(math.Float64frombits(c.Fixed[t.at]))
		}
	}
	if c := &t.batch.Extra[spanSource]; c.Valid[t.at] {
		source, ok := pipeline.ParseSpanSource(string(c.Bytes.At(t.at)))
		if !ok {
			return l, t.wrong(l.at, "span of an unknown source", "known sources: model, pattern, repeat, list, gold")
		}
		l.source = source
	}
	var err error
	l.category, err = t.category(t.batch.Text.At(t.at), l.at)
	return l, err
}
