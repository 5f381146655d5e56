package read_test

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/markup"
	"github.com/velum-health/velum/stages/read"
	"github.com/velum-health/velum/stages/write"
)

// marked is a source of notes in the notation of markup.Parse, two a
// batch.
type marked struct {
	notes []string
	at    int
}

func (m *marked) Next(b *pipeline.Batch) error {
	if m.at == len(m.notes) {
		return io.EOF
	}
	for ; m.at < len(m.notes) && b.Len() < 2; m.at++ {
		text, spans, err := markup.Parse(m.notes[m.at])
		if err != nil {
			return err
		}
		b.ID.Append(fmt.Append(nil, m.at))
		b.Text.Append(text)
		b.Gold.Append(spans...)
		reason := pipeline.Sound
		if strings.HasPrefix(m.notes[m.at], "!") {
			reason = pipeline.BadEncoding
		}
		b.Reason = append(b.Reason, reason)
	}
	return nil
}

// notesOf returns the notes of a source as id, text and spans, and checks First.
func notesOf(t *testing.T, src pipeline.Source) (got []string) {
	t.Helper()
	b := new(pipeline.Batch)
	n := int64(0)
	for {
		b.Reset()
		err := src.Next(b)
		if err == io.EOF {
			if b.Len() != 0 {
				t.Error("notes in the batch that ends a source")
			}
			return got
		}
		if err != nil {
			t.Fatal(err)
		}
		if b.First != n {
			t.Errorf("First is %d, want %d", b.First, n)
		}
		n += int64(b.Len())
		for i := range b.Len() {
			line := fmt.Sprintf("%s %q", b.ID.At(i), b.Text.At(i))
			for _, s := range b.Gold.At(i) {
				line += fmt.Sprintf(" %q", b.Text.At(i)[s.Start:s.End])
			}
			got = append(got, line)
		}
	}
}

func TestKeep(t *testing.T) {
	src := &marked{notes: []string{"a", "b [PERSON:Ada]", "c", "d", "[PERSON:Eva] e"}}
	got := notesOf(t, read.NewKeep(src, func(id []byte) bool { return string(id) != "0" && string(id) != "3" }))
	if diff := cmp.Diff([]string{`1 "b Ada" "Ada"`, `2 "c"`, `4 "Eva e" "Eva"`}, got); diff != "" {
		t.Error(diff)
	}
	if got := notesOf(t, read.NewKeep(&marked{notes: []string{"a"}}, func([]byte) bool { return false })); len(got) != 0 {
		t.Errorf("%q", got)
	}
}

func TestLines(t *testing.T) {
	src := &marked{notes: []string{
		"Nombre: [PERSON:Ada Puig]\n\n  \nvive en [LOCATION:Vic] hoy", "sola", "", "!one\nnote", "[PERSON:Eva\nRius] aquí\n",
	}}
	want := []string{
		`0#1 "Nombre: Ada Puig" "Ada Puig"`, `0#4 "vive en Vic hoy" "Vic"`, `1#1 "sola"`, `3 "!one\nnote"`,
		`4#1 "Eva" "Eva"`, `4#2 "Rius aquí" "Rius"`,
	}
	if diff := cmp.Diff(want, notesOf(t, read.NewLines(src))); diff != "" {
		t.Error(diff)
	}
}

// Every slice of an archive of three files is the notes of its numbers.
func TestSlice(t *testing.T) {
	dir, number := t.TempDir(), 0
	var want []string
	for file, notes := range []int{5, 1, 4} {
		w := write.NewArchive(filepath.Join(dir, fmt.Sprintf("%d.parquet", file)), 2, write.TextOptions{})
		b := new(pipeline.Batch)
		for range notes {
			b.ID.Append(fmt.Append(nil, number))
			b.Text.Append(fmt.Append(nil, "note ", number))
			b.Reason = append(b.Reason, pipeline.Sound)
			want = append(want, fmt.Sprint(number))
			number++
		}
		if err := w.Put(b); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	a, err := read.Scan(context.Background(), []string{dir}, read.ParquetOptions{ID: []string{"note_id"}, Text: "text", UnitNotes: 2}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for from := range number + 1 {
		for to := from; to <= number+1; to++ {
			s := read.NewSlice(a, int64(from), int64(to))
			got := []string{}
			b := new(pipeline.Batch)
			for {
				b.Reset()
				if err := s.Next(b); err == io.EOF {
					break
				} else if err != nil {
					t.Fatal(err)
				}
				for i := range b.Len() {
					if number := fmt.Sprint(b.First + int64(i)); number != string(b.ID.At(i)) {
						t.Fatalf("note %s has number %s", b.ID.At(i), number)
					}
					got = append(got, string(b.ID.At(i)))
				}
			}
			if diff := cmp.Diff(want[from:max(from, min(to, number))], got); diff != "" {
				t.Fatalf("%d to %d: %s", from, to, diff)
			}
			if err := s.Close(); err != nil || len(s.Damaged()) > 0 {
				t.Fatal(err, s.Damaged())
			}
		}
	}
}
