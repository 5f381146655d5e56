package tagged_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/parquet-go/parquet-go"
	"pgregory.net/rapid"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/pipeline/markup"
	"github.com/velum-health/velum/stages/read"
	"github.com/velum-health/velum/stages/read/input"
	"github.com/velum-health/velum/stages/read/tagged"
	"github.com/velum-health/velum/stages/read/text"
	"github.com/velum-health/velum/stages/tokenize"
	"github.com/velum-health/velum/stages/write/table"
	"github.com/velum-health/velum/stages/write/unit"
)

// taggedNote is a note as a file of tagged notes has it.
type taggedNote struct {
	ID       string
	Row      int64
	Conf     float32
	Language pipeline.Language
	Choice   pipeline.Choice
	Words    []string
	Flags    []pipeline.TokenFlags
	Tags     []pipeline.Tag
}

var someTags = func() *pipeline.TagSet {
	set, err := pipeline.ParseTagSet("BIO PERSON LOCATION TELEPHONE")
	if err != nil {
		panic(err)
	}
	return set
}()

// taggedBatch makes a batch whose text is the words with two spaces before each.
func taggedBatch(notes ...taggedNote) *pipeline.Batch {
	b := &pipeline.Batch{TagSet: someTags, Extra: []pipeline.Column{{Name: pipeline.RowColumn, Kind: pipeline.Int64Column}}}
	for _, n := range notes {
		var text strings.Builder
		for k, word := range n.Words {
			text.WriteString("  ")
			b.Tokens.Items = append(b.Tokens.Items, pipeline.Token{Start: int32(text.Len()), End: int32(text.Len() + len(word)), Flags: n.Flags[k]})
			text.WriteString(word)
		}
		b.ID.Append([]byte(n.ID))
		b.Text.Append([]byte(text.String()))
		b.Tokens.End()
		b.Tags = append(b.Tags, n.Tags...)
		b.Reason = append(b.Reason, pipeline.Sound)
		b.Conf = append(b.Conf, n.Conf)
		b.Language = append(b.Language, n.Language)
		b.Chosen = append(b.Chosen, n.Choice)
		b.Extra[0].Fixed = append(b.Extra[0].Fixed, uint64(n.Row))
		b.Extra[0].Valid = append(b.Extra[0].Valid, true)
	}
	return b
}

// taggedNotes is the inverse; it checks that words, tags and gold agree.
func taggedNotes(t rapid.TB, b *pipeline.Batch) (notes []taggedNote) {
	for i := range b.Len() {
		n := taggedNote{
			ID: string(b.ID.At(i)), Row: int64(b.Extra[0].Fixed[i]), Conf: b.Conf[i], Language: b.Language[i],
			Choice: b.Chosen[i], Tags: append([]pipeline.Tag(nil), b.TagsOf(i)...),
		}
		text, tokens := b.Text.At(i), b.Tokens.At(i)
		for k, token := range tokens {
			n.Words = append(n.Words, string(text[token.Start:token.End]))
			n.Flags = append(n.Flags, token.Flags)
			between := text[:token.Start]
			if k > 0 {
				between = text[tokens[k-1].End:token.Start]
			}
			const want = "  "
			if string(between) != want {
				t.Errorf("note %d: %q before token %d, want %q", i, between, k, want)
			}
		}
		if d := cmp.Diff(b.TagSet.Decode(nil, tokens, b.TagsOf(i)), b.Gold.At(i), cmpopts.EquateEmpty()); d != "" {
			t.Errorf("note %d: gold is not what the tags say", i)
		}
		notes = append(notes, n)
	}
	return notes
}

func drawTagged(t *rapid.T) taggedNote {
	n := taggedNote{
		ID:  fmt.Sprintf("%d|%d", rapid.IntRange(0, 99).Draw(t, "a"), rapid.IntRange(0, 99).Draw(t, "b")),
		Row: rapid.Int64Range(0, 1<<40).Draw(t, "row"), Conf: rapid.Float32Range(0, 1).Draw(t, "confidence"),
		Language: pipeline.Language(rapid.IntRange(0, 4).Draw(t, "language")), Choice: pipeline.Choice(rapid.IntRange(1, 2).Draw(t, "choice")),
	}
	words := []string{"el", "Pau", "ŀl", "😀", "a\u0301", "93", ",", "Sant Pau"}
	for range rapid.IntRange(0, 12).Draw(t, "tokens") {
		n.Words = append(n.Words, rapid.SampledFrom(words).Draw(t, "word"))
		n.Flags = append(n.Flags, pipeline.TokenFlags(rapid.IntRange(0, 7).Draw(t, "flags")))
		n.Tags = append(n.Tags, pipeline.Tag(rapid.IntRange(0, someTags.Len()-1).Draw(t, "tag")))
	}
	return n
}

// writeTagged writes notes, so many a batch and a row group.
func writeTagged(t rapid.TB, notes []taggedNote, batch, rowGroup int) []byte {
	var file bytes.Buffer
	w := unit.NewTagged(&file, someTags, rowGroup)
	for some := range slices.Chunk(notes, batch) {
		if err := w.Put(taggedBatch(some...)); err != nil {
			t.Fatal(err)
		}
	}
	rows, digest, err := w.Close()
	if err != nil || rows != int64(len(notes)) {
		t.Fatalf("%d rows, %v", rows, err)
	}
	gotRows, gotDigest, err := table.Verify("selected", bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil || gotRows != rows || gotDigest != digest {
		t.Fatalf("re-reading gives %d rows, %v", gotRows, err)
	}
	return file.Bytes()
}

// readTagged reads all notes of a file.
func readTagged(t rapid.TB, data []byte, o tagged.Options) ([]taggedNote, error) {
	r, err := tagged.New(bytes.NewReader(data), int64(len(data)), "test", o)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var notes []taggedNote
	var b pipeline.Batch
	for {
		b.Reset()
		err := r.Next(&b)
		if err == io.EOF {
			return notes, nil
		}
		if err != nil {
			return notes, err
		}
		if o.Wanted == nil && b.First != int64(len(notes)) {
			t.Errorf("first note %d after %d", b.First, len(notes))
		}
		notes = append(notes, taggedNotes(t, &b)...)
	}
}

func TestTaggedRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		notes := rapid.SliceOfN(rapid.Custom(drawTagged), 0, 40).Draw(t, "notes")
		batch, group := rapid.IntRange(1, 50).Draw(t, "batch"), rapid.IntRange(1, 50).Draw(t, "row group")
		data := writeTagged(t, notes, batch, group)
		got, err := readTagged(t, data, tagged.Options{BatchNotes: rapid.IntRange(1, 50).Draw(t, "read")})
		if d := cmp.Diff(notes, got, cmpopts.EquateEmpty()); d != "" || err != nil {
			t.Fatalf("%s\n%v", d, err)
		}
		if again := writeTagged(t, got, 1+batch/2, group); !bytes.Equal(data, again) {
			t.Fatal("what was read is not written as it was")
		}
	})
}

// TestTaggedWanted wants the same notes of some rows whether the others are
// read or skipped.
func TestTaggedWanted(t *testing.T) {
	var notes []taggedNote
	for i := range 1000 {
		n := taggedNote{ID: fmt.Sprint(i), Row: int64(3 * i), Conf: 0.5, Choice: pipeline.Candidate}
		for k := range i * i % 31 {
			n.Words = append(n.Words, strings.Repeat("ab", 1+(i+k)%9))
			n.Flags = append(n.Flags, pipeline.TokenFlags(k%8))
			n.Tags = append(n.Tags, pipeline.Tag((i+k)%someTags.Len()))
		}
		notes = append(notes, n)
	}
	data := writeTagged(t, notes, 100, 300)
	for _, every := range []int64{1, 2, 7, 999, 2999} {
		wanted := func(note int64) bool { return note%every == 0 }
		got, err := readTagged(t, data, tagged.Options{Wanted: wanted})
		want := slices.DeleteFunc(slices.Clone(notes), func(n taggedNote) bool { return !wanted(n.Row / 3) })
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("every %d: %d notes, want %d, %v", every, len(got), len(want), err)
		}
	}
}

// TestTaggedPages reads lists over many pages.
func TestTaggedPages(t *testing.T) {
	long := taggedNote{ID: "long", Conf: 1, Choice: pipeline.Candidate}
	for k := range 25_000 {
		long.Words = append(long.Words, strings.Repeat("abcdefghij", 1+k%12))
		long.Flags = append(long.Flags, pipeline.TokenFlags(k%8))
		long.Tags = append(long.Tags, pipeline.Tag(k%someTags.Len()))
	}
	empty := taggedNote{ID: "empty", Choice: pipeline.ToReview}
	notes := []taggedNote{empty, long, empty, long, long, empty}
	data := writeTagged(t, notes, 2, 4)
	got, err := readTagged(t, data, tagged.Options{})
	if !reflect.DeepEqual(notes, got) || err != nil {
		for i, n := range got {
			t.Error(i, n.ID, len(n.Words), len(n.Flags), len(n.Tags), slices.Equal(n.Words, notes[i].Words))
		}
		t.Fatal(err)
	}
}

// TestTaggedFiles reads a folder of parts as notes with gold, and wants the
// tokenizer to cut the text as it was cut.
func TestTaggedFiles(t *testing.T) {
	lines := "[PERSON:Pau Riu], tel. [TELEPHONE:93 400 11 22]\nl'[PERSON:Anna] ha vingut"
	note, spans, err := markup.Parse(lines)
	if err != nil {
		t.Fatal(err)
	}
	in := &pipeline.Batch{TagSet: someTags, Reason: []pipeline.Reason{pipeline.Sound}}
	in.ID.Append([]byte("7|1"))
	in.Text.Append(note)
	tokenize.New(tokenize.Options{}).New()(in)
	in.Tags = make([]pipeline.Tag, len(in.Tokens.Items))
	someTags.Encode(in.Tags, in.Tokens.At(0), spans)
	in.Conf, in.Chosen = []float32{1}, []pipeline.Choice{pipeline.Candidate}
	var file bytes.Buffer
	w := unit.NewTagged(&file, someTags, 0)
	err = w.Put(in)
	if err == nil {
		_, _, err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, name := range []string{"part-1.parquet", "part-2.parquet", "_not.parquet", "report.json"} {
		if err := os.WriteFile(filepath.Join(dir, name), file.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r, err := read.Open("parquet", dir, text.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	out, got := new(pipeline.Batch), []string(nil)
	for err == nil {
		out.Reset()
		err = r.Next(out)
		for i := range out.Len() {
			got = append(got, string(out.ID.At(i))+"|"+markup.Write(out.Text.At(i), out.Gold.At(i)))
		}
	}
	want := "7|1|" + lines
	if d := cmp.Diff([]string{want, want}, got); d != "" || err != io.EOF {
		t.Error(d, err)
	}
	out.Reset()
	one, err := read.Open("parquet", filepath.Join(dir, "part-1.parquet"), text.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer one.Close()
	if err := one.Next(out); err != nil || out.Tokens.Len() > 0 || len(out.Extra) > 0 || out.TagSet != nil || len(out.Conf) > 0 {
		t.Error("a note has more than note and gold", err)
	}
	tokenize.New(tokenize.Options{}).New()(out)
	if d := cmp.Diff(in.Tokens.At(0), out.Tokens.At(0)); d != "" {
		t.Error(d)
	}
}

// taggedRow is what another program may write.
type taggedRow struct {
	ID         string  `parquet:"note_id"`
	Row        int64   `parquet:"row"`
	Confidence float32 `parquet:"confidence"`
	Language   string  `parquet:"language"`
	Choice     string  `parquet:"choice"`
	Text       string  `parquet:"text"`
	Words      []byte  `parquet:"words"`
}

func TestTaggedRefuses(t *testing.T) {
	const secret = "Quintanilla"
	words := "\x02\x0b\x03\x01" + "\x02\x02\x04\x00"
	sound := taggedRow{"7", 3, 0.5, "es", "candidate", "  " + secret + "  \u00e9", []byte(words)}
	change := func(do func(*taggedRow)) taggedRow {
		row := sound
		do(&row)
		return row
	}
	said := func(words string) taggedRow { return change(func(r *taggedRow) { r.Words = []byte(words) }) }
	for _, tt := range []struct {
		name, tagSet string
		row          taggedRow
		want         string
	}{
		{"sound", "BIO PERSON", sound, ""},
		{"no tag set", "", sound, "does not say which"},
		{"scheme", "IOB PERSON", sound, "unknown tag scheme"},
		{"category", "BIO PERSON " + secret, sound, "category 2 is unknown"},
		{"twice", "BIO PERSON PERSON", sound, "comes twice"},
		{"id", "BIO PERSON", change(func(r *taggedRow) { r.ID = "" }), "id that is none"},
		{"id of two lines", "BIO PERSON", change(func(r *taggedRow) { r.ID = secret + "\n" }), "id that is none"},
		{"row", "BIO PERSON", change(func(r *taggedRow) { r.Row = -1 }), "negative"},
		{"confidence", "BIO PERSON", change(func(r *taggedRow) { r.Confidence = 1.5 }), "outside 0 to 1"},
		{"language", "BIO PERSON", change(func(r *taggedRow) { r.Language = secret }), "unknown language"},
		{"choice", "BIO PERSON", change(func(r *taggedRow) { r.Choice = secret }), "unknown choice"},
		{"bytes", "BIO PERSON", change(func(r *taggedRow) { r.Text = secret + "\xff" }), "text that is none"},
		{"tag", "BIO PERSON", said("\x00\x0b\x03\x03"), "words that the text or the tag set"},
		{"flag", "BIO PERSON", said("\x00\x0b\x08\x01"), "words that the text or the tag set"},
		{"empty token", "BIO PERSON", said("\x00\x00\x03\x01"), "words that the text or the tag set"},
		{"token behind the text", "BIO PERSON", said("\x00\x12\x03\x01"), "words that the text or the tag set"},
		{"begin behind the text", "BIO PERSON", said("\x12\x01\x03\x01"), "words that the text or the tag set"},
		{"half a letter", "BIO PERSON", said("\x0f\x01\x03\x01"), "words that the text or the tag set"},
		{"other half", "BIO PERSON", said("\x10\x01\x03\x01"), "words that the text or the tag set"},
		{"cut off", "BIO PERSON", said(words[:len(words)-1]), "words that the text or the tag set"},
		{"no end of a number", "BIO PERSON", said("\xff\xff"), "words that the text or the tag set"},
		{"a number of eleven bytes", "BIO PERSON", said(strings.Repeat("\xff", 11)), "words that the text or the tag set"},
	} {
		var file bytes.Buffer
		var options []parquet.WriterOption
		if tt.tagSet != "" {
			options = append(options, parquet.KeyValueMetadata(pipeline.TagSetKey, tt.tagSet))
		}
		if err := parquet.Write(&file, []taggedRow{sound, tt.row}, options...); err != nil {
			t.Fatal(err)
		}
		_, err := readTagged(t, file.Bytes(), tagged.Options{})
		switch {
		case tt.want == "" && err == nil:
		case err == nil || tt.want == "" || !strings.Contains(err.Error(), tt.want):
			t.Errorf("%s: %v", tt.name, err)
		case strings.Contains(err.Error(), secret):
			t.Errorf("%s: the error quotes the file", tt.name)
		}
	}
}

func TestTaggedSchema(t *testing.T) {
	type flat struct {
		ID     string `parquet:"note_id"`
		Tokens string `parquet:"tokens"`
	}
	var file bytes.Buffer
	if err := parquet.Write(&file, []flat{{"a", "b"}}, parquet.KeyValueMetadata(pipeline.TagSetKey, "BIO PERSON")); err != nil {
		t.Fatal(err)
	}
	_, err := readTagged(t, file.Bytes(), tagged.Options{})
	if schema, ok := errors.AsType[*input.SchemaError](err); !ok || schema.Column != "row" {
		t.Error(err)
	}
	_, err = readTagged(t, file.Bytes()[:file.Len()-20], tagged.Options{})
	if _, ok := errors.AsType[*commit.DamageError](err); !ok {
		t.Error(err)
	}
}

// FuzzTagged wants an error or all notes of whatever file.
func FuzzTagged(f *testing.F) {
	note := taggedNote{ID: "7", Row: 3, Conf: 0.5, Words: []string{"el", "Pau", "Riu"}, Flags: []pipeline.TokenFlags{3, 0, 4}, Tags: []pipeline.Tag{0, 1, 2}, Choice: 1}
	data := writeTagged(f, []taggedNote{note, note, {ID: "8", Choice: 2}}, 2, 2)
	f.Add(data)
	f.Add(data[:len(data)/2])
	f.Add([]byte("PAR1PAR1PAR1"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := tagged.New(bytes.NewReader(data), int64(len(data)), "test", tagged.Options{})
		if err != nil {
			return
		}
		defer r.Close()
		rows := r.Rows()
		notes, err := readTagged(t, data, tagged.Options{})
		if err == nil && int64(len(notes)) != rows {
			t.Fatalf("%d notes of %d and no error", len(notes), rows)
		}
	})
}

func BenchmarkTagged(b *testing.B) {
	note := taggedNote{ID: "7|31|2", Conf: 0.9, Choice: 1}
	for k := range 20 {
		note.Words = append(note.Words, []string{"dolor", "lumbar", "el", "Pau", "medicació"}[k%5])
		note.Flags = append(note.Flags, 0)
		note.Tags = append(note.Tags, pipeline.Tag(k%3))
	}
	data := writeTagged(b, slices.Repeat([]taggedNote{note}, 50_000), 4096, 0)
	b.ReportAllocs()
	for b.Loop() {
		r, err := tagged.New(bytes.NewReader(data), int64(len(data)), "test", tagged.Options{})
		if err != nil {
			b.Fatal(err)
		}
		var batch pipeline.Batch
		for {
			batch.Reset()
			if err := r.Next(&batch); err == io.EOF {
				break
			} else if err != nil {
				b.Fatal(err)
			}
		}
		if err := r.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(50_000*b.N)/b.Elapsed().Seconds(), "notes/s")
}
