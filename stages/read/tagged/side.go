package tagged

import (
	"bytes"
	"cmp"
	"errors"
	"io"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/column"
	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/stages/read/input"
	"github.com/velum-health/velum/stages/read/parquet"
)

// PartValue is a value in a part that velum has written: the bits of a number, or bytes that are valid until the next
// row. Values of one page that are in one place of it are the same.
type PartValue struct {
	Bits        uint64
	Bytes       []byte
	Page, Place int
}

// Part is an open part that velum has written.
type Part interface {
	io.ReaderAt
	Size() int64
}

// EachOf calls do for every row of a part that velum has written, with the values of the named columns.
// Unlike RowsIn it allocates no string per value. Errors are those of do, *input.SchemaError and *commit.DamageError.
func EachOf(path string, part Part, names []string, do func(row []PartValue) error) error {
	return parquet.Guard(path, func() (err error) {
		f, err := parquet.ReadFooter(path, part, part.Size())
		if err != nil {
			return err
		}
		wanted := make([]column.Column, len(names))
		for k, name := range names {
			wanted[k].Name = name
		}
		s, err := openSide(f, path, wanted)
		if err != nil {
			return err
		}
		for err == nil {
			if err = s.next(); err == nil {
				err = do(s.row)
			}
		}
		if err == io.EOF {
			err = nil
		}
		return errors.Join(err, s.close())
	})
}

// EachIn is EachOf for a part of an output in its last step.
func EachIn(f *commit.Final, p commit.PartRecord, names []string, do func(row []PartValue) error) error {
	file, err := f.Open(p)
	if err != nil {
		return err
	}
	return errors.Join(EachOf(p.Path, io.NewSectionReader(file, 0, p.Bytes), names, do), file.Close())
}

// Sources returns what makes rows of the input file of those of a unit's parts: themselves, unless the unit is mixed. read reads a
// part of the private tree.
func Sources(parts []commit.PartRecord, read func(*commit.PartRecord) ([]byte, error)) (func(row int64) int64, error) {
	rows := map[int64]int64{}
	for i := range parts {
		p := &parts[i]
		if p.Kind != "notes" {
			continue
		}
		data, err := read(p)
		if err == nil {
			err = EachOf(p.Path, bytes.NewReader(data), []string{pipeline.RowColumn, pipeline.SourceColumn}, func(row []PartValue) error {
				rows[int64(row[0].Bits)] = int64(row[1].Bits)
				return nil
			})
		}
		if _, none := errors.AsType[*input.SchemaError](err); err != nil && !none {
			return nil, err
		}
	}
	return func(row int64) int64 {
		if source, mixed := rows[row]; mixed {
			return source
		}
		return row
	}, nil
}

// side is some columns of a part, row by row.
type side struct {
	row     []PartValue // the current one
	cursors []parquet.Cursor
}

// openSide opens columns of one value a row that is never missing. One without elements may be of any type.
func openSide(f *parquet.Footer, path string, wanted []column.Column) (*side, error) {
	var columns []int
	for _, want := range wanted {
		at := f.Named(want.Name)
		if len(at) != 1 || !f.Columns[at[0]].Flat() || f.Columns[at[0]].Leaves[0].MaxDef != 0 || want.Elements != nil &&
			f.Columns[at[0]].Elements[0].Type != want.Elements[0].Type {
			return nil, &input.SchemaError{Path: path, Column: want.Name, Cause: "is not as velum writes it",
				Remedy: "give the part as velum wrote it"}
		}
		columns = append(columns, at[0])
	}
	groups := len(f.Meta.RowGroups)
	if err := f.CheckChunks(0, groups, columns); err != nil {
		return nil, err
	}
	file, err := f.Open(columns)
	if err != nil {
		return nil, err
	}
	s := &side{row: make([]PartValue, len(columns)), cursors: make([]parquet.Cursor, len(columns))}
	for k, at := range columns {
		s.cursors[k] = f.Cursor(at, 0, file, 0, groups)
	}
	return s, nil
}

// next reads a row; io.EOF where all columns end together.
func (s *side) next() error {
	for k := range s.cursors {
		c := &s.cursors[k]
		if c.N == 0 {
			if err := c.Load(); err == io.EOF && k == 0 {
				return s.end()
			} else if err != nil {
				return c.Early(err)
			}
			s.row[k].Page++
		}
		at := c.Step()
		if s.row[k].Place = at; c.Offsets != nil {
			s.row[k].Bytes = c.Bytes(at)
		} else {
			s.row[k].Bits = c.Fixed(at)
		}
	}
	return nil
}

func (s *side) end() error {
	for k := range s.cursors {
		c := &s.cursors[k]
		if c.N > 0 {
			return c.Damage("has more values than the other columns")
		}
		if err := c.Load(); err != io.EOF {
			return cmp.Or[error](err, c.Damage("has more values than the other columns"))
		}
	}
	return io.EOF
}

func (s *side) close() error {
	var errs []error
	for k := range s.cursors {
		errs = append(errs, s.cursors[k].Close())
	}
	return errors.Join(errs...)
}
