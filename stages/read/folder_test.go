package read_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/stages/read"
	"github.com/velum-health/velum/stages/read/text"
)

// A folder of files is read file by file, months below it too; rows count through all of them.
func TestFolderOfFiles(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"year=2026/month=01/part-0.csv":   "note_id;text\n1;uno\n2;dos\n",
		"year=2026/month=02/part-0.jsonl": `{"note_id":"3","text":"tres"}` + "\n",
		"year=2026/month=02/_SUCCESS":     "",
		"year=2026/.part-1.csv":           "broken",
		"year=2026/readme.txt":            "no note",
	} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	src, err := read.Open("csv", dir, text.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	var ids []string
	b := new(pipeline.Batch)
	for {
		b.Reset()
		if err = src.Next(b); err != nil {
			break
		}
		if int(b.First) != len(ids) {
			t.Errorf("a batch begins with row %d, want %d", b.First, len(ids))
		}
		for i := range b.Len() {
			ids = append(ids, string(b.ID.At(i)))
		}
	}
	if got := strings.Join(ids, " "); err != io.EOF || got != "1 2 3" {
		t.Errorf("%s: %v", got, err)
	}
	if _, err := read.Open("jsonl", filepath.Join(dir, "year=2026", "month=03"), text.Options{}); err == nil {
		t.Error("a folder that is not there")
	}
	empty := t.TempDir()
	if _, err := read.Open("jsonl", empty, text.Options{}); err == nil || !strings.Contains(err.Error(), "no files of jsonl there") {
		t.Error(err)
	}
}
