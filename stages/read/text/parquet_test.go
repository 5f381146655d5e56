package text_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"github.com/velum-health/velum/stages/read/input"
	"github.com/velum-health/velum/stages/read/text"
)

// noteRow is what another program may write.
type noteRow struct {
	ID    string  `parquet:"note_id"`
	Text  *string `parquet:"text,optional"`
	Spans *string `parquet:"spans,optional"`
}

// bareRow is a note without spans.
type bareRow struct {
	ID   string `parquet:"note_id"`
	Text string `parquet:"text"`
}

func putParquet[T any](t *testing.T, rows ...T) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "notes.parquet")
	if err := parquet.WriteFile(path, rows); err != nil {
		t.Fatal(err)
	}
	return path
}

// readParquet reads a file with one note a batch.
func readParquet(path string) ([]string, error) {
	r, err := text.NewParquet(path, text.Options{Notes: 1})
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return readAll(r)
}

func row(id, text, spans string) noteRow { return noteRow{id, &text, &spans} }

func TestParquet(t *testing.T) {
	one, lone := "res", "é Mas"
	path := putParquet(t,
		row("a", "la Ada i Pep", `[{"start":3,"end":6,"label":"PERSON"},{"start":9,"end":12,"label":"PERSON","source":"model","score":0.5}]`),
		row("a", "é Mas", `[[3,6,"PERSON"]]`), noteRow{"b", &one, nil}, row("b", lone, "[]"), noteRow{ID: "c"})
	got, err := readParquet(path)
	if d := cmp.Diff([]string{"a|la [PERSON:Ada] i [PERSON:Pep]", "a|é [PERSON:Mas]", "b|res", "b|é Mas", "c!null_text"}, got); d != "" || err != nil {
		t.Error(d, err)
	}
	got, err = readParquet(putParquet(t, bareRow{"a", lone}, bareRow{"b", one}))
	if d := cmp.Diff([]string{"a|é Mas", "b|res"}, got); d != "" || err != nil {
		t.Error(d, err)
	}
}

func TestParquetErrors(t *testing.T) {
	for _, tt := range []struct{ name, spans, want string }{
		{"outside", `[[0,9,"PERSON"]]`, "notes.parquet:2: span outside the text of 4 units"},
		{"cuts a character", `[[0,1,"PERSON"]]`, "notes.parquet:2: span outside the text"},
		{"unknown label", `[[0,2,"SecretName"]]`, "notes.parquet:2: unknown label"},
		{"no list", `{}`, "notes.parquet:2: spans are not a list"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := readParquet(putParquet(t, row("a", "Lima", "[]"), row("b", "éda", tt.spans)))
			checkInputError(t, err, tt.want)
		})
	}
	type numbers struct {
		bareRow
		Spans int64 `parquet:"spans"`
	}
	var schema *input.SchemaError
	if _, err := readParquet(putParquet(t, numbers{bareRow{"a", "b"}, 1})); !errors.As(err, &schema) || schema.Column != "spans" {
		t.Errorf("spans that are numbers: %v", err)
	}
	if _, err := readParquet(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}
