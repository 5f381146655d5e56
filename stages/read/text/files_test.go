package text_test

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/markup"
)

// putFiles writes files below a new folder and returns it.
func putFiles(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, data := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// readAll reads src to its end: one line a note, "id|text with marks", or
// "id!reason".
func readAll(src pipeline.Source) ([]string, error) {
	var out []string
	for {
		var b pipeline.Batch
		err := src.Next(&b)
		if err == io.EOF {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		for i := range b.Len() {
			if b.Reason[i] != pipeline.Sound {
				out = append(out, string(b.ID.At(i))+"!"+b.Reason[i].String())
				continue
			}
			out = append(out, string(b.ID.At(i))+"|"+markup.Write(b.Text.At(i), b.Gold.At(i)))
		}
	}
}
