package write

import (
	"os"
	"path/filepath"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/column"
	"github.com/velum-health/velum/pipeline/offset"
	"github.com/velum-health/velum/stages/write/table"
)

// Notes writes notes as a file of Parquet:
//
//	note_id, columns of Batch.Extra, text, spans
//
// With spans, a JSON list as in CSV whose offsets count bytes of the text, it is the form that convert reads back: it has no other
// columns, and notes that are not UTF-8 or have no id are left out and counted. Without, it is an archive as a hospital exports it,
// which takes every note as it is and has the columns of the first batch. A note without text has null.
type Notes struct {
	notes
	path  string
	rows  int  // of a row group
	spans bool // are written
	file  *lineFile
	table *table.Table // nil before the first batch
	extra int          // columns of it
	lists []byte       // of the spans of a batch
}

// newNotes creates the folder if it does not exist, and writes notes.parquet in it.
func newNotes(dir string, o TextOptions) (Text, error) {
	w := NewArchive(filepath.Join(dir, "notes.parquet"), 0, o)
	w.spans, w.takes = true, isTextOrNull
	return w, os.MkdirAll(dir, folderMode(w.o.Mode))
}

// NewArchive writes a file without spans, with rowGroup rows per row group (0: 100,000).
func NewArchive(path string, rowGroup int, o TextOptions) *Notes {
	w := &Notes{notes: notes{o: o.withDefaults(), takes: func(*pipeline.Batch, int) bool { return true }}, path: path, rows: rowGroup}
	w.put = w.note
	return w
}

// Put implements pipeline.Sink.
func (w *Notes) Put(b *pipeline.Batch) error {
	if w.table == nil {
		if err := w.open(b.Extra); err != nil {
			return err
		}
	}
	w.lists = w.lists[:0]
	if err := w.notes.Put(b); err != nil {
		return err
	}
	return w.table.Rest()
}

func (w *Notes) note(b *pipeline.Batch, i int) (err error) {
	c := w.table.Columns
	c[0].Bytes(b.ID.At(i))
	for k := range w.extra {
		c[1+k].Copy(&b.Extra[k], i)
	}
	if text := &c[1+w.extra]; isNull(b, i) {
		text.Null()
	} else {
		text.Bytes(b.Text.At(i))
	}
	if w.spans {
		at := len(w.lists)
		if w.lists, err = AppendSpans(w.lists, &w.index, b.ID.At(i), b.Text.At(i), w.o.spans(b, i), offset.Bytes); err != nil {
			return err
		}
		c[2].Bytes(w.lists[at:])
	}
	return w.table.Full()
}

// open opens the file beside its place; Close puts it there.
func (w *Notes) open(extra []pipeline.Column) (err error) {
	columns := []column.Column{column.Text("note_id")}
	if w.spans {
		extra = nil
	}
	w.extra = len(extra)
	for _, e := range append(extra[:w.extra:w.extra], pipeline.Column{Name: "text"}) {
		c, err := column.Passed(&e)
		if err != nil {
			return err
		}
		columns = append(columns, c)
	}
	if w.spans {
		columns = append(columns, column.Text("spans"))
	}
	if w.file, err = newLineFile(filepath.Clean(w.path), w.o.Mode); err == nil {
		w.table = table.New(w.file, columns, w.rows)
	}
	return err
}

// Close finishes the file and renames it to its final name.
func (w *Notes) Close() error {
	if w.table == nil {
		if err := w.open(nil); err != nil {
			return err
		}
	}
	if w.file.done {
		return nil
	}
	if _, _, err := w.table.Close(); err != nil {
		w.file.Abort()
		return err
	}
	return w.file.Close()
}

// Abort removes the unfinished file.
func (w *Notes) Abort() {
	if w.file != nil {
		w.file.Abort()
	}
}
