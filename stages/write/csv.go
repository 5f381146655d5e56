package write

import (
	"encoding/csv"
	"errors"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/sheet"
)

// csvTable writes a table with the columns id, text and spans, the last a JSON list as in JSONL. Fields with a delimiter,
// quote or line end are quoted (RFC 4180); lines end in LF. A cell that a spreadsheet could take for a formula gets an
// apostrophe, which offsets count and readers remove (package sheet). Notes that are not UTF-8 or have no text or id
// are left out and counted, because CSV has no null.
type csvTable struct {
	notes
	*lineFile
	out   *csv.Writer
	cells [2][]byte // id and text as they are written
	moved []pipeline.Span
	spans []byte
}

// newCSV creates a temporary file and writes the header; Close renames it.
func newCSV(path string, o TextOptions) (Text, error) {
	o = o.withDefaults()
	if c := o.Comma; c >= 0x80 || c == '"' || c == '\r' || c == '\n' || c == 0 {
		return nil, errors.New("the CSV delimiter is no ASCII character that fields can do without; take a comma, semicolon, tab or bar")
	}
	out, err := newLineFile(path, o.Mode)
	if err != nil {
		return nil, err
	}
	w := &csvTable{notes: notes{o: o, takes: isText}, lineFile: out, out: csv.NewWriter(out.Writer)}
	w.put, w.out.Comma = w.note, o.Comma
	return w, w.out.Write([]string{o.IDColumn, o.TextColumn, o.SpansColumn})
}

func (w *csvTable) note(b *pipeline.Batch, i int) (err error) {
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
	return w.out.Write([]string{string(w.cells[0]), string(w.cells[1]), string(w.spans)})
}
