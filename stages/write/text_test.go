package write_test

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/stages/read"
	"github.com/velum-health/velum/stages/write"
)

// note is one note of a test: what must come back.
type note struct {
	ID, Text string
	Spans    []pipeline.Span
}

// marked is a note in the notation of pipeline.ParseMarked.
func marked(id, text string) note {
	plain, spans, err := pipeline.ParseMarked(text)
	if err != nil {
		panic(err)
	}
	return note{id, string(plain), spans}
}

// batchOf fills a batch with notes; their spans are in Spans and Gold.
func batchOf(notes ...note) *pipeline.Batch {
	b := new(pipeline.Batch)
	for _, n := range notes {
		b.ID.Append([]byte(n.ID))
		b.Text.Append([]byte(n.Text))
		b.Spans.Append(n.Spans...)
		b.Gold.Append(n.Spans...)
		b.Reason = append(b.Reason, pipeline.Sound)
		b.Tokens.Append(words(n.Text)...)
	}
	return b
}

// words cuts text at white space; the first of a line starts a sentence.
func words(text string) []pipeline.Token {
	var out []pipeline.Token
	start, flags := -1, pipeline.LineStart|pipeline.SentenceStart
	for i, r := range text + "\n" {
		switch space := unicode.IsSpace(r); {
		case !space && start < 0:
			start = i
		case space && start >= 0:
			out = append(out, pipeline.Token{Start: int32(start), End: int32(i), Flags: flags})
			start, flags = -1, 0
		}
		if r == '\n' {
			flags = pipeline.LineStart | pipeline.SentenceStart
		}
	}
	return out
}

// notesOf reads src to its end, in order of id.
func notesOf(t interface{ Fatal(...any) }, src pipeline.Source) []note {
	out := []note{}
	for {
		var b pipeline.Batch
		err := src.Next(&b)
		if err == io.EOF {
			slices.SortFunc(out, func(a, b note) int { return strings.Compare(a.ID, b.ID) })
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		for i := range b.Len() {
			out = append(out, note{string(b.ID.At(i)), string(b.Text.At(i)), append([]pipeline.Span{}, b.Gold.At(i)...)})
		}
	}
}

// letters are what went wrong in formats before: emoji, combining accents,
// ŀ, line ends of all systems, tabs, quotes, delimiters, markup.
var letters = rapid.SampledFrom([]string{
	"a", "Ada", " ", "  ", "é", "e\u0301", "ŀl", "·", "😀", "👩‍⚕️", "\r\n", "\n", "\r", "\t", "\"", "'", ",", ";", "|",
	"<", ">", "&", "]]>", "<![CDATA[", "\\", "\\u0041", "#", "-DOCSTART-", "O", "\u00a0", "\u2028", "\ufeff", "\u0085", "{", "}", "12",
})

var category = rapid.SampledFrom([]pipeline.Category{must("PERSON"), must("LOCATION"), must("DATE"), must("ZIP"), must("FECHAS"), must("LOCATION-OTHER")})

func must(name string) pipeline.Category {
	c, err := pipeline.ParseCategory(name)
	if err != nil {
		panic(err)
	}
	return c
}

// drawNotes makes notes with disjoint spans, adjacent ones among them.
func drawNotes(t *rapid.T) []note {
	notes := make([]note, rapid.IntRange(0, 4).Draw(t, "notes"))
	for i := range notes {
		notes[i] = drawNote(t, string(rune('a'+i))+rapid.SampledFrom([]string{"", "-1", "|2|3", "/x", " y", "é"}).Draw(t, "id"))
	}
	return notes
}

func drawNote(t *rapid.T, id string) note {
	var text []byte
	spans := []pipeline.Span{}
	for range rapid.IntRange(0, 8).Draw(t, "pieces") {
		start := len(text)
		for range rapid.IntRange(1, 4).Draw(t, "letters") {
			text = append(text, letters.Draw(t, "letter")...)
		}
		if rapid.Bool().Draw(t, "phi") {
			spans = append(spans, pipeline.Span{
				Start: int32(start), End: int32(len(text)), Category: category.Draw(t, "category"), Score: 1, Source: pipeline.FromGold,
			})
		}
	}
	return note{id, string(text), spans}
}

// tempDir is a folder that goes with one draw of a property, not with the
// whole test.
func tempDir(t *rapid.T) string {
	dir, err := os.MkdirTemp("", "velum-write-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func finish(t interface{ Fatal(...any) }, w sink, b *pipeline.Batch) {
	if err := w.Put(b); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// sink and source are what all writers and readers of text formats can do.
type sink interface {
	pipeline.Sink
	Close() error
}

type source interface {
	pipeline.Source
	Warnings() read.Warnings
}

// format writes notes to a path and reads them again.
type format struct {
	name  string
	write func(path string, o write.TextOptions) (sink, error)
	read  func(path string, o read.TextOptions) (source, error)
}

var formats = []format{
	{
		"brat",
		func(p string, o write.TextOptions) (sink, error) { return write.NewBrat(p, o) },
		func(p string, o read.TextOptions) (source, error) { return read.NewBrat(p, o) },
	},
	{
		"i2b2",
		func(p string, o write.TextOptions) (sink, error) { return write.NewI2B2(p, o) },
		func(p string, o read.TextOptions) (source, error) { return read.NewI2B2(p, o) },
	},
	{
		"jsonl",
		func(p string, o write.TextOptions) (sink, error) { return write.NewJSONL(p, o) },
		func(p string, o read.TextOptions) (source, error) { return read.NewJSONL(p, o) },
	},
	{
		"csv",
		func(p string, o write.TextOptions) (sink, error) { o.Comma = ';'; return write.NewCSV(p, o) },
		func(p string, o read.TextOptions) (source, error) { o.Comma = ';'; return read.NewCSV(p, o) },
	},
	{
		"conll",
		func(p string, o write.TextOptions) (sink, error) { o.Offsets = true; return write.NewCoNLL(p, o) },
		func(p string, o read.TextOptions) (source, error) { return read.NewCoNLL(p, o) },
	},
}

// TestRoundTrips sends notes through each format and from there through
// another.
func TestRoundTrips(t *testing.T) {
	for _, f := range formats {
		t.Run(f.name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				notes, dir := drawNotes(t), tempDir(t)
				other := rapid.SampledFrom(formats).Draw(t, "other")
				got := through(t, filepath.Join(dir, "first"), f, notes)
				got = through(t, filepath.Join(dir, "second"), other, got)
				if d := cmp.Diff(notes, got); d != "" {
					t.Fatal(d)
				}
			})
		})
	}
}

func through(t *rapid.T, path string, f format, notes []note) []note {
	unit := pipeline.OffsetUnit(rapid.IntRange(0, 2).Draw(t, "unit"))
	scheme := pipeline.Scheme(rapid.IntRange(0, 1).Draw(t, "scheme"))
	w, err := f.write(path, write.TextOptions{Gold: rapid.Bool().Draw(t, "gold"), Unit: unit, Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	finish(t, w, batchOf(notes...))
	r, err := f.read(path, read.TextOptions{Notes: 2, Unit: unit})
	if err != nil {
		t.Fatal(err)
	}
	out := notesOf(t, r)
	if r.Warnings() != (read.Warnings{}) {
		t.Fatalf("%+v", r.Warnings())
	}
	return out
}

func TestBratFiles(t *testing.T) {
	dir := t.TempDir()
	w, err := write.NewBrat(dir, write.TextOptions{})
	if err != nil {
		t.Fatal(err)
	}
	b := batchOf(
		marked("s/1", "😀 la [PERSON:Ada\r\nMas\tRiu] hi és"),
		marked("s/2", "res"),
		marked("bad", "res\xff [DATE:avui]"),
	)
	b.Reason[2] = pipeline.BadEncoding
	finish(t, w, b)
	for name, want := range map[string]string{
		"s/1.txt": "😀 la Ada\r\nMas\tRiu hi és",
		"s/1.ann": "T1\tPERSON 5 17\tAda  Mas Riu\n",
		"s/2.ann": "",
		"bad.txt": "res\xff avui",
		"bad.ann": "",
	} {
		got, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: mode is not 0600", name)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*", "*.tmp")); len(left) > 0 {
		t.Error("temporary files stay")
	}
}

func TestFolderRefusesIDs(t *testing.T) {
	for _, id := range []string{"", "..", "../x", "a/../../x", "/etc/x", "a//b", "a/", ".x", "a\\b", "a\nb", "a\x00b"} {
		w, err := write.NewBrat(t.TempDir(), write.TextOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Put(batchOf(note{ID: id})); err == nil {
			t.Errorf("id %q is accepted", id)
		}
	}
	w, err := write.NewBrat(t.TempDir(), write.TextOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Put(batchOf(note{ID: "a"}, note{ID: "a"})); err == nil {
		t.Error("a second note with the same id is accepted")
	}
}
