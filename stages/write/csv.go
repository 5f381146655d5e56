package write

import (
	"bytes"
	"errors"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/offset"
	"github.com/velum-health/velum/pipeline/sheet"
)

// CSV writes a table with the columns id, text and spans, the last a JSON list
// as in JSONL. RFC 4180: lines end in CRLF, fields that hold a delimiter,
// quote, line end or byte order mark stand in quotes, and so does every text. What
// a spreadsheet would take for a formula has an apostrophe before it, which the
// offsets count and reading takes off again (package sheet).
// Notes that are not UTF-8 or have no text or id are left out and counted:
// CSV knows no null.
type CSV struct {
	o TextOptions
	*lineFile
	index offset.Index
	line  []byte
	cells [2][]byte // id and text as they are written
	moved []pipeline.Span
	spans []byte
}

// NewCSV opens the file beside its place and writes the header; Close puts it
// there.
func NewCSV(path string, o TextOptions) (*CSV, error) {
	o = o.withDefaults()
	if c := o.Comma; c >= 0x80 || c == '"' || c == '\r' || c == '\n' || c == 0 {
		return nil, errors.New("the CSV delimiter is no ASCII character that fields can do without; take a comma, semicolon, tab or bar")
	}
	out, err := newLineFile(path, o.Mode)
	if err != nil {
		return nil, err
	}
	w := &CSV{o: o, lineFile: out}
	w.row([]byte(o.IDColumn), []byte(o.TextColumn), []byte(o.SpansColumn))
	_, err = out.Write(w.line)
	return w, err
}

// Put implements pipeline.Sink.
func (w *CSV) Put(b *pipeline.Batch) error {
	for i := range b.Len() {
		if unwritable(b, i) {
			w.skipped++
			continue
		}
		var err error
		shift := 0
		w.cells[0], _ = sheet.Guarded(w.cells[0][:0], b.ID.At(i))
		w.cells[1], shift = sheet.Guarded(w.cells[1][:0], b.Text.At(i))
		w.moved = w.moved[:0]
		for _, s := range w.o.spans(b, i) {
			s.Start, s.End = s.Start+int32(shift), s.End+int32(shift)
			w.moved = append(w.moved, s)
		}
		w.spans, err = AppendSpans(w.spans[:0], &w.index, b.ID.At(i), w.cells[1], w.moved, w.o.Unit)
		if err != nil {
			return err
		}
		w.row(w.cells[0], w.cells[1], w.spans)
		if _, err := w.Write(w.line); err != nil {
			return err
		}
	}
	return nil
}

func (w *CSV) row(id, text, spans []byte) {
	w.line = w.field(w.line[:0], id)
	w.line = append(w.line, byte(w.o.Comma))
	w.line = w.field(w.line, text)
	w.line = append(w.line, byte(w.o.Comma))
	w.line = w.field(w.line, spans)
	w.line = append(w.line, '\r', '\n')
}

// field appends one field. It quotes all but plain words, so that no program
// takes a text for a number, a comment or a formula's begin.
func (w *CSV) field(dst, s []byte) []byte {
	plain := len(s) > 0
	for _, c := range s {
		plain = plain && c != byte(w.o.Comma) && (c == '_' || c == '|' || c == '/' || c == '.' ||
			c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z')
	}
	if plain {
		return append(dst, s...)
	}
	dst = append(dst, '"')
	for {
		k := bytes.IndexByte(s, '"')
		if k < 0 {
			break
		}
		dst = append(append(dst, s[:k+1]...), '"')
		s = s[k+1:]
	}
	return append(append(dst, s...), '"')
}
