package flow

import (
	"os"
	"path/filepath"
	"testing"
)

// TestFormatOfHalfFolder: a folder that a conversion was making when it was
// killed has the format that it was to have.
func TestFormatOfHalfFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "dev.parquet")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "notes.parquet.tmp"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if format, err := FormatOf("to", "", dir); format != "parquet" || err != nil {
		t.Errorf("format %q, %v", format, err)
	}
}
