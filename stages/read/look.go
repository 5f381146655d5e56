package read

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"slices"

	"github.com/velum-health/velum/stages/read/input"
	"github.com/velum-health/velum/stages/read/parquet"
	"github.com/velum-health/velum/stages/read/text"
)

// Head describes the beginning of a table: column names, encoding, delimiter, and broken rows.
type Head struct {
	Names    []string // of the columns; JSON may bring more with each object
	Encoding string   // of tables of text
	Comma    rune     // CSV
	Broken   int      // rows that break the format
}

// ErrEnough may be returned by the function row of Look to stop reading.
var ErrEnough = errors.New("enough rows")

// Look reads rows of a table in the given format (parquet, csv, jsonl) from the beginning, like EachRow, but continues
// after a row that violates the format. Nested JSON values are skipped.
func Look(path, format string, o text.Options, h *Head, row func(cells []parquet.Cell) error) error {
	o.SetAside = func(error) { h.Broken++ }
	each := func(_ int64, cells []parquet.Cell) error { return row(cells) }
	var err error
	switch format {
	case "csv":
		err = text.CSVRows(path, o, func(t text.Header) error {
			h.Names, h.Encoding, h.Comma = t.Names, t.Encoding.String(), t.Comma
			return nil
		}, each)
	case "jsonl":
		err = h.objects(path, o, row)
	default:
		err = EachRow(path, o, func(names []string) error { h.Names = names; return nil }, each)
	}
	if errors.Is(err, ErrEnough) {
		return nil
	}
	return err
}

func (h *Head) objects(path string, o text.Options, row func([]parquet.Cell) error) error {
	j, err := text.NewJSONL(path, o)
	if err != nil {
		return err
	}
	defer j.Close() // only read
	if h.Encoding = j.Warnings().Encoding; h.Encoding == "" {
		h.Encoding = input.UTF8.String()
	}
	var cells []parquet.Cell
	for {
		value, _, err := j.Object()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if value = bytes.TrimSpace(value); len(value) == 0 {
			continue
		}
		var fields map[string]any
		d := json.NewDecoder(bytes.NewReader(value))
		d.UseNumber()
		if d.Decode(&fields) != nil {
			h.Broken++
			continue
		}
		cells = cells[:0]
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			if c, ok := cellOf(fields[name]); ok {
				c.Column = h.column(name)
				cells = append(cells, c)
			}
		}
		if err := row(cells); err != nil {
			return err
		}
	}
}

// column is the number of a field, which may be a new one.
func (h *Head) column(name string) int {
	at := slices.Index(h.Names, name)
	if at < 0 {
		at = len(h.Names)
		h.Names = append(h.Names, name)
	}
	return at
}

func cellOf(value any) (c parquet.Cell, ok bool) {
	switch v := value.(type) {
	case string:
		c.Text = v
	case json.Number:
		c.Text, c.Number = v.String(), true
	}
	return c, c.Text != ""
}
