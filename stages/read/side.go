package read

import (
	"cmp"
	"errors"
	"io"

	"github.com/parquet-go/parquet-go/format"
)

// PartValue is a value of a part of ours: the bits of a number, or bytes, which
// are good during the call.
type PartValue struct {
	Bits  uint64
	Bytes []byte
}

// EachOf calls do for every row of a part of ours of size bytes with the values of
// some columns, side by side: what RowsIn does, without a string a value. Errors
// are those of do, *SchemaError and *commit.DamageError.
func EachOf(path string, r io.ReaderAt, size int64, names []string, do func(row []PartValue) error) error {
	return fence(path, func() (err error) {
		f, err := readFooter(path, r, size)
		if err != nil {
			return err
		}
		var columns []int
		for _, name := range names {
			at := f.named(name)
			if len(at) != 1 || !f.columns[at[0]].flat() || f.columns[at[0]].leaves[0].maxDef != 0 {
				return &SchemaError{path, name, "is not as velum writes it", "give the part as velum wrote it"}
			}
			columns = append(columns, at[0])
		}
		groups := len(f.meta.RowGroups)
		if err := f.checkChunks(0, groups, columns); err != nil {
			return err
		}
		file, err := f.open(columns, 0, groups)
		if err != nil {
			return err
		}
		s := &side{row: make([]PartValue, len(columns)), cursors: make([]cursor, len(columns)), text: make([]bool, len(columns))}
		for k, column := range columns {
			s.cursors[k] = f.cursor(column, 0, file, 0, groups)
			s.text[k] = f.columns[column].leaves[0].element.Type.V == format.ByteArray
		}
		defer func() {
			for k := range s.cursors {
				err = errors.Join(err, s.cursors[k].close())
			}
		}()
		return s.each(do)
	})
}

// side is some columns of a part.
type side struct {
	row     []PartValue
	cursors []cursor
	text    []bool // by column: byte strings
}

func (s *side) each(do func(row []PartValue) error) error {
	for {
		for k := range s.cursors {
			c := &s.cursors[k]
			if c.n == 0 {
				if err := c.load(); err == io.EOF && k == 0 {
					return s.end()
				} else if err != nil {
					return c.early(err)
				}
			}
			at := c.step()
			if s.text[k] {
				s.row[k].Bytes = c.bytes(at)
			} else {
				s.row[k].Bits = c.fixed(at)
			}
		}
		if err := do(s.row); err != nil {
			return err
		}
	}
}

// end checks that all columns end together.
func (s *side) end() error {
	for k := range s.cursors {
		c := &s.cursors[k]
		if c.n > 0 {
			return c.damage("has more values than the other columns")
		}
		if err := c.load(); err != io.EOF {
			return cmp.Or[error](err, c.damage("has more values than the other columns"))
		}
	}
	return nil
}
