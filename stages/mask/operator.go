package mask

import (
	"strconv"
	"time"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/patientid"
)

// An Operator writes the replacement of a value. Each worker has its own operators: an operator may have scratch space,
// but must not carry anything from one note to another.
type Operator interface {
	// Replace appends the replacement of v, a value of n, to dst, and reports whether it could. The replacement must be
	// valid UTF-8. Replace must not keep references to n.
	Replace(dst []byte, n *Note, v Value) (out []byte, ok bool)
}

// A beginner is an operator that must see a note before its first value is replaced.
type beginner interface{ begin(n *Note) }

// Value is a span that an operator replaces.
type Value struct {
	Words    []byte // the value as it is written in the note
	Category pipeline.Category
	Span     int // index among the note's spans
}

// Note holds what an operator may know of the note that contains a value. It is valid until the next note.
type Note struct {
	Row      int64  // in its file
	ID       []byte // the id as it may be written; empty if ids are dropped
	Patient  []byte // key of package patientid; empty: there is no such column, or it is null
	Day      int32  // of the note, days since 1970-01-01, if Dated
	Dated    bool
	Language pipeline.Language
	Text     []byte
	Spans    []pipeline.Span
	Avoid    []byte // folded words of known people's names, each followed by a blank: no surrogate may be one of them

	stream *Stream // nil without a key
	digits []byte  // of a patient's number
}

// columns finds the columns of patient and date in a batch.
func (m *Masker) columns(b *pipeline.Batch) {
	m.patient, m.date = b.ExtraNamed(m.o.PatientColumn), b.ExtraNamed(m.o.DateColumn)
}

// read points m.note at note i of the batch.
func (m *Masker) read(b *pipeline.Batch, i int) {
	n := &m.note
	n.Row = b.Row(i)
	n.ID, n.Text, n.Spans = nil, b.Text.At(i), b.Spans.At(i)
	if i < b.ID.Len() {
		n.ID = b.ID.At(i)
	}
	n.Avoid = nil
	if i < b.Avoid.Len() {
		n.Avoid = b.Avoid.At(i)
	}
	n.Language = pipeline.UnknownLanguage
	if i < len(b.Language) {
		n.Language = b.Language[i]
	}
	m.who(b, i)
}

// who sets the patient and the date of m.note from the columns of note i.
func (m *Masker) who(b *pipeline.Batch, i int) {
	n := &m.note
	n.Patient = nil
	if c := m.patient; c != nil && c.Valid[i] {
		n.Patient = patientid.Key(n.bytesOf(c, i))
	}
	n.Day, n.Dated = 0, false
	if c := m.date; c != nil && c.Valid[i] {
		n.Day, n.Dated = DayOf(c, i)
	}
}

// bytesOf returns value i of a column as bytes: text as it is, numbers by
// their digits.
func (n *Note) bytesOf(c *pipeline.Column, i int) []byte {
	if c.Kind == pipeline.BytesColumn {
		return c.Bytes.At(i)
	}
	n.digits = strconv.AppendUint(n.digits[:0], c.Fixed[i], 10)
	return n.digits
}

const microsADay = 24 * 60 * 60 * 1e6

// DayOf returns value i of a column of dates, timestamps, or texts that begin with a date as 2026-11-21, in days since
// 1970-01-01.
func DayOf(c *pipeline.Column, i int) (day int32, ok bool) {
	switch c.Kind {
	case pipeline.DateColumn:
		return int32(c.Fixed[i]), true
	case pipeline.TimestampColumn:
		day, _ := c.Day(i, microsADay)
		return int32(day), true
	case pipeline.BytesColumn:
		text := c.Bytes.At(i)
		if len(text) < len(time.DateOnly) {
			return 0, false
		}
		t, err := time.Parse(time.DateOnly, string(text[:len(time.DateOnly)]))
		return int32(t.Unix() / (24 * 60 * 60)), err == nil
	}
	return 0, false
}
