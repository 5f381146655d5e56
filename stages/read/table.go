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

// EachRow reads a table that is no archive, such as one of known people: CSV or TSV with a header if the name says so,
// otherwise Parquet. columns is called with the column names; row is called for each row with its cells that are
// neither null nor empty, and with its number from 1 (in CSV the header counts). Dates are given as 2026-11-22,
// whatever the type of their column. Errors are *input.Error, or those of columns and row; they quote nothing of the
// file. If columns returns ErrNoHeader, the first line of a CSV file is row 1.
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

// IsCSV reports whether a table is CSV, by its file name.
func IsCSV(path string) bool {
	ext := strings.ToLower(filepath.Ext(strings.TrimSuffix(strings.TrimSuffix(path, ".gz"), ".zst")))
	return ext == ".csv" || ext == ".tsv" || ext == ".txt"
}

// PatientForm returns the normalized patient id in a cell of a table.
func PatientForm(cell parquet.Cell) []byte {
	if cell.Number {
		return patientid.AppendNumber(nil, []byte(cell.Text))
	}
	return slices.Clip(patientid.AppendText(nil, []byte(cell.Text)))
}
