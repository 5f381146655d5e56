package read

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/velum-health/velum/stages/read/archive"
	"github.com/velum-health/velum/stages/read/input"
	"github.com/velum-health/velum/stages/read/text"
)

// TestTableFormats: a folder whose log says which rows count is no folder of files,
// wherever it lies and whatever of it is given; what lies beside it is read.
func TestTableFormats(t *testing.T) {
	for _, tt := range []struct{ log, data, format string }{
		{"_delta_log/00000000000000000000.json", "part-00000.csv", "Delta Lake"},
		{"_delta_log/00000000000000000000.json", "year=2026/month=01/part-00000.csv", "Delta Lake"},
		{"metadata/00000-1f.metadata.json", "data/part-00000.csv", "Iceberg"},
		{"metadata/v1.gz.metadata.json", "data/seen_month=2026-01/part-00000.csv", "Iceberg"},
		{"metadata/v2.metadata.json.gz", "part-00000.csv", "Iceberg"},
		{".hoodie/hoodie.properties", "part-00000.csv", "Hudi"},
	} {
		dir := t.TempDir()
		put := func(name, text string) {
			name = filepath.Join(dir, filepath.FromSlash(name))
			if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(text), 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		const notes = "note_id,text\n1,Sin fiebre\n"
		put("in/table/"+tt.log, "{}")
		put("in/table/"+tt.data, notes)
		for _, given := range []string{"in/table", "in", "in/table/" + tt.data} {
			_, err := archive.Scan(t.Context(), []string{filepath.Join(dir, given)}, input.Options{}, nil)
			wrong, refused := errors.AsType[*input.Error](err)
			if !refused || !strings.Contains(wrong.Path, "/in/table") || !strings.Contains(err.Error(), "is a table of "+tt.format) || wrong.Remedy == "" {
				t.Errorf("%s of %s: %v", given, tt.log, err)
			}
		}
		for _, given := range []string{"in/table", "in/table/" + tt.data, "in"} { // and the verbs that read no archive
			_, err := Open("csv", filepath.Join(dir, given), text.Options{})
			if wrong, refused := errors.AsType[*input.Error](err); !refused || !strings.HasSuffix(wrong.Path, "/in/table") || !strings.Contains(err.Error(), tt.format) {
				t.Errorf("opened %s of %s: %v", given, tt.log, err)
			}
		}
		put("in/other/notes.csv", notes)
		a, err := archive.Scan(t.Context(), []string{filepath.Join(dir, "in")}, input.Options{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(a.Files) != 1 || len(a.Bad) != 1 || a.Bad[0].Input != "table" || !strings.Contains(a.Bad[0].Cause, "is a table of "+tt.format) {
			t.Errorf("%s: files %+v, bad inputs %+v", tt.log, a.Files, a.Bad)
		}
		if err := os.RemoveAll(filepath.Join(dir, "in/table", strings.Split(tt.log, "/")[0])); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		if a, err = archive.Scan(t.Context(), []string{filepath.Join(dir, "in")}, input.Options{}, nil); err != nil || len(a.Files) != 2 {
			t.Errorf("%s: files without a log: %v", tt.log, err)
		}
	}
}
