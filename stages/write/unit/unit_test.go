package unit

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
	"github.com/zeebo/xxh3"
	"pgregory.net/rapid"

	"github.com/velum-health/velum/models/word/gazetteer"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/pipeline/durable"
	"github.com/velum-health/velum/pipeline/markup"
	"github.com/velum-health/velum/pipeline/patientid"
	"github.com/velum-health/velum/stages/write/summary"
	"github.com/velum-health/velum/stages/write/table"
)

// batches is a Source of batches that are there already.
type batches struct {
	all  []*pipeline.Batch
	next int
}

func (s *batches) Next(b *pipeline.Batch) error {
	if s.next == len(s.all) {
		return io.EOF
	}
	*b = *s.all[s.next]
	b.Extra = slices.Clone(b.Extra) // Reset empties them in place
	s.next++
	return nil
}

func (s *batches) rows() (n int64) {
	for _, b := range s.all {
		n += int64(b.Len())
	}
	return n
}

// writeUnit writes batches as the one unit of a run and returns its folder.
// everyNote keeps every candidate but the second.
type everyNote struct{ added, settled int }

func (e *everyNote) Add(*pipeline.Batch, int) (bool, error) { e.added++; return true, nil }

func (e *everyNote) Settle() (listed []int) {
	for n := e.settled; n < e.added; n++ {
		if n != 1 {
			listed = append(listed, n-e.settled)
		}
	}
	e.settled = e.added
	return listed
}

func (e *everyNote) AppendBinary(dst []byte) []byte { return fmt.Append(dst, e.added, " added") }

func writeUnit(t testing.TB, all []*pipeline.Batch, o Options) (string, *commit.Manifest) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "out")
	m, err := runUnit(t, dir, all, o)
	if err != nil {
		t.Fatal(err)
	}
	return dir, m
}

func runUnit(t testing.TB, dir string, all []*pipeline.Batch, o Options) (*commit.Manifest, error) {
	src := &batches{all: all}
	plan := &commit.Plan{Units: []commit.Unit{{Input: "test", Rows: src.rows()}}}
	r, err := commit.RunUnits(t.Context(), plan, commit.Output{Dir: dir, FS: unsynced{durable.OS}}, func(_ int, _ *commit.Unit, parts *commit.Parts) (commit.Line, error) {
		sink, err := New(parts, o)
		return commit.Line{Source: src, Sink: sink}, err
	}, commit.UnitOptions{Verify: table.Verify})
	if err != nil {
		return nil, err
	}
	return r.Manifest, nil
}

// part returns the path of the only part of a kind, or "".
func partOf(t testing.TB, dir, kind string) string {
	t.Helper()
	for _, root := range []string{dir, dir + ".private"} {
		found, err := filepath.Glob(filepath.Join(root, kind, "part-*"))
		if err != nil {
			t.Fatal(err)
		}
		if len(found) == 1 {
			return found[0]
		}
	}
	return ""
}

// rowsOf reads a part with parquet-go's rows, and writes every row as text.
func rowsOf(t testing.TB, path string) []string {
	t.Helper()
	if path == "" {
		return nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := parquet.OpenFile(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, g := range f.RowGroups() {
		rows := g.Rows()
		buf := make([]parquet.Row, 64)
		for {
			n, err := rows.ReadRows(buf)
			for _, row := range buf[:n] {
				var line strings.Builder
				row.Range(func(_ int, values []parquet.Value) bool {
					for _, v := range values {
						fmt.Fprintf(&line, "%v ", v)
					}
					line.WriteString("| ")
					return true
				})
				all = append(all, strings.TrimSuffix(line.String(), " | "))
			}
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		rows.Close()
	}
	return all
}

var person, location = category("PERSON"), category("LOCATION")

func category(name string) pipeline.Category {
	c, err := pipeline.ParseCategory(name)
	if err != nil {
		panic(err)
	}
	return c
}

var testTags = &pipeline.TagSet{Categories: []pipeline.Category{person, location}}

// markedBatch makes a batch of marked notes: tokens at spaces, masked by
// category. A note that begins with ! is in quarantine, one with + is a
// candidate.
func markedBatch(t testing.TB, first int64, notes ...string) *pipeline.Batch {
	t.Helper()
	b := &pipeline.Batch{First: first, TagSet: testTags}
	b.Extra = []pipeline.Column{{Name: "center", Kind: pipeline.BytesColumn}, {Name: "secret", Kind: pipeline.Int64Column}}
	for i, note := range notes {
		reason, choice := pipeline.Sound, pipeline.NotChosen
		if rest, ok := strings.CutPrefix(note, "!"); ok {
			note, reason = rest, pipeline.SurvivingValue
		}
		if rest, ok := strings.CutPrefix(note, "+"); ok {
			note, choice = rest, pipeline.Candidate
		}
		text, spans, err := markup.Parse(note)
		if err != nil {
			t.Fatal(err)
		}
		b.ID.Append(fmt.Appendf(nil, "id%d", first+int64(i)))
		b.Text.Append(text)
		b.Spans.Append(spans...)
		b.Reason = append(b.Reason, reason)
		b.Chosen = append(b.Chosen, choice)
		b.Conf = append(b.Conf, 0.5)
		b.Language = append(b.Language, pipeline.Spanish)
		masked, places := mask(text, spans)
		b.Masked.Append(masked)
		b.Places.Append(places...)
		b.Tokens.Append(tokens(text)...)
		b.Tags = append(b.Tags, make([]pipeline.Tag, len(b.Tokens.At(i)))...)
		testTags.Encode(b.TagsOf(i), b.Tokens.At(i), spans)
		b.Extra[0].Valid = append(b.Extra[0].Valid, i%2 == 0)
		b.Extra[0].Bytes.Append([]byte("C1")[:2*((i+1)%2)])
		b.Extra[1].Valid = append(b.Extra[1].Valid, true)
		b.Extra[1].Fixed = append(b.Extra[1].Fixed, 777)
	}
	sealAll(b)
	return b
}

// sealAll seals every note, as verify does with those that it passes.
func sealAll(b *pipeline.Batch) {
	for i := range min(b.Len(), b.Masked.Len()) {
		b.Seal(i)
	}
}

func mask(text []byte, spans []pipeline.Span) (out []byte, places []pipeline.Span) {
	at := int32(0)
	for _, s := range spans {
		out = append(out, text[at:s.Start]...)
		from := len(out)
		out = append(out, "["+s.Category.String()+"]"...)
		at = s.End
		s.Start, s.End = int32(from), int32(len(out))
		places = append(places, s)
	}
	return append(out, text[at:]...), places
}

func tokens(text []byte) (all []pipeline.Token) {
	at := 0
	for word := range bytes.SplitSeq(text, []byte(" ")) {
		if len(word) > 0 {
			all = append(all, pipeline.Token{Start: int32(at), End: int32(at + len(word))})
		}
		at += len(word) + 1
	}
	if len(all) > 0 {
		all[0].Flags = pipeline.LineStart | pipeline.SentenceStart
	}
	return all
}

func TestUnit(t *testing.T) {
	dir, m := writeUnit(t, []*pipeline.Batch{
		markedBatch(t, 10, "+visto por [PERSON:Ada Bosch] en [LOCATION:Reus]", "!no [PERSON:Pau]", "+sin datos"),
		markedBatch(t, 13, "+", "[PERSON:Pau] ó [PERSON:Ona]"),
	}, Options{
		Model: "m1", Categories: []pipeline.Category{person},
		Pass: []pipeline.Column{{Name: "center", Kind: pipeline.BytesColumn}}, IDs: true, Candidates: new(everyNote),
	})
	for kind, want := range map[string][]string{
		"masked": {
			"id10 | 10 | visto por [PERSON] en [LOCATION] | m1 | 1 | 1 | C1",
			"id12 | 12 | sin datos | m1 | 0 | 0 | C1",
			"id13 | 13 |  | m1 | 0 | 0 | C1",
			"id14 | 14 | [PERSON] ó [PERSON] | m1 | 2 | 0 | <null>",
		},
		"spans": {
			"id10 | 10 | 10 | 18 | 10 | 18 | PERSON",
			"id10 | 10 | 22 | 32 | 22 | 32 | LOCATION",
			"id14 | 14 | 0 | 8 | 0 | 8 | PERSON",
			"id14 | 14 | 12 | 20 | 11 | 19 | PERSON",
		},
		"notes": {"id10 | 10 | 0.5 | es", "id12 | 12 | 0.5 | es", "id13 | 13 | 0.5 | es", "id14 | 14 | 0.5 | es"},
		"original": {
			"id10 | 10 | 10 | 19 | 10 | 19 | PERSON | 1 | gold",
			"id10 | 10 | 23 | 27 | 23 | 27 | LOCATION | 1 | gold",
			"id14 | 14 | 0 | 3 | 0 | 3 | PERSON | 1 | gold",
			"id14 | 14 | 7 | 10 | 6 | 9 | PERSON | 1 | gold",
		},
		"candidates": {
			"id10 | 10 | 0.5 | es | candidate | visto por Ada Bosch en Reus | \x00\x05\x03\x00\x01\x03\x00\x00\x01\x03\x00\x01\x01\x05\x00\x02\x01\x02\x00\x00\x01\x04\x00\x03",
			"id13 | 13 | 0.5 | es | candidate |  | ",
		},
		"quarantine": {"11 | id11 | surviving_value | 0 | 0 | "},
	} {
		if got := rowsOf(t, partOf(t, dir, kind)); !slices.Equal(got, want) {
			t.Errorf("%s:\n%s\nwant\n%s", kind, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	for _, kind := range []string{"masked", "spans", "notes", "original", "candidates", "quarantine"} {
		want := ""
		if kind == "spans" || kind == "original" {
			want = "start, end: bytes of UTF-8; start_char, end_char: Unicode code points; from 0, end exclusive"
		}
		if got := metadataOf(t, partOf(t, dir, kind), "velum.offsets"); got != want {
			t.Errorf("%s says of its offsets %q", kind, got)
		}
	}
	if m.Rows != 5 || m.Masked != 4 || m.Reasons["surviving_value"] != 1 || m.Tally["category/PERSON"] != 3 || m.Tally["chosen/candidate"] != 3 || m.Tally["notes_with_spans"] != 2 || m.Tally["empty"] != 1 {
		t.Errorf("counts %+v", m.Counts)
	}
	data, err := os.ReadFile(partOf(t, dir, "summary"))
	if err != nil {
		t.Fatal(err)
	}
	sum, err := summary.Parse(data)
	if err != nil || len(sum.IDs) != 5*8 || string(sum.Candidates) != "3 added" {
		t.Errorf("summary: %d bytes of ids, %q, %v", len(sum.IDs), sum.Candidates, err)
	}
	for n := range data {
		if _, err := summary.Parse(data[:n]); err == nil {
			t.Errorf("a summary cut off after %d bytes is one", n)
		}
	}
	for _, kind := range []string{"notes", "original", "candidates", "quarantine", "summary"} {
		if !strings.HasPrefix(partOf(t, dir, kind), dir+".private") {
			t.Errorf("%s is not in the private tree", kind)
		}
	}
}

// metadataOf returns what the metadata of a file have under a key.
func metadataOf(t testing.TB, path, key string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := parquet.OpenFile(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	value, _ := f.Lookup(key)
	return value
}

// TestImitated: where replacements look like values, nothing public says where they
// stand or how many there are in a note; extracts can be made of the private part.
func TestImitated(t *testing.T) {
	notes := func() []*pipeline.Batch {
		return []*pipeline.Batch{markedBatch(t, 0, "visto por [PERSON:Ada Bosch] en [LOCATION:Reus] con [EMAIL:a@b.es]", "[PERSON:Pau]")}
	}
	original := []string{
		"id0 | 0 | 10 | 19 | 10 | 19 | PERSON | 1 | gold", "id0 | 0 | 23 | 27 | 23 | 27 | LOCATION | 1 | gold",
		"id0 | 0 | 32 | 38 | 32 | 38 | EMAIL | 1 | gold", "id1 | 1 | 0 | 3 | 0 | 3 | PERSON | 1 | gold",
	}
	for name, c := range map[string]struct {
		o             Options
		masked, spans []string
	}{
		"persons": {
			Options{Categories: []pipeline.Category{person, location}, Imitated: []pipeline.Category{person}},
			[]string{"id0 | 0 | visto por [PERSON] en [LOCATION] con [EMAIL] |  | 1 | 1", "id1 | 1 | [PERSON] |  | 0 | 0"},
			[]string{"id0 | 0 | 22 | 32 | 22 | 32 | LOCATION", "id0 | 0 | 37 | 44 | 37 | 44 | EMAIL"},
		},
		"no spans": {
			Options{Categories: []pipeline.Category{person}, NoSpans: true},
			[]string{"id0 | 0 | visto por [PERSON] en [LOCATION] con [EMAIL] |  | 1 | 2", "id1 | 1 | [PERSON] |  | 1 | 0"}, nil,
		},
	} {
		dir, m := writeUnit(t, notes(), c.o)
		if got := rowsOf(t, partOf(t, dir, "masked")); !slices.Equal(got, c.masked) {
			t.Errorf("%s: masked\n%s", name, strings.Join(got, "\n"))
		}
		if got := rowsOf(t, partOf(t, dir, "original")); !slices.Equal(got, original) {
			t.Errorf("%s: original\n%s", name, strings.Join(got, "\n"))
		}
		path := partOf(t, dir, "spans")
		if (path == "") != (c.spans == nil) {
			t.Fatalf("%s: spans in %q", name, path)
		}
		if path != "" {
			if got := rowsOf(t, path); !slices.Equal(got, c.spans) {
				t.Errorf("%s: spans\n%s", name, strings.Join(got, "\n"))
			}
		}
		if m.Tally["category/PERSON"] != 2 {
			t.Errorf("%s: counts %+v", name, m.Counts)
		}
	}
}

// TestNoTextByDefault: quarantine holds no text, spans never do.
func TestNoTextByDefault(t *testing.T) {
	dir, _ := writeUnit(t, []*pipeline.Batch{markedBatch(t, 0, "![PERSON:Pau]", "[PERSON:Ona]")}, Options{})
	for _, kind := range []string{"masked", "spans", "quarantine"} {
		rows := strings.Join(rowsOf(t, partOf(t, dir, kind)), "\n")
		if rows == "" || strings.Contains(rows, "Pau") || strings.Contains(rows, "Ona") || strings.Contains(rows, "777") {
			t.Errorf("%s: %q", kind, rows)
		}
	}
}

// TestEmptyParts: only the masked part, that of the notes and the summary are
// made for nothing.
func TestEmptyParts(t *testing.T) {
	dir, m := writeUnit(t, nil, Options{})
	if len(m.Units[0].Parts) != 3 || partOf(t, dir, "masked") == "" {
		t.Errorf("parts: %+v", m.Units[0].Parts)
	}
	dir, _ = writeUnit(t, []*pipeline.Batch{markedBatch(t, 0, "sin datos")}, Options{})
	for _, kind := range []string{"spans", "original", "rare", "candidates", "quarantine", "quasi"} {
		if path := partOf(t, dir, kind); path != "" {
			t.Errorf("a part %s of nothing", kind)
		}
	}
}

// TestPrivateParts has what is written of quasi-identifiers, of facts that single somebody out, and of rows of a mixed unit.
func TestPrivateParts(t *testing.T) {
	b := markedBatch(t, 4, "uno", "dos", "!tres", "cuatro")
	b.Rows, b.Keyed = []int64{4, 5, 6, 7}, []int64{70, 80, 81, 90}
	day := pipeline.Column{Name: "day", Kind: pipeline.TimestampColumn, Fixed: []uint64{86400e6 + 1, 0, 0, 3*86400e6 - 1}, Valid: []bool{true, false, true, true}}
	patient := pipeline.Column{Name: "patient", Valid: []bool{true, false, true, true}}
	b.Lifted = make([]pipeline.Bytes, 1)
	for i, id := range []string{"7", "", "8", "7"} {
		patient.Bytes.Append([]byte(id))
		b.Lifted[0].Append(fmt.Appendf(nil, "%d", 40+i))
	}
	b.Extra = append(b.Extra, day, patient)
	fact := func(from, to int32) []pipeline.Span {
		return []pipeline.Span{{Start: from, End: to, Category: location, Score: .5}}
	}
	for _, found := range [][]pipeline.Span{fact(0, 3), fact(0, 3), fact(0, 1), fact(0, 1)} {
		b.Rare.Append(found...)
	}
	sealAll(b) // under its new rows
	day.Fixed, day.Valid = nil, nil
	o := Options{Quasi: []QuasiColumn{{Name: "day", Column: &day, Day: 86400e6}, {Name: "age"}}, Patients: "patient", Mixed: true}
	dir, _ := writeUnit(t, []*pipeline.Batch{b}, o)
	hash := func(text string) int64 { return int64(xxh3.Hash(patientid.Key([]byte(text)))) }
	for kind, want := range map[string][]string{
		"quasi": {
			fmt.Sprintf("id4 | 70 | %d | 1970-01-02 | 40", hash("7")), "id5 | 80 | 0 |  | 41", fmt.Sprintf("id7 | 90 | %d | 1970-01-03 | 43", hash("7")),
		},
		"notes": {"id4 | 70 | 0.5 | es | 4", "id5 | 80 | 0.5 | es | 5", "id7 | 90 | 0.5 | es | 7"},
		"rare": {
			fmt.Sprintf("id4 | 4 | 0 | 3 | 0 | 3 | LOCATION | 0.5 | %d | %d", int64(gazetteer.Hash([]byte("uno"))), hash("7")),
			fmt.Sprintf("id5 | 5 | 0 | 3 | 0 | 3 | LOCATION | 0.5 | %d | %d", int64(gazetteer.Hash([]byte("dos"))), int64(xxh3.HashSeed([]byte("id5"), 5))),
			fmt.Sprintf("id7 | 7 | 0 | 1 | 0 | 1 | LOCATION | 0.5 | %d | %d", int64(gazetteer.Hash([]byte("c"))), hash("7")),
		},
		"quarantine": {"6 | id6 | surviving_value | 0 | 0 | "},
	} {
		path := partOf(t, dir, kind)
		if got := rowsOf(t, path); !slices.Equal(got, want) || !strings.HasPrefix(path, dir+".private") {
			t.Errorf("%s in %s:\n%s\nwant\n%s", kind, path, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	for _, kind := range []string{"masked", "spans"} { // of a mixed unit wait for the last step
		if path := partOf(t, dir, kind); path != "" && !strings.HasPrefix(path, dir+".private") {
			t.Errorf("%s is public", kind)
		}
	}
	for name, spoil := range map[string]func(*pipeline.Batch){
		"no day": func(b *pipeline.Batch) { b.Extra = b.Extra[:1] }, "nothing lifted": func(b *pipeline.Batch) { b.Lifted = nil },
		"too little lifted": func(b *pipeline.Batch) { b.Lifted[0].Reset() },
	} {
		some := *b
		some.Lifted = slices.Clone(b.Lifted)
		spoil(&some)
		if _, err := runUnit(t, filepath.Join(t.TempDir(), "out"), []*pipeline.Batch{&some}, o); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	o.Quasi = append(o.Quasi, QuasiColumn{Name: "row"})
	if _, err := runUnit(t, filepath.Join(t.TempDir(), "out"), nil, o); err == nil {
		t.Error("a quasi-identifier with the name of a column of ours: no error")
	}
}

// TestQuasi writes a public table over several row groups.
func TestQuasi(t *testing.T) {
	path := filepath.Join(t.TempDir(), "quasi.parquet")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	q, err := NewQuasi(file, []string{"age", "center"}, 3, "p")
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	id := []byte("id0")
	for i := range 8 {
		id[2] = byte('0' + i) // whoever calls may use its bytes again
		if err := q.Add(id, int64(i), [][]byte{fmt.Append(nil, 40+i), []byte("C1")}); err != nil {
			t.Fatal(err)
		}
		want = append(want, fmt.Sprintf("id%d | %d | %d | C1 | p", i, i, 40+i))
	}
	rows, digest, err := q.Close()
	if got := rowsOf(t, path); err != nil || rows != 8 || !slices.Equal(got, want) {
		t.Errorf("%d rows %q, %v", rows, got, err)
	}
	again, same, err := table.Verify("", file, sizeOf(t, file))
	if err != nil || again != rows || same != digest {
		t.Errorf("read again: %d rows, %s, %v", again, same, err)
	}
	if _, err := NewQuasi(io.Discard, []string{"note_id"}, 0, ""); err == nil {
		t.Error("two columns of one name")
	}
}

func sizeOf(t *testing.T, f *os.File) int64 {
	t.Helper()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

func TestMissingStage(t *testing.T) {
	for name, spoil := range map[string]func(*pipeline.Batch){
		"no mask":      func(b *pipeline.Batch) { b.Masked.Reset() },
		"one too few":  func(b *pipeline.Batch) { b.Masked.Offsets = b.Masked.Offsets[:len(b.Masked.Offsets)-1] },
		"no reasons":   func(b *pipeline.Batch) { b.Reason = nil },
		"no spans":     func(b *pipeline.Batch) { b.Spans.Reset() },
		"no places":    func(b *pipeline.Batch) { b.Places.Reset() },
		"no ids":       func(b *pipeline.Batch) { b.ID.Reset() },
		"no tags":      func(b *pipeline.Batch) { b.TagSet = nil },
		"other column": func(b *pipeline.Batch) { b.Extra[0].Name = "other" },
		"other kind":   func(b *pipeline.Batch) { b.Extra[0].Kind = pipeline.DateColumn },
	} {
		b := markedBatch(t, 0, "+[PERSON:Pau]", "+text")
		spoil(b)
		_, err := runUnit(t, filepath.Join(t.TempDir(), "out"), []*pipeline.Batch{b}, Options{Pass: []pipeline.Column{{Name: "center"}}, Candidates: new(everyNote)})
		if err == nil {
			t.Errorf("%s: no error", name)
		} else if strings.Contains(err.Error(), "Pau") {
			t.Errorf("%s: the error quotes the note", name)
		}
	}
	_, err := runUnit(t, filepath.Join(t.TempDir(), "out"), nil, Options{Pass: []pipeline.Column{{Name: "text"}}})
	if err == nil || !strings.Contains(err.Error(), "rename") {
		t.Errorf("pass-through column with our name: %v", err)
	}
}

// TestSeals: a masked text that verify has not seen, or that was changed since,
// is never written.
func TestSeals(t *testing.T) {
	for name, spoil := range map[string]func(*pipeline.Batch){
		"never verified": func(b *pipeline.Batch) { b.Seals = nil },
		"not this one":   func(b *pipeline.Batch) { b.Seals[1] = 0 },
		"changed since":  func(b *pipeline.Batch) { b.Masked.Data[b.Masked.Offsets[1]]++ },
		"of another row": func(b *pipeline.Batch) { b.Seals[1] = b.Seals[0] },
	} {
		b := markedBatch(t, 0, "con [PERSON:Pau]", "con [PERSON:Ona]")
		spoil(b)
		dir := filepath.Join(t.TempDir(), "out")
		m, err := runUnit(t, dir, []*pipeline.Batch{b}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if m.Rows != 2 || m.Masked+m.Quarantined != 2 || m.Reasons["unsealed"] == 0 || m.Reasons["unsealed"] != m.Quarantined {
			t.Errorf("%s: %+v", name, m.Counts)
		}
	}
}

// randomBatches draws batches with nulls, empty lists and every reason.
func randomBatches(rt *rapid.T) (all []*pipeline.Batch, pass []pipeline.Column) {
	kinds := rapid.SliceOfN(rapid.IntRange(int(pipeline.BytesColumn), int(pipeline.TimestampColumn)), 0, 4).Draw(rt, "kinds")
	for k, kind := range kinds {
		pass = append(pass, pipeline.Column{Name: fmt.Sprintf("x%d", k), Kind: pipeline.ColumnKind(kind)})
	}
	first := int64(0)
	for range rapid.IntRange(0, 4).Draw(rt, "batches") {
		b := &pipeline.Batch{First: first, TagSet: testTags}
		for _, c := range pass {
			b.Extra = append(b.Extra, pipeline.Column{Name: c.Name, Kind: c.Kind})
		}
		for range rapid.IntRange(1, 40).Draw(rt, "notes") {
			drawNote(rt, b)
			first++
		}
		sealAll(b)
		all = append(all, b)
	}
	return all, pass
}

func drawNote(rt *rapid.T, b *pipeline.Batch) {
	b.ID.Append([]byte(rapid.StringN(0, 6, 12).Draw(rt, "id")))
	text := []byte(rapid.StringN(0, 20, 40).Draw(rt, "text"))
	b.Text.Append(text)
	b.Masked.Append(text)
	b.Places.End()
	b.Reason = append(b.Reason, pipeline.Reason(max(0, rapid.IntRange(-20, pipeline.Reasons()-1).Draw(rt, "reason"))))
	b.Conf = append(b.Conf, rapid.Float32Range(0, 1).Draw(rt, "confidence"))
	b.Chosen = append(b.Chosen, pipeline.Choice(rapid.IntRange(0, 2).Draw(rt, "choice")))
	b.Language = append(b.Language, pipeline.Language(rapid.IntRange(0, 4).Draw(rt, "language")))
	for at := 0; at+2 < len(text) && rapid.Bool().Draw(rt, "token"); at += 3 {
		b.Tokens.Items = append(b.Tokens.Items, pipeline.Token{Start: int32(at), End: int32(at + 2)})
		b.Tags = append(b.Tags, pipeline.Tag(rapid.IntRange(0, testTags.Len()-1).Draw(rt, "tag")))
		if rapid.Bool().Draw(rt, "span") {
			b.Spans.Items = append(b.Spans.Items, pipeline.Span{Start: int32(at), End: int32(at + 2), Category: person, Score: 0.25})
		}
	}
	b.Tokens.End()
	b.Spans.End()
	for k := range b.Extra {
		c := &b.Extra[k]
		valid := rapid.Bool().Draw(rt, "valid")
		c.Valid = append(c.Valid, valid)
		if c.Kind == pipeline.BytesColumn {
			c.Bytes.Append([]byte(rapid.StringN(0, 5, 10).Draw(rt, "value")))
			continue
		}
		bits := rapid.Uint64().Draw(rt, "bits")
		if c.Kind == pipeline.BoolColumn {
			bits &= 1
		}
		c.Fixed = append(c.Fixed, bits)
	}
}

// TestBothLibrariesAgree: what one library writes, the other reads with the
// same digest, whatever the notes, and row groups are cut at the same row
// whatever the batches.
func TestBothLibrariesAgree(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		all, pass := randomBatches(rt)
		group := rapid.IntRange(1, 30).Draw(rt, "rows a group")
		o := Options{Pass: pass, Categories: []pipeline.Category{person, location}, RowGroup: group, Model: "m"}
		dir, err := os.MkdirTemp(t.TempDir(), "")
		if err != nil {
			rt.Fatal(err)
		}
		if _, err := runUnit(t, filepath.Join(dir, "out"), all, o); err != nil {
			rt.Fatal(err)
		}
		data, err := os.ReadFile(partOf(t, filepath.Join(dir, "out"), "masked"))
		if err != nil {
			rt.Fatal(err)
		}
		f, err := parquet.OpenFile(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			rt.Fatal(err)
		}
		for i, g := range f.RowGroups() {
			if last := i == len(f.RowGroups())-1; g.NumRows() != int64(group) && !last {
				rt.Fatalf("row group %d has %d rows", i, g.NumRows())
			}
		}
		os.RemoveAll(dir)
	})
}

// TestBatchesDoNotShow: the same notes in other batches give the same bytes.
func TestBatchesDoNotShow(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 6))
	var notes []string
	for range 9000 {
		notes = append(notes, "+"+strings.Repeat("x", rng.IntN(600))+" [PERSON:Pau] "+strings.Repeat("y ", rng.IntN(60)))
	}
	notes[4000] = "+" + strings.Repeat("z", 9<<20)
	var sums []string
	for _, most := range []int{9000, 4096, 100, 37} {
		var all []*pipeline.Batch
		first := int64(0)
		for part := range slices.Chunk(notes, most) {
			all = append(all, markedBatch(t, first, part...))
			for k := range part { // pass-through columns follow the place in the batch
				all[len(all)-1].Extra[0].Valid[k] = false
			}
			first += int64(len(part))
		}
		_, m := writeUnit(t, all, Options{RowGroup: 5000, Pass: []pipeline.Column{{Name: "center"}}})
		sums = append(sums, fmt.Sprint(m.Units[0].Parts))
	}
	for i, sum := range sums[1:] {
		if sum != sums[0] {
			t.Errorf("batches number %d show:\n%s\n%s", i+1, sum, sums[0])
		}
	}
}

// TestManySpans: a page may end in the middle of a chunk of rows.
func TestManySpans(t *testing.T) {
	_, m := writeUnit(t, []*pipeline.Batch{markedBatch(t, 0, strings.Repeat("[PERSON:a]", 250_000))}, Options{RowGroup: 1 << 20})
	if p := m.Units[0].Parts[3]; p.Kind != "spans" || p.Rows != 250_000 {
		t.Errorf("part %+v", p)
	}
}

const canary = "Zacarías Quintanilla"

// TestNoTextOutsidePages looks at every byte of a masked part that is not the
// compressed body of a page, and finds neither the text of a note nor a
// statistic of any column.
func TestNoTextOutsidePages(t *testing.T) {
	var notes []string
	for i := range 3000 {
		notes = append(notes, fmt.Sprintf("%s número %d", canary, i))
	}
	b := markedBatch(t, 0, notes...)
	for i := range b.Len() { // pass-through text is text too
		b.Extra[0].Valid[i] = true
	}
	b.Extra[0].Bytes = b.Text
	dir, _ := writeUnit(t, []*pipeline.Batch{b}, Options{Pass: []pipeline.Column{{Name: "center"}}, RowGroup: 1000})
	data, err := os.ReadFile(partOf(t, dir, "masked"))
	if err != nil {
		t.Fatal(err)
	}
	size := int(binary.LittleEndian.Uint32(data[len(data)-8:]))
	var m format.FileMetaData
	if err := thrift.Unmarshal(new(thrift.CompactProtocol), data[len(data)-8-size:len(data)-8], &m); err != nil {
		t.Fatal(err)
	}
	if m.CreatedBy != "velum version 1(build 0)" {
		t.Errorf("created by %q", m.CreatedBy)
	}
	rest := slices.Clone(data)
	pages := 0
	for _, g := range m.RowGroups {
		for i := range g.Columns {
			meta := &g.Columns[i].MetaData
			s := meta.Statistics
			if len(s.Min)+len(s.Max)+len(s.MinValue)+len(s.MaxValue) > 0 || meta.BloomFilterOffset != 0 || g.Columns[i].ColumnIndexOffset != 0 {
				t.Errorf("column %v has bounds, a filter or an index", meta.PathInSchema)
			}
			pages += wipePages(t, rest, meta)
		}
	}
	if pages < 3*len(m.RowGroups[0].Columns) {
		t.Errorf("only %d pages found", pages)
	}
	for _, word := range strings.Fields(canary) {
		if bytes.Contains(rest, []byte(word[:6])) {
			t.Errorf("text of a note outside the pages")
		}
	}
	f, err := parquet.OpenFile(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(f.ColumnIndexes()); n != 0 {
		t.Errorf("%d column indexes", n)
	}
}

// wipePages clears the bodies of all pages of a column and checks their
// headers.
func wipePages(t *testing.T, data []byte, meta *format.ColumnMetaData) (pages int) {
	t.Helper()
	at := meta.DataPageOffset
	if meta.DictionaryPageOffset != 0 {
		at = meta.DictionaryPageOffset
	}
	end := at + meta.TotalCompressedSize
	for at < end {
		p := new(thrift.CompactProtocol)
		r := p.NewReaderFromBytes(slices.Clone(data[at:end]))
		var h format.PageHeader
		if err := thrift.NewDecoder(r).Decode(&h); err != nil {
			t.Fatal(err)
		}
		if h.CRC == 0 {
			t.Errorf("column %v has a page without a checksum", meta.PathInSchema)
		}
		for _, s := range []format.Statistics{h.DataPageHeader.V.Statistics, h.DataPageHeaderV2.V.Statistics} {
			if len(s.Min)+len(s.Max)+len(s.MinValue)+len(s.MaxValue) > 0 {
				t.Errorf("column %v has a page with statistics", meta.PathInSchema)
			}
		}
		body := at + int64(r.BytesRead())
		at = body + int64(h.CompressedPageSize)
		clear(data[body:at])
		pages++
	}
	return pages
}

// benchmarkBatches makes notes of 140 bytes, one in eleven with a name.
func benchmarkBatches() (all []*pipeline.Batch, size int64) {
	rng := rand.New(rand.NewPCG(1, 2))
	for first := range int64(10) {
		b := &pipeline.Batch{First: first * 2000, TagSet: testTags}
		for i := range 2000 {
			b.ID.Append(fmt.Appendf(nil, "%d", first*2000+int64(i)))
			for n := 10 + rng.IntN(20); n > 0; n-- {
				b.Text.Data = fmt.Appendf(b.Text.Data, "palabra%d ", int(rng.ExpFloat64()*200))
			}
			b.Text.End()
			if i%11 == 0 {
				b.Spans.Items = append(b.Spans.Items, pipeline.Span{Start: 0, End: 5, Category: person})
			}
			b.Spans.End()
			b.Reason = append(b.Reason, pipeline.Sound)
			b.Conf = append(b.Conf, rng.Float32())
			b.Language = append(b.Language, pipeline.Spanish)
		}
		b.Masked, b.Places = b.Text, b.Spans
		sealAll(b)
		size += int64(len(b.Text.Data))
		all = append(all, b)
	}
	return all, size
}

// BenchmarkUnit writes the masked and the spans part of 20,000 notes, without
// sync and re-read.
func BenchmarkUnit(b *testing.B) {
	all, size := benchmarkBatches()
	set, err := pipeline.Labels("primary-care")
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		u := &Unit{source: none, o: Options{Model: "m", Categories: set.Categories}, counted: newCounted(), reasons: make([]int64, pipeline.Reasons())}
		columns, err := u.maskedColumns()
		if err != nil {
			b.Fatal(err)
		}
		u.masked = &table.Part{Table: table.New(io.Discard, columns, 0)}
		u.spans = &table.Part{Table: table.New(io.Discard, originalColumns[:placeScore], 0)}
		u.original = &table.Part{Table: table.New(io.Discard, originalColumns, 0)}
		u.notes = &table.Part{Table: table.New(io.Discard, noteColumns, 0)}
		u.open = []*table.Part{u.masked, u.notes, u.spans, u.original}
		for _, batch := range all {
			if err := u.Put(batch); err != nil {
				b.Fatal(err)
			}
		}
		for _, p := range u.open {
			if _, _, err := p.Close(); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(20_000*b.N)/b.Elapsed().Seconds(), "notes/s")
}

// TestBenchmarkBatches: the batches of the benchmarks are ones that can be written.
func TestBenchmarkBatches(t *testing.T) {
	all, _ := benchmarkBatches()
	if _, m := writeUnit(t, all[:1], Options{}); m.Masked != 2000 {
		t.Errorf("%+v", m.Counts)
	}
}

// BenchmarkVerify re-reads a masked part.
func BenchmarkVerify(b *testing.B) {
	all, size := benchmarkBatches()
	dir, _ := writeUnit(b, all, Options{})
	data, err := os.ReadFile(partOf(b, dir, "masked"))
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := table.Verify("masked", bytes.NewReader(data), int64(len(data))); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(20_000*b.N)/b.Elapsed().Seconds(), "notes/s")
}
