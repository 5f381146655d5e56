package unit

import (
	"fmt"
	"io"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/column"
	"github.com/velum-health/velum/pipeline/patientid"
	"github.com/velum-health/velum/stages/write/table"
)

// QuasiColumn is a quasi-identifier: a column of Batch.Extra, or a category whose values are extracted from the text.
type QuasiColumn struct {
	Name   string
	Column *pipeline.Column // as it is announced; nil: it was lifted
	Lifted int              // which of Batch.Lifted
	Day    int64            // a day in the unit of the column, if it holds times
}

// QuasiPatient is the column of the private part quasi/ with who a note is of: a hash of eight bytes, 0 if nobody knows.
const QuasiPatient = "patient_hash"

// quasiColumns are those of the private part: what of a note may single somebody out.
func quasiColumns(quasi []QuasiColumn) []column.Column {
	columns := []column.Column{column.Text("note_id"), column.Int64(pipeline.RowColumn), column.Int64(QuasiPatient)}
	for _, q := range quasi {
		columns = append(columns, column.Names(q.Name))
	}
	return columns
}

// putQuasi writes the quasi-identifiers of the masked notes of u.pick.
func (u *Unit) putQuasi(b *pipeline.Batch) error {
	if u.quasi == nil {
		return nil
	}
	from := make([]*pipeline.Column, len(u.o.Quasi))
	for k, q := range u.o.Quasi {
		if q.Column == nil {
			if q.Lifted >= len(b.Lifted) || b.Lifted[q.Lifted].Len() != b.Len() {
				return fmt.Errorf("batch %d has no column of the values of %s; a stage is missing", b.Seq, q.Name)
			}
			continue
		}
		var err error
		if from[k], err = announced(b, q.Column); err != nil {
			return err
		}
	}
	patients := b.ExtraNamed(u.o.Patients)
	u.texts = u.texts[:0] // the table keeps no copy until it is flushed
	t := u.quasi
	return t.Each(u.pick, func(i int) {
		t.Columns[0].Bytes(b.ID.At(i))
		t.Columns[1].Int64(b.Number(i))
		patient := int64(0)
		if u.values = patients.AppendText(u.values[:0], i); len(u.values) > 0 {
			patient = int64(xxh3.Hash(patientid.Key(u.values)))
		}
		t.Columns[2].Int64(patient)
		for k := range u.o.Quasi {
			start := len(u.texts)
			u.texts = u.o.Quasi[k].appendText(u.texts, b, from[k], i)
			t.Columns[3+k].Bytes(u.texts[start:])
		}
	})
}

// appendText appends the value of note i as text.
func (q *QuasiColumn) appendText(dst []byte, b *pipeline.Batch, from *pipeline.Column, i int) []byte {
	switch {
	case q.Column == nil:
		return append(dst, b.Lifted[q.Lifted].At(i)...)
	case q.Day == 0 || !from.Valid[i]:
		return from.AppendText(dst, i)
	}
	day, _ := from.Day(i, q.Day)
	return time.Unix(day*24*60*60, 0).UTC().AppendFormat(dst, time.DateOnly)
}

// Quasi writes a public table of quasi-identifiers, row for row with a masked
// part: note_id, row, the columns by their names, and part, as in the masked one.
type Quasi struct {
	*table.Table
	ids []byte // of rows that are not flushed
}

// NewQuasi begins a table; rowGroup is as in Options.
func NewQuasi(out io.Writer, names []string, rowGroup int, part string) (*Quasi, error) {
	columns := []column.Column{column.Text("note_id"), column.Int64("row")}
	for _, name := range names {
		columns = append(columns, column.Names(name))
	}
	columns = append(columns, column.Part(part)...)
	return &Quasi{Table: table.New(out, columns, rowGroup)}, distinct(columns)
}

// Add adds a row. The values must not change until Close.
func (q *Quasi) Add(id []byte, row int64, values [][]byte) error {
	at := len(q.ids)
	q.ids = append(q.ids, id...)
	q.Columns[0].Bytes(q.ids[at:])
	q.Columns[1].Int64(row)
	for k, v := range values {
		q.Columns[2+k].Bytes(v)
	}
	err := q.Full()
	if q.Pending() == 0 {
		q.ids = q.ids[:0]
	}
	return err
}
