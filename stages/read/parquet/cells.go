package parquet

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/velum-health/velum/stages/read/input"
)

// Cell is a value in a row of a table. A column of lists has several cells per row.
type Cell struct {
	Column int
	Text   string
	Number bool // it was a number in the file, not text
}

// ErrNoHeader is returned by the function columns of EachRow if the first line of a CSV file is a row and no header.
var ErrNoHeader = errors.New("no header")

// Rows reads a Parquet file row by row. Lists are flattened; names are those of top-level columns.
func Rows(path string, columns func([]string) error, row func(int64, []Cell) error) (err error) {
	refuse := func(cause string) error {
		return &input.Error{Path: path, Cause: cause, Remedy: "give a table of Parquet or CSV"}
	}
	file, err := os.Open(path)
	if err != nil {
		return refuse(input.Cause(err))
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return refuse("is no file")
	}
	p, err := parquet.OpenFile(file, info.Size())
	if err != nil {
		return refuse("is no Parquet file")
	}
	var names []string
	var leaves []leafText
	for _, e := range p.Metadata().Schema {
		if e.Type.Valid {
			leaves = append(leaves, leafText{e, textOf(&e)})
		}
	}
	for _, leaf := range p.Schema().Columns() {
		names = append(names, leaf[0])
	}
	if len(leaves) != len(names) {
		return refuse("has a schema that cannot be")
	}
	if err := columns(names); err != nil && !errors.Is(err, ErrNoHeader) {
		return err
	}
	n := int64(0)
	for _, group := range p.RowGroups() {
		if group.NumRows() == 0 { // the library cannot read columns of a null type
			continue
		}
		if err := groupRows(group, leaves, &n, row); err != nil {
			if errors.Is(err, errRows) {
				return refuse(fmt.Sprintf("cannot be decoded behind row %d", n))
			}
			return err
		}
	}
	return nil
}

var errRows = errors.New("rows cannot be decoded")

func groupRows(group parquet.RowGroup, leaves []leafText, n *int64, row func(int64, []Cell) error) (err error) {
	rows := group.Rows()
	defer func() { err = errors.Join(err, rows.Close()) }()
	buffer := make([]parquet.Row, 256)
	var cells []Cell
	for {
		got, err := rows.ReadRows(buffer)
		for _, values := range buffer[:got] {
			*n++
			cells = cells[:0]
			for _, v := range values {
				if c := leaves[v.Column()].cell(v); c.Text != "" {
					cells = append(cells, c)
				}
			}
			if err := row(*n, cells); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return errRows
		}
	}
}

// leafText is a column that has values, and how they are written.
type leafText struct {
	format.SchemaElement
	write asText
}

// cell writes a value as text; "" for null and for what is no number. Of a time it has the date.
func (l *leafText) cell(v parquet.Value) (c Cell) {
	c.Column = v.Column()
	if v.IsNull() {
		return c
	}
	_, isDecimal := logical(&l.SchemaElement).(*format.DecimalType)
	_, isTime := dayIn(&l.SchemaElement)
	kind := v.Kind()
	c.Text = strings.TrimSpace(string(l.write(nil, v.Bytes())))
	c.Number = isDecimal || !isTime && kind != parquet.Boolean && kind < parquet.ByteArray
	switch {
	case isTime:
		c.Text, _, _ = strings.Cut(c.Text, "T")
	case c.Number && c.Text == "NaN":
		c.Text = ""
	}
	return c
}
