package write

import (
	"bufio"
	"errors"
	"os"
	"path/filepath"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/offset"
)

// Notes writes notes and their spans as a file of Parquet, notes.parquet in a folder of
// its own, the form that convert reads back:
//
//	note_id, text, spans
//
// Spans are a JSON list as in CSV; their offsets count bytes of the text. A note without
// text has null; notes that are not UTF-8 or have no id are left out and counted.
type Notes struct {
	o     TextOptions
	file  tableFile
	index offset.Index
	spans []byte // of a batch
	leftOut
}

// tableFile is a table and the file that takes its name when it is whole.
type tableFile struct {
	*table
	out  *bufio.Writer
	temp *temp
	done bool
}

// NewNotes makes the folder if it is not there and opens the file beside its place;
// Close puts it there.
func NewNotes(dir string, o TextOptions) (*Notes, error) {
	w := &Notes{o: o.withDefaults()}
	if err := os.MkdirAll(dir, folderMode(w.o.Mode)); err != nil {
		return nil, err
	}
	var err error
	w.file, err = newTableFile(filepath.Join(dir, "notes.parquet"), w.o.Mode, []column{{name: "note_id"}, {name: "text", optional: true}, {name: "spans"}}, 0)
	return w, err
}

func newTableFile(path string, mode os.FileMode, columns []column, rowGroup int) (tableFile, error) {
	t, err := newTemp(path, mode)
	if err != nil {
		return tableFile{}, err
	}
	out := bufio.NewWriterSize(t, 1<<16)
	return tableFile{table: newTable(out, columns, rowGroup), out: out, temp: t}, nil
}

// Put implements pipeline.Sink.
func (w *Notes) Put(b *pipeline.Batch) error {
	c := w.file.columns
	w.spans = w.spans[:0]
	for i := range b.Len() {
		null := reason(b, i) == pipeline.NullText
		if !null && unwritable(b, i) {
			w.skipped++
			continue
		}
		c[0].bytes(b.ID.At(i))
		if null {
			c[1].null()
		} else {
			c[1].bytes(b.Text.At(i))
		}
		at := len(w.spans)
		var err error
		if w.spans, err = AppendSpans(w.spans, &w.index, b.ID.At(i), b.Text.At(i), w.o.spans(b, i), offset.Bytes); err != nil {
			return err
		}
		c[2].bytes(w.spans[at:])
		if err := w.file.full(); err != nil {
			return err
		}
	}
	return w.file.rest()
}

// Close ends the file and gives it its name.
func (t *tableFile) Close() error {
	if t.done {
		return nil
	}
	_, err := t.close()
	if err = errors.Join(err, t.out.Flush()); err != nil {
		t.Abort()
		return err
	}
	t.done = true
	return t.temp.commit()
}

// Abort removes the unfinished file.
func (t *tableFile) Abort() {
	if !t.done {
		t.done = true
		t.temp.discard()
	}
}

// Close ends the file and gives it its name.
func (w *Notes) Close() error { return w.file.Close() }

// Abort removes the unfinished file.
func (w *Notes) Abort() { w.file.Abort() }
