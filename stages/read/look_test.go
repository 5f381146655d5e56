package read

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/velum-health/velum/stages/read/parquet"
	"github.com/velum-health/velum/stages/read/text"
)

// TestLook: what the beginning of a table says: the names of its columns, of JSON as they come, its rows, and how many are broken.
func TestLook(t *testing.T) {
	for _, c := range []struct {
		name, file, format, in string
		most                   int
		names, rows            string
		encoding               string
		comma                  rune
		broken                 int
		fails                  bool
	}{
		{"objects", "a.jsonl", "jsonl", `{"b":"x","a":1}` + "\n\n" + `{"c":2.50,"a":null,"n":{"x":1},"l":[1]}` + "\nnone\n" + `{"a":true}` + "\n", 9, "a b c", "0=1 1=x | 2=2.50 | ", "utf-8", 0, 1, false},
		{"an array of objects", "a.jsonl", "jsonl", `[{"a":"x"},{"b":"y"}]`, 9, "a b", "0=x | 1=y", "utf-8", 0, 0, false},
		{"enough objects", "a.jsonl", "jsonl", `{"a":1}` + "\n" + `{"b":2}` + "\n", 1, "a", "0=1", "utf-8", 0, 0, false},
		{"a table", "a.csv", "csv", "a;b\n1;x\n2\n3;y\n", 9, "a b", "0=1 1=x | 0=3 1=y", "utf-8", ';', 1, false},
		{"enough rows", "a.csv", "csv", "a,b\n1,x\n3,y\n", 1, "a b", "0=1 1=x", "utf-8", ',', 0, false},
		{"no file", "a.csv", "csv", "", -1, "", "", "", 0, 0, true},
		{"no objects", "a.jsonl", "jsonl", "", -1, "", "", "", 0, 0, true},
		{"no Parquet", "a.parquet", "parquet", "none", 9, "", "", "", 0, 0, true},
	} {
		path := filepath.Join(t.TempDir(), c.file)
		if c.most >= 0 {
			if err := os.WriteFile(path, []byte(c.in), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		var h Head
		var rows []string
		err := Look(path, c.format, text.Options{}, &h, func(cells []parquet.Cell) error {
			var row []string
			for _, cell := range cells {
				row = append(row, fmt.Sprintf("%d=%s", cell.Column, cell.Text))
			}
			if rows = append(rows, strings.Join(row, " ")); len(rows) == c.most {
				return ErrEnough
			}
			return nil
		})
		if (err != nil) != c.fails || strings.Join(h.Names, " ") != c.names || strings.Join(rows, " | ") != c.rows || !c.fails && (h.Encoding != c.encoding || h.Comma != c.comma || h.Broken != c.broken) {
			t.Errorf("%s: %+v, %q, %v", c.name, h, rows, err)
		}
	}
	path := filepath.Join(t.TempDir(), "a.jsonl")
	if err := os.WriteFile(path, []byte(`{"a":1}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Look(path, "jsonl", text.Options{}, new(Head), func([]parquet.Cell) error { return os.ErrClosed }); !errors.Is(err, os.ErrClosed) {
		t.Errorf("who looks has an error: %v", err)
	}
}
