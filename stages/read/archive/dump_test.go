package archive

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/stages/read/input"
	"github.com/velum-health/velum/stages/read/readtest"
)

func readDump(t testing.TB, content string, o input.Options) []readtest.Note {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.txt")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := NewDump(path, 0, -1, 0, o)
	if err != nil {
		t.Fatal(err)
	}
	notes, err := readtest.NotesOf(d)
	if err := errors.Join(err, d.Close()); err != nil {
		t.Fatal(err)
	}
	return notes
}

func TestDump(t *testing.T) {
	for _, tt := range []struct {
		name, content string
		want          []readtest.Note
	}{
		{"bar", "1|2|3|Pac que finaliza tto\n", []readtest.Note{readtest.NewNote(0, "1|2|3", "Pac que finaliza tto", pipeline.Sound)}},
		{"space", "1|2|3 text\n", []readtest.Note{readtest.NewNote(0, "1|2|3", "text", pipeline.Sound)}},
		{"tab", "1|2|3\ttext\n", []readtest.Note{readtest.NewNote(0, "1|2|3", "text", pipeline.Sound)}},
		{"next line", "1|2|3\ntext\n4|5|6\r\nmore\r\n", []readtest.Note{
			readtest.NewNote(0, "1|2|3", "text", pipeline.Sound), readtest.NewNote(1, "4|5|6", "more", pipeline.Sound)}},
		{"several lines", "1|2|3|a\nb\r\n\nc\n4|5|6|d", []readtest.Note{
			readtest.NewNote(0, "1|2|3", "a\nb\r\n\nc", pipeline.Sound), readtest.NewNote(1, "4|5|6", "d", pipeline.Sound)}},
		{"empty text", "1|2|3|\n4|5|6\n", []readtest.Note{readtest.NewNote(0, "1|2|3", "", pipeline.Sound), readtest.NewNote(1, "4|5|6", "", pipeline.Sound)}},
		{"bars in the text", "1|2|3|4|5|6|x\n", []readtest.Note{readtest.NewNote(0, "1|2|3", "4|5|6|x", pipeline.Sound)}},
		{"no header", "1|2|x\n1|2|3x\n", []readtest.Note{readtest.NewNote(0, "", "1|2|x\n1|2|3x", pipeline.NullID)}},
		{"text before", "lost\n1|2|3|a\n", []readtest.Note{readtest.NewNote(0, "", "lost", pipeline.NullID), readtest.NewNote(1, "1|2|3", "a", pipeline.Sound)}},
		{"bad bytes", "1|2|3|a\xff\n", []readtest.Note{readtest.NewNote(0, "1|2|3", "a\xff", pipeline.BadEncoding)}},
		{"as long as may be", "1|2|3|01234567890123456789\n", []readtest.Note{readtest.NewNote(0, "1|2|3", "01234567890123456789", pipeline.Sound)}},
		{"too long", "1|2|3|012345678901234567890\n4|5|6|b\n", []readtest.Note{readtest.NewNote(0, "1|2|3", "", pipeline.TooLong), readtest.NewNote(1, "4|5|6", "b", pipeline.Sound)}},
		{"empty", "", nil},
	} {
		if got := readDump(t, tt.content, input.Options{MaxText: 20}); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

// TestDumpLongLine: a line that is longer than every buffer.
func TestDumpLongLine(t *testing.T) {
	long := strings.Repeat("palabra ", 1<<17)
	notes := readDump(t, "1|2|3|"+long+"\n4|5|6|b\n", input.Options{MaxText: 2 << 20})
	if len(notes) != 2 || notes[0].Text != long || notes[1].Text != "b" {
		t.Errorf("%d notes, not as wanted", len(notes))
	}
}

// TestDumpUnits: the notes of all units together are those of the whole file,
// wherever it is cut.
func TestDumpUnits(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.dump")
	rapid.Check(t, func(rt *rapid.T) {
		lines := rapid.SliceOfN(rapid.SampledFrom([]string{
			"1|2|3|text", "44|5|6 more", "7|8|9", "a second line", "", "1|2|", "\xff", "12|13|14|" + strings.Repeat("x", 100), strings.Repeat("1", 80) + "|2|3|x",
		}), 0, 30).Draw(rt, "lines")
		content := strings.Join(lines, rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(rt, "line end"))
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			rt.Fatal(err)
		}
		whole, err := dumpNotes(path, 0, -1, 0)
		if err != nil {
			rt.Fatal(err)
		}
		a, err := Scan(t.Context(), []string{path}, input.Options{UnitNotes: int64(rapid.IntRange(1, 9).Draw(rt, "notes a unit"))}, nil)
		if err != nil {
			rt.Fatal(err)
		}
		var parts []readtest.Note
		for i := range a.Units {
			u := &a.Units[i]
			notes, err := dumpNotes(path, u.From, u.To, u.First)
			if err != nil || int64(len(notes)) != u.Rows {
				rt.Fatalf("unit %d has %d notes, planned %d: %v", i, len(notes), u.Rows, err)
			}
			parts = append(parts, notes...)
		}
		if !slices.Equal(parts, whole) {
			rt.Fatalf("units give %+v\nthe whole %+v", parts, whole)
		}
	})
}

func dumpNotes(path string, from, to, first int64) ([]readtest.Note, error) {
	d, err := NewDump(path, from, to, first, input.Options{BatchNotes: 3})
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return readtest.NotesOf(d)
}

// FuzzDump: every byte that is no header and no line end of a note is in its
// text; the planner counts the notes that the reader finds.
func FuzzDump(f *testing.F) {
	f.Add([]byte("1|2|3|a\n4|5|6\nb\n"))
	f.Add([]byte("x\n1|2|3"))
	f.Add([]byte("1|2|3\r\n"))
	path := filepath.Join(f.TempDir(), "x.txt")
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		notes, err := dumpNotes(path, 0, -1, 0)
		if err != nil {
			t.Fatal(err)
		}
		c := cutter{every: 2, full: 1 << 20}
		for part := range slices.Chunk(data, 7) {
			if _, err := c.Write(part); err != nil {
				t.Fatal(err)
			}
		}
		cuts := c.end()
		if cuts[len(cuts)-1] != (cut{int64(len(data)), int64(len(notes))}) {
			t.Fatalf("%d notes, the planner says %+v", len(notes), cuts)
		}
		at := 0
		for i, n := range notes {
			where := bytes.Index(data[at:], []byte(n.Text))
			if where < 0 {
				t.Fatalf("note %d is not in the file", i)
			}
			at += where + len(n.Text)
		}
	})
}

// BenchmarkDump reads a dump of short notes.
func BenchmarkDump(b *testing.B) {
	path := filepath.Join(b.TempDir(), "x.txt")
	var content strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&content, "%d|%d|%d|Paciente que acude por dolor lumbar de %d días de evolución, sin fiebre.\n", i, i%7, i*3, i%90)
	}
	if err := os.WriteFile(path, []byte(content.String()), 0o600); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(content.Len()))
	b.ReportAllocs()
	var batch pipeline.Batch
	for b.Loop() {
		d, err := NewDump(path, 0, -1, 0, input.Options{})
		if err != nil {
			b.Fatal(err)
		}
		for err == nil {
			batch.Reset()
			err = d.Next(&batch)
		}
		if err != io.EOF {
			b.Fatal(err)
		}
		d.Close()
	}
}
