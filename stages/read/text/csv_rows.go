package text

import (
	"errors"
	"io"
	"strings"

	"github.com/velum-health/velum/stages/read/input"
	"github.com/velum-health/velum/stages/read/parquet"
)

// Header describes a CSV table: column names, encoding and delimiter.
type Header struct {
	Names    []string
	Encoding input.Encoding
	Comma    rune
}

// CSVRows reads a CSV table with unknown columns: see read.EachRow. With Options.SetAside it continues after broken
// rows.
func CSVRows(path string, o Options, columns func(Header) error, row func(int64, []parquet.Cell) error) (err error) {
	r := &CSV{intake: newIntake(path, o), lenient: o.SetAside != nil}
	if err := r.begin(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	names, err := r.heads()
	if err != nil {
		return err
	}
	for k := range names {
		names[k] = strings.TrimSpace(names[k])
	}
	err = columns(Header{names, r.encoding, r.o.Comma})
	headless := errors.Is(err, parquet.ErrNoHeader)
	if err != nil && !headless {
		return err
	}
	var cells []parquet.Cell
	for n := int64(1); ; n++ {
		if n > 1 {
			err = r.next()
		} else if err = nil; !headless {
			continue
		}
		if err == io.EOF {
			return nil
		} else if broken, ok := errors.AsType[*rowError](err); ok && r.lenient {
			o.SetAside(broken.wrong)
			continue
		} else if ok {
			return broken.wrong
		} else if err != nil {
			return err
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
