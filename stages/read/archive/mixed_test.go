package archive_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/secret"
	"github.com/velum-health/velum/stages/read/archive"
	"github.com/velum-health/velum/stages/read/input"
)

// TestMixed: under a key the notes of a file come in an order of its own, each once and with its row, in batches that follow
// each other; the same key gives the same order, another key another one, and the id of a note that has none says nothing of its row.
func TestMixed(t *testing.T) {
	const notes = 500
	dir := t.TempDir()
	text := "note_id,text\n"
	for i := range notes {
		text += fmt.Sprintf("n%d,note %d\n", i, i)
	}
	if err := os.WriteFile(filepath.Join(dir, "a.csv"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	key := func(c string) *secret.Key {
		name := filepath.Join(t.TempDir(), "key")
		if err := os.WriteFile(name, []byte(c+"123456789abcdef0123456789abcdef"), 0o400); err != nil {
			t.Fatal(err)
		}
		k, err := secret.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	order := func(o input.Options) (rows []int64, ids []string) {
		o.ID, o.Text, o.BatchNotes = []string{"note_id"}, "text", 64
		if o.IDs == input.DropIDs {
			o.ID = nil
		}
		a, err := archive.Scan(context.Background(), []string{filepath.Join(dir, "a.csv")}, o, nil)
		if err != nil {
			t.Fatal(err)
		}
		src, err := a.OpenMixed(&a.Units[0])
		if err != nil {
			t.Fatal(err)
		}
		defer src.Close()
		b := new(pipeline.Batch)
		for {
			b.Reset()
			if err := src.Next(b); errors.Is(err, io.EOF) {
				return rows, ids
			} else if err != nil {
				t.Fatal(err)
			}
			if b.First != int64(len(rows)) || b.Len() > 64 {
				t.Fatalf("a batch of %d notes begins at %d of %d", b.Len(), b.First, len(rows))
			}
			for i := range b.Len() {
				if got, want := string(b.Text.At(i)), fmt.Sprintf("note %d", b.Row(i)); got != want {
					t.Fatalf("%s stands at row %d", got, b.Row(i))
				}
				rows, ids = append(rows, b.Row(i)), append(ids, string(b.ID.At(i)))
			}
		}
	}
	one, ids := order(input.Options{Mixed: true, Key: key("a")})
	rising := 0
	for i := range notes - 1 {
		if one[i] < one[i+1] {
			rising++
		}
	}
	sorted := slices.Clone(one)
	slices.Sort(sorted)
	if len(one) != notes || sorted[0] != 0 || sorted[notes-1] != notes-1 || len(slices.Compact(sorted)) != notes || rising < 200 || rising > 300 || ids[0] != fmt.Sprintf("n%d", one[0]) {
		t.Errorf("%d notes, %d rise", len(one), rising)
	}
	if again, _ := order(input.Options{Mixed: true, Key: key("a")}); !slices.Equal(one, again) {
		t.Error("the same key gives another order")
	}
	if other, _ := order(input.Options{Mixed: true, Key: key("b")}); slices.Equal(one, other) {
		t.Error("another key gives the same order")
	}
	if plain, _ := order(input.Options{Key: key("a")}); !slices.IsSorted(plain) {
		t.Error("notes are mixed where nobody asked for it")
	}
	rows, ids := order(input.Options{Mixed: true, Key: key("a"), IDs: input.DropIDs})
	for i, id := range ids {
		if strings.HasSuffix(id, fmt.Sprintf("-%d", rows[i])) {
			t.Fatalf("the id of row %d ends with it", rows[i])
		}
	}
	if slices.Sort(ids); len(slices.Compact(ids)) != notes {
		t.Error("two notes have one id")
	}
}
