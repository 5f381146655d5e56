package write

import (
	"path/filepath"

	"github.com/velum-health/velum/pipeline"
)

// Archive writes notes as a hospital exports them: one Parquet file with
// note_id, the columns of Batch.Extra, and the text; no spans. `velum teach synth`
// and the benchmarks make their archives with it.
type Archive struct {
	o      TextOptions
	path   string
	rows   int
	file   tableFile
	extra  []pipeline.Column
	opened bool
}

// NewArchive begins a file with row groups of so many notes (0: 100,000). Its
// columns are those of the first batch.
func NewArchive(path string, rowGroup int, o TextOptions) *Archive {
	return &Archive{o: o.withDefaults(), path: path, rows: rowGroup}
}

// Put implements pipeline.Sink. Notes that are not sound are written as they
// are; a note of null text has null.
func (w *Archive) Put(b *pipeline.Batch) error {
	if !w.opened {
		if err := w.open(b.Extra); err != nil {
			return err
		}
	}
	c := w.file.columns
	for i := range b.Len() {
		c[0].bytes(b.ID.At(i))
		for k := range w.extra {
			c[1+k].copy(&b.Extra[k], i)
		}
		if reason(b, i) == pipeline.NullText {
			c[len(c)-1].null()
		} else {
			c[len(c)-1].bytes(b.Text.At(i))
		}
		if err := w.file.full(); err != nil {
			return err
		}
	}
	return w.file.rest()
}

func (w *Archive) open(extra []pipeline.Column) (err error) {
	columns := []column{{name: "note_id"}}
	for _, e := range extra {
		columns = append(columns, column{name: e.Name, kind: e.Kind, optional: true})
		w.extra = append(w.extra, pipeline.Column{Name: e.Name, Kind: e.Kind})
	}
	columns = append(columns, column{name: "text", optional: true})
	w.opened = true
	w.file, err = newTableFile(filepath.Clean(w.path), w.o.Mode, columns, w.rows)
	return err
}

// Skipped returns 0: an archive takes every note.
func (w *Archive) Skipped() int { return 0 }

// Close ends the file and gives it its name.
func (w *Archive) Close() error {
	if !w.opened {
		if err := w.open(nil); err != nil {
			return err
		}
	}
	return w.file.Close()
}

// Abort removes the unfinished file.
func (w *Archive) Abort() {
	if w.opened {
		w.file.Abort()
	}
}
