// Package readtest writes files for the tests of readers, and reads notes back.
package readtest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/pipeline/secret"
)

// Column is a column of a test file: its name, its parquet.Node, and its values; nil is null.
type Column [3]any

// WriteFile writes columns to a Parquet file, perGroup rows per row group.
func WriteFile(t testing.TB, path string, columns []Column, perGroup int, options ...parquet.WriterOption) {
	t.Helper()
	group := parquet.Group{}
	for _, c := range columns {
		group[c[0].(string)] = c[1].(parquet.Node)
	}
	schema := parquet.NewSchema("test", group)
	var buf bytes.Buffer
	w := parquet.NewGenericWriter[any](&buf, append(options, schema)...)
	rows := len(columns[0][2].([]any))
	for from := 0; from < rows; from += perGroup {
		for _, c := range columns {
			values, _ := c[2].([]any)
			leaf, ok := schema.Lookup(c[0].(string))
			if !ok {
				continue // nested: written by others
			}
			for _, v := range values[min(from, len(values)):min(from+perGroup, len(values))] {
				value := parquet.NullValue().Level(0, 0, leaf.ColumnIndex)
				if v != nil {
					value = parquet.ValueOf(v).Level(0, leaf.MaxDefinitionLevel, leaf.ColumnIndex)
				}
				if _, err := w.ColumnWriters()[leaf.ColumnIndex].WriteRowValues([]parquet.Value{value}); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, buf.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Note holds what was read of a row.
type Note struct {
	Row    int64
	ID     string
	Text   string
	Reason pipeline.Reason
	Extra  string
}

func NewNote(row int64, id, text string, reason pipeline.Reason) Note {
	return Note{Row: row, ID: id, Text: text, Reason: reason}
}

// NotesOf reads a source to its end.
func NotesOf(src pipeline.Source) ([]Note, error) {
	var notes []Note
	var b pipeline.Batch
	for {
		b.Reset()
		err := src.Next(&b)
		if err == io.EOF {
			return notes, nil
		}
		if err != nil {
			return notes, err
		}
		if b.Len() == 0 || len(b.Reason) != b.Len() || b.ID.Len() != b.Len() {
			return notes, fmt.Errorf("batch of %d notes, %d ids, %d reasons", b.Len(), b.ID.Len(), len(b.Reason))
		}
		for i := range b.Len() {
			n := NewNote(b.First+int64(i), string(b.ID.At(i)), string(b.Text.At(i)), b.Reason[i])
			for k := range b.Extra {
				c := &b.Extra[k]
				switch {
				case !c.Valid[i]:
					n.Extra += c.Name + "=null "
				case c.Kind == pipeline.BytesColumn:
					n.Extra += fmt.Sprintf("%s=%s ", c.Name, c.Bytes.At(i))
				default:
					n.Extra += fmt.Sprintf("%s=%d ", c.Name, c.Int(i))
				}
			}
			notes = append(notes, n)
		}
	}
}

func Key(t *testing.T) *secret.Key {
	t.Helper()
	file := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(file, bytes.Repeat([]byte("kq"), 16), 0o600); err != nil {
		t.Fatal(err)
	}
	key, err := secret.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// Sample writes a valid Parquet file of several pages and returns its bytes.
func Sample(t testing.TB, options ...parquet.WriterOption) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.parquet")
	var ids, texts []any
	for i := range 300 {
		ids = append(ids, int64(i))
		texts = append(texts, fmt.Sprintf("note number %d, dolor lumbar", i))
	}
	WriteFile(t, path, []Column{{"note_id", parquet.Int(64), ids}, {"text", parquet.Optional(parquet.String()), texts}},
		150, append([]parquet.WriterOption{parquet.PageBufferSize(1000)}, options...)...)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// UnitNotes reads a unit opened by package archive to its end, and closes it.
func UnitNotes(src unitSource, err error) ([]Note, error) {
	if err != nil {
		return nil, err
	}
	notes, err := NotesOf(src)
	return notes, errors.Join(err, src.Close())
}

func IsDamage(err error) bool {
	_, ok := errors.AsType[*commit.DamageError](err)
	return ok
}

type unitSource interface {
	pipeline.Source
	io.Closer
}
