package archive

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/velum-health/velum/stages/read/input"
)

// A folder may be a table of a lakehouse: its log says which of its files, and which of
// their rows, still count. Read as files they would bring back patients who were
// deleted, and rewritten notes twice. So it is refused by name.

// lakehouseOf names the table format of a folder; "" if it is none.
func lakehouseOf(dir string) string {
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
		if strings.Contains(e.Name(), ".metadata.json") || e.Name() == "version-hint.text" {
			return "Iceberg"
		}
	}
	return ""
}

// isTable returns an error if a folder is a table.
func isTable(dir string) error {
	format := lakehouseOf(dir)
	if format == "" {
		return nil
	}
	return &input.Error{Path: dir,
		Cause:  "is a table of " + format + ": its files hold rows that were deleted or rewritten since, and only its log says which",
		Remedy: "write what it says into files of Parquet, as configs/deploy/table.py does, and give these"}
}

// InTable returns an error if a path is a table of a lakehouse or inside one.
func InTable(in string) error {
	full, err := filepath.Abs(in)
	if err != nil {
		return nil
	}
	if real, err := filepath.EvalSymlinks(full); err == nil {
		full = real
	}
	for dir := full; ; dir = filepath.Dir(dir) {
		if err := isTable(dir); err != nil || dir == filepath.Dir(dir) {
			return err
		}
	}
}
