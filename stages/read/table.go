package read

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/velum-health/velum/pipeline/guard"
	"github.com/velum-health/velum/pipeline/patientid"
	"github.com/velum-health/velum/stages/read/input"
	"github.com/velum-health/velum/stages/read/parquet"
	"github.com/velum-health/velum/stages/read/text"
)

// EachRow reads a table that is no archive, such as that of known people: CSV or
// TSV with a header, by the name, else Parquet. columns is called with the names
// of the columns, row with the cells of every row that are not null or empty, and
// its number from 1, the header of CSV counted. Dates are written as 2026-11-22, whatever the type of their
// column. Errors are *input.Error, or those of columns and row; they quote nothing
// of the file. columns may return ErrNoHeader: what CSV has in its first line is row
// 1 then.
func EachRow(path string, o text.Options, columns func(names []string) error, row func(n int64, cells []parquet.Cell) error) error {
	if IsCSV(path) {
		return text.CSVRows(path, o, func(h text.Header) error { return columns(h.Names) }, row)
	}
	var err error
	if guard.Note(func() { err = parquet.Rows(path, columns, row) }) {
		return &input.Error{Path: path, Cause: "cannot be decoded", Remedy: "make it again, as Parquet or CSV"}
	}
	return err
}

// IsCSV tells whether a table is CSV, by its name.
func IsCSV(path string) bool {
	ext := strings.ToLower(filepath.Ext(strings.TrimSuffix(strings.TrimSuffix(path, ".gz"), ".zst")))
	return ext == ".csv" || ext == ".tsv" || ext == ".txt"
}

// PatientForm returns the form of a cell of a table beside the archive; number
// tells whether it was one there.
func PatientForm(cell parquet.Cell) []byte {
	if cell.Number {
		return patientid.AppendNumber(nil, []byte(cell.Text))
	}
	return slices.Clip(patientid.AppendText(nil, []byte(cell.Text)))
}
