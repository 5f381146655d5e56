// Package rewrite writes parts of units again: Rest without the rows of removed files, Mix with the rows of all units in the
// order of their numbers. Each part is held against its digest while it is read.
package rewrite

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"

	"github.com/parquet-go/parquet-go"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/column"
	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/pipeline/durable"
	"github.com/velum-health/velum/stages/write/table"
)

// reader reads the rows of a part of ours one by one, and makes sure that they are what was written.
type reader struct {
	of     commit.Staged
	file   durable.File
	footer *parquet.File
	groups []parquet.RowGroup // that are left
	rows   parquet.Rows       // of the one at hand
	some   []parquet.Row      // of these
	at, n  int                // the next of them, and how many they are
	seen   int64
	digest []table.Digest

	row    parquet.Row // the one at hand; nil: there are no more
	number int64       // by which the key calls it
	called int         // column that has it
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
		leaf, _ := r.footer.Schema().Lookup(path...)
		r.digest = append(r.digest, table.NewDigest(leaf.MaxDefinitionLevel > 0))
		if len(path) == 1 && path[0] == pipeline.RowColumn {
			r.called = i
		}
	}
	return r, nil
}

// again begins a part of the same columns and metadata; others stand in place of columns of their names.
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

// changed says that the part is not what was written.
func (r *reader) changed() error {
	return &durable.IntegrityError{Path: r.of.Path, Cause: "is changed since it was written; run.recheck=0d does again what is given, and names the input of what is not"}
}

// next goes to the next row. Values of the last ones are good until then, and some of them may wait in to.
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
				return r.end()
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
		for i := range r.digest {
			r.digest[i].Flush()
		}
	}
	r.row = r.some[r.at]
	r.at++
	r.seen++
	for i, v := range r.row {
		if v.Column() == r.called {
			r.number = v.Int64()
		}
		r.digest[v.Column()].Values(r.row[i : i+1])
	}
	return nil
}

// end makes sure that what was read is what was written.
func (r *reader) end() error {
	h := sha256.New()
	for i, path := range r.footer.Schema().Columns() {
		r.digest[i].Sum(h, path[0])
	}
	if r.seen != r.of.Rows || hex.EncodeToString(h.Sum(nil)[:16]) != r.of.Digest {
		return r.changed()
	}
	return nil
}
