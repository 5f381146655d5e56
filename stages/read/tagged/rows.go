package tagged

import (
	"errors"
	"io"
	"iter"
	"os"
	"path/filepath"

	"github.com/parquet-go/parquet-go"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/pipeline/durable"
)

// Rows calls do for every row of all parts of one kind in a tree in dir, in the order of the manifest. T has the wanted
// columns as parquet-go tags. Errors are those of do, and *durable.IntegrityError.
func Rows[T any](m *commit.Manifest, dir, kind string, do func(T) error) error {
	for _, p := range Parts(m, kind) {
		if err := RowsOf(filepath.Join(dir, p.Path), do); err != nil {
			return err
		}
	}
	return nil
}

// Parts goes over the parts of a kind, with their units.
func Parts(m *commit.Manifest, kind string) iter.Seq2[*commit.UnitRecord, *commit.PartRecord] {
	return func(yield func(*commit.UnitRecord, *commit.PartRecord) bool) {
		for i := range m.Units {
			for k := range m.Units[i].Parts {
				if p := &m.Units[i].Parts[k]; p.Kind == kind && !yield(&m.Units[i], p) {
					return
				}
			}
		}
	}
}

// RowsOf is Rows for one part.
func RowsOf[T any](path string, do func(T) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(RowsIn(path, f, do), f.Close())
}

// RowsFrom calls do for every row of a part of an output that is being finished.
func RowsFrom[T any](f *commit.Final, p *commit.PartRecord, do func(T) error) error {
	file, err := f.Open(*p)
	if err != nil {
		return err
	}
	return errors.Join(RowsIn(p.Path, io.NewSectionReader(file, 0, p.Bytes), do), file.Close())
}

// RowsIn is Rows for a part that is open or in memory; path is for errors.
func RowsIn[T any](path string, part io.ReaderAt, do func(T) error) error {
	var r *parquet.GenericReader[T]
	err := pipeline.Try(func() error { r = parquet.NewGenericReader[T](part); return nil }) // the library panics on what is no Parquet
	if err == nil {
		defer r.Close()
	}
	for rows := make([]T, 1024); err == nil; {
		n := 0
		err = pipeline.Try(func() (err error) { n, err = r.Read(rows); return err })
		for _, row := range rows[:n] {
			if err := do(row); err != nil {
				return err
			}
		}
	}
	if err == io.EOF {
		return nil
	}
	return &durable.IntegrityError{Path: path, Cause: "is not as velum wrote it: it cannot be read"}
}
