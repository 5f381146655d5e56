package parquet

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/velum-health/velum/stages/read/input"
)

// Cell is a value of a row of a table. A column of lists has several in a row.
type Cell struct {
	Column int
	Text   string
	Number bool // it was one in the file, and not text
}

// ErrNoHeader is returned by the function columns of EachRow for a line that is a
// row already.
var ErrNoHeader = errors.New("no header")

// Rows reads row by row: lists are flattened, names are those of the
// columns at the top.
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
	var leaves []format.SchemaElement
	for _, e := range p.Metadata().Schema {
		if e.Type.Valid {
			leaves = append(leaves, e)
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

func groupRows(group parquet.RowGroup, leaves []format.SchemaElement, n *int64, row func(int64, []Cell) error) (err error) {
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
				if c := cellOf(v, &leaves[v.Column()]); c.Text != "" {
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

// cellOf writes a value as text; "" for null and for what is neither text, number
// nor time.
func cellOf(v parquet.Value, e *format.SchemaElement) Cell {
	c := Cell{Column: v.Column()}
	if v.IsNull() {
		return c
	}
	decimal, isDecimal := logical(e).(*format.DecimalType)
	_, isTime := dayIn(e)
	switch kind := v.Kind(); {
	case isDecimal && (kind == parquet.Int32 || kind == parquet.Int64):
		c.Text, c.Number = string(appendDecimal(nil, v.String(), int(decimal.Scale))), true
	case isDecimal:
		c.Text, c.Number = string(appendDecimal(nil, bigEndian(v.ByteArray()).String(), int(decimal.Scale))), true
	case kind == parquet.Double && math.IsNaN(v.Double()), kind == parquet.Float && v.Float() != v.Float():
	case kind == parquet.Float:
		c.Text, c.Number = strconv.FormatFloat(float64(v.Float()), 'f', -1, 32), true
	case kind == parquet.Double:
		c.Text, c.Number = strconv.FormatFloat(v.Double(), 'f', -1, 64), true
	default:
		c.Text = cellText(v, e)
		c.Number = !isTime && (kind == parquet.Int32 || kind == parquet.Int64)
	}
	return c
}

func cellText(v parquet.Value, e *format.SchemaElement) string {
	day := func(days int64) string { return time.Unix(days*secondsADay, 0).UTC().Format(time.DateOnly) }
	unit, isTime := dayIn(e)
	switch v.Kind() {
	case parquet.ByteArray, parquet.FixedLenByteArray:
		return strings.TrimSpace(string(v.ByteArray()))
	case parquet.Int32:
		if isTime && unit > 0 {
			return day(floorDiv(int64(v.Int32()), unit))
		}
		return strconv.FormatInt(int64(v.Int32()), 10)
	case parquet.Int64:
		if isTime && unit > 0 {
			return day(floorDiv(v.Int64(), unit))
		}
		if l, ok := logical(e).(*format.IntType); ok && !l.IsSigned {
			return strconv.FormatUint(v.Uint64(), 10)
		}
		return strconv.FormatInt(v.Int64(), 10)
	case parquet.Int96:
		return day(int64(v.Int96()[2]) - julianEpoch)
	case parquet.Boolean:
		return strconv.FormatBool(v.Boolean())
	}
	return ""
}

// julianEpoch is the Julian day of 1970-01-01, in which Int96 counts.
const julianEpoch = 2440588
