// Package rewrite reads parts that a run has written, and writes their rows into new parts. Rest writes a unit without
// the rows of removed files. Mix merges the rows of all units into public parts, in the order of a keyed number that
// each row has, so that the place of a row does not tell its file. The bytes of a part are checked against their digest
// before a row of it is used.
package rewrite

import (
	"bytes"
	"errors"
	"io"
	"sort"

	"github.com/parquet-go/parquet-go"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/column"
	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/pipeline/durable"
	"github.com/velum-health/velum/stages/write/table"
)

// reader reads the rows of a part one by one. The bytes of the part have been checked against their digest before.
type reader struct {
	of     commit.Staged
	file   durable.File
	footer *parquet.File
	groups []parquet.RowGroup // not read yet
	rows   parquet.Rows       // of the current group
	some   []parquet.Row      // that were read of rows
	at, n  int                // index of the next row in some, and number of rows in some

	row    parquet.Row // the current row; nil: there are no more
	number int64       // of the current row, computed with the key
	called int         // index of the column that holds the number; -1: none
}

func openPart(s commit.Staged) (*reader, error) {
	r := &reader{of: s, some: make([]parquet.Row, 64), called: -1}
	var err error
	if r.file, err = s.Open(); err != nil {
		return nil, err
	}
	if r.footer, err = parquet.OpenFile(r.file, s.Bytes, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true)); err != nil {
		return nil, errors.Join(r.changed(), r.file.Close())
	}
	r.groups = r.footer.RowGroups()
	for i, path := range r.footer.Schema().Columns() {
		if len(path) == 1 && path[0] == pipeline.RowColumn {
			r.called = i
		}
	}
	return r, nil
}

// again begins a part with the same columns and metadata. Columns in others replace those of the same name.
func (r *reader) again(file *commit.Part, rowGroup int, others ...column.Column) (*table.Part, error) {
	meta := r.footer.Metadata()
	columns, ok := column.Of(meta.Schema[1:])
	if !ok {
		return nil, r.changed()
	}
	for i := range columns {
		for _, c := range others {
			if columns[i].Name == c.Name {
				columns[i] = c
			}
		}
	}
	var metadata []string
	for _, pair := range meta.KeyValueMetadata {
		metadata = append(metadata, pair.Key, pair.Value)
	}
	return &table.Part{Table: table.New(file, columns, rowGroup, metadata...), File: file}, nil
}

// changed returns the error for a part that is not as velum wrote it.
func (r *reader) changed() error {
	return &durable.IntegrityError{Path: r.of.Path,
		Cause: "does not read as it was written; run.recheck=0d does again what is given, and names the input of what is not"}
}

// seek moves to the first row whose number is at least the given one. The rows of the part must be in the order of
// their numbers.
func (r *reader) seek(number int64) (err error) {
	at := sort.Search(len(r.groups), func(g int) bool {
		var first [1]parquet.Value
		pages := r.groups[g].ColumnChunks()[r.called].Pages()
		page, bad := pages.ReadPage()
		if bad == nil {
			_, _ = page.Values().ReadValues(first[:])
			parquet.Release(page)
		}
		err = errors.Join(err, bad, pages.Close())
		return first[0].Int64() >= number
	})
	if err != nil {
		return r.changed()
	}
	r.groups = r.groups[max(at-1, 0):]
	for err == nil {
		if err = r.next(nil); r.row == nil || r.number >= number {
			break
		}
	}
	return err
}

// next moves to the next row. It reads up to 64 rows at once, which makes the values of earlier rows invalid; before
// that, it lets to write the rows that it still holds.
func (r *reader) next(to *table.Part) error {
	for r.at == r.n {
		if to != nil {
			if err := to.Rest(); err != nil {
				return err
			}
		}
		if r.rows == nil {
			if len(r.groups) == 0 {
				r.row = nil
				return nil
			}
			r.rows, r.groups = r.groups[0].Rows(), r.groups[1:]
		}
		n, err := r.rows.ReadRows(r.some)
		if r.at, r.n = 0, n; err == io.EOF {
			err = r.rows.Close()
			r.rows = nil
		}
		if err != nil {
			return r.changed()
		}
	}
	r.row = r.some[r.at]
	r.at++
	for _, v := range r.row {
		if v.Column() == r.called {
			r.number = v.Int64()
			break
		}
	}
	return nil
}

// before reports whether the current row is to be written before that of another reader: by number, and by id if the
// numbers are equal. The id is the first column of every part that is mixed.
func (r *reader) before(o *reader) bool {
	return r.number < o.number || r.number == o.number && bytes.Compare(r.row[0].ByteArray(), o.row[0].ByteArray()) < 0
}
