package archive

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/velum-health/velum/stages/read/input"
)

// A folder of Parquet files may be a table of Delta Lake, Iceberg or Hudi: its log
// says which of the files, and which of their rows, still count. Read as files they
// bring back patients who were deleted, and rewritten notes twice. velum does not
// read these logs, so it refuses such folders, and what lies in them.

// tableFormat names the table format of a folder; "" if it is none.
func tableFormat(dir string) string {
	for log, name := range map[string]string{"_delta_log": "Delta Lake", ".hoodie": "Hudi"} {
		if info, err := os.Stat(filepath.Join(dir, log)); err == nil && info.IsDir() {
			return name
		}
	}
	entries, err := os.ReadDir(filepath.Join(dir, "metadata"))
	if err != nil {
		return ""
	}
	for _, e := range entries {
		if name := strings.TrimSuffix(e.Name(), ".gz"); strings.HasSuffix(name, ".metadata.json") || name == "version-hint.text" {
			return "Iceberg"
		}
	}
	return ""
}

// tableScan is how DuckDB reads a table of a format as it is now.
var tableScan = map[string]string{"Delta Lake": "delta_scan", "Iceberg": "iceberg_scan"}

// tableCause says what is wrong with a folder that is a table; "" if it is none.
func tableCause(dir string) string {
	format := tableFormat(dir)
	if format == "" {
		return ""
	}
	cause := fmt.Sprintf("is a table of %s: its files hold rows that were deleted or rewritten since; write what the table says now into a file of Parquet and give that", format)
	if scan := tableScan[format]; scan != "" {
		cause += fmt.Sprintf(", as with DuckDB: COPY (FROM %s('FOLDER')) TO 'notes.parquet'", scan)
	}
	return cause
}

// insideTable refuses an input that is a table or lies in one.
func InsideTable(in string) error {
	full, err := filepath.Abs(in)
	if real, bad := filepath.EvalSymlinks(full); bad == nil {
		full = real
	}
	for dir := full; err == nil; dir = filepath.Dir(dir) {
		if cause := tableCause(dir); cause != "" {
			cause, remedy, _ := strings.Cut(cause, "; ")
			return &input.Error{Path: dir, Cause: cause, Remedy: remedy}
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	return nil
}
