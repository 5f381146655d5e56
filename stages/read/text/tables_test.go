package text_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"github.com/velum-health/velum/stages/read/input"
	"github.com/velum-health/velum/stages/read/readtest"
	"github.com/velum-health/velum/stages/read/text"
)

type noteRow struct {
	ID   string  `parquet:"note_id"`
	Text *string `parquet:"text,optional"`
}

// spanRow is what another program may write: wide numbers, no source.
type spanRow struct {
	ID       string  `parquet:"note_id"`
	Row      int64   `parquet:"row"`
	Start    int64   `parquet:"start"`
	End      int64   `parquet:"end"`
	Category string  `parquet:"category"`
	Score    float64 `parquet:"score"`
}

// bareRow is the least that a span needs.
type bareRow struct {
	ID       string `parquet:"note_id"`
	Start    int32  `parquet:"start"`
	End      int32  `parquet:"end"`
	Category string `parquet:"category"`
}

func putParquet[T any](t *testing.T, dir, name string, rows []T) {
	t.Helper()
	f, err := os.Create(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := parquet.Write(f, rows); err != nil {
		t.Fatal(err)
	}
}

func texts(of ...string) []noteRow {
	var rows []noteRow
	for i := 0; i < len(of); i += 2 {
		rows = append(rows, noteRow{of[i], &of[i+1]})
	}
	return rows
}

// readTables reads a folder with one note a batch.
func readTables(path string) ([]string, error) {
	r, err := text.NewTables(path, text.Options{Notes: 1})
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return readtest.All(r)
}

func TestTables(t *testing.T) {
	notes := append(texts("a", "la Ada i Pep", "a", "é Mas", "b", "res"), noteRow{ID: "c"})
	want := []string{"a|la [PERSON:Ada] i [PERSON:Pep]", "a|é [PERSON:Mas]", "b|res", "c!null_text"}
	withRow := t.TempDir()
	putParquet(t, withRow, "notes.parquet", notes)
	putParquet(t, withRow, "spans.parquet", []spanRow{{"a", 0, 3, 6, "PERSON", 1}, {"a", 0, 9, 12, "PERSON", 0.5}, {"a", 1, 3, 6, "PERSON", 1}})
	got, err := readTables(withRow)
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Error(d, err)
	}

	bare := t.TempDir()
	putParquet(t, bare, "notes.parquet", notes[1:])
	putParquet(t, bare, "spans.parquet", []bareRow{{"a", 3, 6, "PERSON"}, {"b", 0, 3, "DATE"}})
	got, err = readTables(bare)
	if d := cmp.Diff([]string{want[1], "b|[DATE:res]", want[3]}, got); d != "" || err != nil {
		t.Error(d, err)
	}

	if err := os.Remove(filepath.Join(bare, "spans.parquet")); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{bare, filepath.Join(bare, "notes.parquet")} {
		got, err = readTables(path)
		if d := cmp.Diff([]string{"a|é Mas", "b|res", "c!null_text"}, got); d != "" || err != nil {
			t.Error(d, err)
		}
	}
}

func TestTablesErrors(t *testing.T) {
	for _, tt := range []struct {
		name string
		span spanRow
		want string
	}{
		{"of no note", spanRow{"z", 0, 0, 3, "PERSON", 1}, "spans.parquet:1: span of no note"},
		{"of another row", spanRow{"a", 5, 0, 3, "PERSON", 1}, "spans.parquet:1: span of no note"},
		{"outside", spanRow{"a", 0, 0, 9, "PERSON", 1}, "spans.parquet:1: span outside the text of 4 units"},
		{"cuts a character", spanRow{"a", 0, 0, 1, "PERSON", 1}, "spans.parquet:1: span outside the text"},
		{"negative", spanRow{"a", 0, -1, 3, "PERSON", 1}, "spans.parquet:1: start or end is null, negative or too large"},
		{"unknown label", spanRow{"a", 0, 0, 2, "SecretName", 1}, "spans.parquet:1: unknown label"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			putParquet(t, dir, "notes.parquet", texts("a", "éda", "b", "Lima"))
			putParquet(t, dir, "spans.parquet", []spanRow{tt.span})
			_, err := readTables(dir)
			checkInputError(t, err, tt.want)
		})
	}
	dir := t.TempDir()
	putParquet(t, dir, "notes.parquet", texts("a", "Ada"))
	putParquet(t, dir, "spans.parquet", texts("a", "Ada"))
	var schema *input.SchemaError
	if _, err := readTables(dir); !errors.As(err, &schema) {
		t.Errorf("spans without categories: %v", err)
	}
	if _, err := readTables(filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}
