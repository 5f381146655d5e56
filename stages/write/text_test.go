package write_test

import (
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/markup"
	"github.com/velum-health/velum/pipeline/offset"
	"github.com/velum-health/velum/stages/read"
	"github.com/velum-health/velum/stages/read/text"
	"github.com/velum-health/velum/stages/write"
)

// note is one note of a test: what must come back.
type note struct {
	ID, Text string
	Spans    []pipeline.Span
}

// marked is a note in the notation of markup.Parse.
func marked(id, text string) note {
	plain, spans, err := markup.Parse(text)
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

func finish(t interface{ Fatal(...any) }, w write.Text, b *pipeline.Batch) {
	if err := w.Put(b); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestFormats(t *testing.T) {
	if others := slices.DeleteFunc(read.Formats(), func(f string) bool { return slices.Contains(write.Formats(), f) }); !slices.Equal(others, []string{"i2b2"}) {
		t.Errorf("read and not written: %q", others)
	}
	if _, err := read.Open("word", ".", text.Options{}); err == nil {
		t.Error("an unknown format is read")
	}
	if _, err := write.Create("word", t.TempDir(), write.TextOptions{}); err == nil {
		t.Error("an unknown format is written")
	}
	for _, f := range read.Formats() {
		path := filepath.Join(t.TempDir(), "none", "none")
		if r, err := read.Open(f, path, text.Options{}); err == nil || r != nil {
			t.Errorf("%s: a missing file is read", f)
		}
	}
}

// TestRoundTrips sends notes through each format and from there through
// another.
func TestRoundTrips(t *testing.T) {
	for _, f := range write.Formats() {
		t.Run(f, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				notes, dir := drawNotes(t), tempDir(t)
				other := rapid.SampledFrom(write.Formats()).Draw(t, "other")
				got := through(t, filepath.Join(dir, "first"), f, notes)
				got = through(t, filepath.Join(dir, "second"), other, got)
				if d := cmp.Diff(notes, got); d != "" {
					t.Fatal(d)
				}
			})
		})
	}
}

func through(t *rapid.T, path string, f string, notes []note) []note {
	unit := offset.Unit(rapid.IntRange(0, 2).Draw(t, "unit"))
	w, err := write.Create(f, path, write.TextOptions{
		Gold: rapid.Bool().Draw(t, "gold"), Unit: unit, Comma: ';',
	})
	if err != nil {
		t.Fatal(err)
	}
	finish(t, w, batchOf(notes...))
	r, err := read.Open(f, path, text.Options{Notes: 2, Unit: unit, Comma: ';'})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	out := notesOf(t, r)
	if r.Warnings() != (text.Warnings{}) {
		t.Fatalf("%+v", r.Warnings())
	}
	return out
}

func TestBratFiles(t *testing.T) {
	dir := t.TempDir()
	w, err := write.Create("brat", dir, write.TextOptions{})
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
		w, err := write.Create("brat", t.TempDir(), write.TextOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Put(batchOf(note{ID: id})); err == nil {
			t.Errorf("id %q is accepted", id)
		}
	}
	w, err := write.Create("brat", t.TempDir(), write.TextOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Put(batchOf(note{ID: "a"}, note{ID: "a"})); err == nil {
		t.Error("a second note with the same id is accepted")
	}
}

func TestTextFiles(t *testing.T) {
	dir := t.TempDir()
	b := batchOf(
		marked("7|1|2", "😀 \"l'[PERSON:Anna]\"\r\n\u2028va"),
		marked("null", ""),
		marked("bad", "\xff [DATE:avui]"),
		marked("", "sense id"),
	)
	b.Spans.Items[0].Source, b.Spans.Items[0].Score = pipeline.FromModel, 0.25
	b.Reason[1], b.Reason[2], b.Reason[3] = pipeline.NullText, pipeline.BadEncoding, pipeline.NullID
	span := func(start, end string) string {
		return `[{"start":` + start + `,"end":` + end + `,"label":"PERSON","source":"model","score":0.25}]`
	}
	for _, tt := range []struct {
		name    string
		open    func(path string) (write.Text, error)
		want    string
		skipped int
	}{
		{
			"a.jsonl", func(p string) (write.Text, error) { return write.Create("jsonl", p, write.TextOptions{}) },
			`{"id":"7|1|2","text":"😀 \"l'Anna\"\r\n\u2028va","spans":` + span("5", "9") + "}\n" + `{"id":"null","text":null,"spans":[]}` + "\n", 2,
		},
		{
			"a.csv", func(p string) (write.Text, error) {
				return write.Create("csv", p, write.TextOptions{Unit: offset.UTF16, TextColumn: "curs"})
			},
			"id,curs,spans\n7|1|2,\"😀 \"\"l'Anna\"\"\r\n\u2028va\",\"" + strings.ReplaceAll(span("6", "10"), `"`, `""`) + "\"\n", 3,
		},
	} {
		path := filepath.Join(dir, tt.name)
		w, err := tt.open(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Put(b); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s: there before it is whole", tt.name)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(path)
		if d := cmp.Diff(tt.want, string(got)); d != "" || err != nil {
			t.Errorf("%s: %s %v", tt.name, d, err)
		}
		if n := w.Skipped(); n != tt.skipped {
			t.Errorf("%s: %d notes left out, want %d", tt.name, n, tt.skipped)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*.tmp")); len(left) > 0 {
		t.Error("temporary files stay")
	}
}

func TestAbort(t *testing.T) {
	dir := t.TempDir()
	j, err := write.Create("jsonl", filepath.Join(dir, "a"), write.TextOptions{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := write.Create("csv", filepath.Join(dir, "b"), write.TextOptions{})
	if err != nil {
		t.Fatal(err)
	}
	j.Abort()
	c.Abort()
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Error("files stay")
	}
}

func TestBadSpans(t *testing.T) {
	for _, f := range write.Formats() {
		for _, s := range []pipeline.Span{{Start: 0, End: 9}, {Start: 1, End: 2}, {Start: 2, End: 0}} {
			w, err := write.Create(f, filepath.Join(t.TempDir(), "a"), write.TextOptions{})
			if err != nil {
				t.Fatal(err)
			}
			s.Category = must("PERSON")
			b := batchOf(note{"a", "éa", []pipeline.Span{s}})
			if err := w.Put(b); err == nil {
				t.Errorf("%s: span %d-%d is written", f, s.Start, s.End)
			}
			w.Abort()
		}
	}
}

func BenchmarkJSONL(b *testing.B) {
	batch := new(pipeline.Batch)
	for range 1000 {
		n := marked("7|1|2", "Pacient [PERSON:Ada Mas] vista a [LOCATION:Reus] el [DATE:1/2/2013] per dolor abdominal.")
		batch.ID.Append([]byte(n.ID))
		batch.Text.Append([]byte(n.Text))
		batch.Spans.Append(n.Spans...)
		batch.Reason = append(batch.Reason, pipeline.Sound)
	}
	w, err := write.Create("jsonl", filepath.Join(b.TempDir(), "a"), write.TextOptions{})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.SetBytes(int64(len(batch.Text.Data)))
	for b.Loop() {
		if err := w.Put(batch); err != nil {
			b.Fatal(err)
		}
	}
	w.Abort()
}

// TestParquetOfManyRows writes more rows than a column takes at once, and notes
// that the file holds as null or not at all.
func TestParquetOfManyRows(t *testing.T) {
	dir := t.TempDir()
	w, err := write.Create("parquet", dir, write.TextOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var want []note
	for k := range 3 {
		b := new(pipeline.Batch)
		for i := range 700 {
			n := marked(string([]byte{'a' + byte(k), byte('0' + i/100), byte('0' + i/10%10), byte('0' + i%10)}), "[PERSON:Ada] i [DATE:2013]")
			b.ID.Append([]byte(n.ID))
			b.Text.Append([]byte(n.Text))
			b.Spans.Append(n.Spans...)
			want = append(want, n)
		}
		if err := w.Put(b); err != nil {
			t.Fatal(err)
		}
	}
	b := batchOf(note{ID: "z"}, note{ID: "bad", Text: "\xff"})
	b.Reason[0] = pipeline.NullText
	if err := w.Put(b); err != nil {
		t.Fatal(err)
	}
	if w.Skipped() != 1 {
		t.Errorf("%d notes left out", w.Skipped())
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	w.Abort() // does nothing any more
	r, err := text.NewParquet(filepath.Join(dir, "notes.parquet"), text.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	got := notesOf(t, r)
	if d := cmp.Diff(append(want, note{"z", "", []pipeline.Span{}}), got); d != "" {
		t.Error(d)
	}
	left, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(left) != 1 {
		t.Errorf("files %v, %v", left, err)
	}
}

// TestScores: a list of spans has the scores that are probabilities, and none of the others.
func TestScores(t *testing.T) {
	for score, want := range map[float32]string{0: `,"score":0`, 0.25: `,"score":0.25`, 1: `,"score":1`, 1.5: "", -0.5: "", float32(math.NaN()): ""} {
		got, err := write.AppendSpans([]byte("x"), new(offset.Index), []byte("7"), []byte("Ada Bosch"), []pipeline.Span{{End: 3, Category: must("PERSON"), Score: score}}, offset.Bytes)
		if list := `x[{"start":0,"end":3,"label":"PERSON","source":"` + pipeline.SpanSource(0).String() + `"` + want + "}]"; err != nil || string(got) != list {
			t.Errorf("%v: %s, want %s, %v", score, got, list, err)
		}
	}
}
