package text

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/velum-health/velum/stages/read/parquet"
)

// IsCSV tells whether a table is CSV, by its name.
func IsCSV(path string) bool {
	ext := strings.ToLower(filepath.Ext(strings.TrimSuffix(strings.TrimSuffix(path, ".gz"), ".zst")))
	return ext == ".csv" || ext == ".tsv" || ext == ".txt"
}

func CSVRows(path string, o Options, columns func([]string) error, row func(int64, []parquet.Cell) error) (err error) {
	r := &CSV{intake: newIntake(path, o)}
	if err := r.begin(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	if err := r.next(); err != nil {
		return r.wrong(place{}, "no header", "write a header line with the names of the columns")
	}
	var names []string
	for k := range r.record.Len() {
		names = append(names, strings.TrimSpace(string(r.record.At(k))))
	}
	err = columns(names)
	headless := errors.Is(err, parquet.ErrNoHeader)
	if err != nil && !headless {
		return err
	}
	var cells []parquet.Cell
	for n := int64(1); ; n++ {
		if n == 1 && !headless {
			continue
		}
		if n == 1 { // the record at hand
		} else if err := r.next(); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		if r.record.Len() != len(names) {
			return r.wrong(r.starts[0], fmt.Sprintf("row of %d fields, the header has %d", r.record.Len(), len(names)), "quote fields that hold delimiters or line ends")
		}
		cells = cells[:0]
		for k := range names {
			if text := strings.TrimSpace(string(r.record.At(k))); text != "" {
				cells = append(cells, parquet.Cell{Column: k, Text: text})
			}
		}
		if err := row(n, cells); err != nil {
			return err
		}
	}
}
