package write

import (
	"bufio"
	"errors"
	"os"
	"path/filepath"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/offset"
)

// Tables writes notes and their spans as two Parquet files of a folder, the
// form that convert reads back:
//
//	notes.parquet  note_id, text
//	spans.parquet  note_id, row, start, end, category, score, source
//
// row is the number of the note in notes.parquet, from 0; start and end count
// bytes of its text. A note without text has null; notes that are not UTF-8 or
// have no id are left out and counted.
type Tables struct {
	o            TextOptions
	notes, spans tableFile
	rows         int64
	index        offset.Index
	leftOut
	done bool
}

// Columns of spans.parquet, by number.
const (
	spanID = iota
	spanRow
	spanStart
	spanEnd
	spanCategory
	spanScore
	spanSource
)

// tableFile is a table and the file that takes its name when it is whole.
type tableFile struct {
	*table
	out  *bufio.Writer
	temp *temp
}

// NewTables makes the folder if it is not there and opens both files beside
// their places; Close puts them there.
func NewTables(dir string, o TextOptions) (*Tables, error) {
	w := &Tables{o: o.withDefaults()}
	if err := os.MkdirAll(dir, folderMode(w.o.Mode)); err != nil {
		return nil, err
	}
	var err error
	w.notes, err = newTableFile(filepath.Join(dir, "notes.parquet"), w.o.Mode, []column{{name: "note_id"}, {name: "text", optional: true}}, 0)
	if err != nil {
		return nil, err
	}
	w.spans, err = newTableFile(filepath.Join(dir, "spans.parquet"), w.o.Mode, []column{
		{name: "note_id"}, {name: "row", kind: pipeline.Int64Column},
		{name: "start", kind: pipeline.Int32Column}, {name: "end", kind: pipeline.Int32Column},
		{name: "category", dict: true}, {name: "score", kind: pipeline.FloatColumn}, {name: "source", dict: true},
	}, 0)
	if err != nil {
		w.notes.temp.discard()
		return nil, err
	}
	return w, nil
}

func newTableFile(path string, mode os.FileMode, columns []column, rowGroup int) (tableFile, error) {
	t, err := newTemp(path, mode)
	if err != nil {
		return tableFile{}, err
	}
	out := bufio.NewWriterSize(t, 1<<16)
	return tableFile{newTable(out, columns, rowGroup), out, t}, nil
}

// Put implements pipeline.Sink.
func (w *Tables) Put(b *pipeline.Batch) error {
	for i := range b.Len() {
		null := reason(b, i) == pipeline.NullText
		if !null && unwritable(b, i) {
			w.skipped++
			continue
		}
		w.notes.columns[0].bytes(b.ID.At(i))
		if null {
			w.notes.columns[1].null()
		} else {
			w.notes.columns[1].bytes(b.Text.At(i))
		}
		if err := w.notes.full(); err != nil {
			return err
		}
		if err := w.putSpans(b, i); err != nil {
			return err
		}
		w.rows++
	}
	// Values point into the batch: nothing may wait for the next one.
	return errors.Join(w.notes.rest(), w.spans.rest())
}

func (w *Tables) putSpans(b *pipeline.Batch, i int) error {
	spans := w.o.spans(b, i)
	if len(spans) == 0 {
		return nil
	}
	w.index.Reset(b.Text.At(i), offset.Bytes)
	c := w.spans.columns
	for _, s := range spans {
		if _, _, err := offsets(&w.index, b.ID.At(i), s); err != nil {
			return err
		}
		c[spanID].bytes(b.ID.At(i))
		c[spanRow].int64(w.rows)
		c[spanStart].int32(s.Start)
		c[spanEnd].int32(s.End)
		c[spanCategory].bytes(categoryNames()[s.Category])
		c[spanScore].float(s.Score)
		c[spanSource].bytes(sourceNames[s.Source])
		if err := w.spans.full(); err != nil {
			return err
		}
	}
	return nil
}

// full flushes when as many rows wait as may.
func (t *tableFile) full() error {
	if n := t.pending(); n == t.room() {
		return t.flush(n)
	}
	return nil
}

// rest flushes the rows that wait.
func (t *tableFile) rest() error {
	if n := t.pending(); n > 0 {
		return t.flush(n)
	}
	return nil
}

// finish ends the file, still beside its place.
func (t *tableFile) finish() error {
	_, err := t.close()
	return errors.Join(err, t.out.Flush())
}

// Close ends both files and gives them their names, the notes last: a folder
// with notes.parquet is whole.
func (w *Tables) Close() error {
	if w.done {
		return nil
	}
	if err := errors.Join(w.spans.finish(), w.notes.finish()); err != nil {
		w.Abort()
		return err
	}
	w.done = true
	if err := w.spans.temp.commit(); err != nil {
		w.notes.temp.discard()
		return err
	}
	return w.notes.temp.commit()
}

// Abort removes the unfinished files.
func (w *Tables) Abort() {
	if !w.done {
		w.done = true
		w.spans.temp.discard()
		w.notes.temp.discard()
	}
}
