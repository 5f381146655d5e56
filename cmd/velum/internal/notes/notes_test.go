package notes

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/stages/synth"
)

// quiet is a console that keeps what is printed.
func quiet(json bool) (*console.Console, *bytes.Buffer) {
	var b bytes.Buffer
	c := &console.Console{Out: &b, Errs: new(bytes.Buffer), JSON: json, Quiet: true}
	c.StartLog()
	return c, &b
}

func configuration(t *testing.T, set ...string) *option.Config {
	t.Helper()
	cfg, err := option.Load(option.Sources{}.With(append([]string{"tag.fast=true", "run.workers=1"}, set...)))
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

func put(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestConvert(t *testing.T) {
	t.Chdir(t.TempDir())
	put(t, "in.jsonl", `{"note_id":"a","text":"Viene Ana Puig","spans":[{"start":6,"end":14,"label":"PERSON"}]}
{"note_id":"b","text":"Tos"}
`)
	c, out := quiet(false)
	if err := Convert(t.Context(), c, configuration(t), &Options{In: "in.jsonl", Out: "out", To: "brat", UnitIn: "codepoints", UnitOut: "codepoints"}); err != nil {
		t.Fatal(err)
	}
	if out.String() != "2 notes, 1 spans -> out\n" || read(t, "out/a.txt") != "Viene Ana Puig" || read(t, "out/a.ann") != "T1\tPERSON 6 14\tAna Puig\n" || read(t, "out/b.ann") != "" {
		t.Errorf("%s%s%s", out, read(t, "out/a.txt"), read(t, "out/a.ann"))
	}
	c, out = quiet(true)
	put(t, "bad.csv", "id,text\n1,Tos\n2,a,b\n3,Tos\n")
	err := Convert(t.Context(), c, configuration(t), &Options{In: "bad.csv", Out: "bad.jsonl", UnitIn: "codepoints", UnitOut: "codepoints"})
	if want := "1 of 3 notes could not be read (bad_row 1; rows 2); 1 notes were left out"; exit.CodeOf(err) != exit.Quarantined || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	if want := `{"notes":3,"out":"bad.jsonl","reasons":{"bad_row":1},"skipped":1,"spans":0,"unreadable":1}` + "\n"; out.String() != want {
		t.Errorf("%s, want %s", out, want)
	}
	for _, o := range []Options{{In: "in.jsonl"}, {Out: "x"}, {In: "in.jsonl", Out: "x", UnitIn: "feet", UnitOut: "bytes"}, {In: "in.jsonl", Out: "x", UnitIn: "bytes", UnitOut: "feet"}, {In: "missing.jsonl", Out: "x.jsonl", UnitIn: "bytes", UnitOut: "bytes"}} {
		if err := Convert(t.Context(), c, configuration(t), &o); exit.CodeOf(err) != exit.Config {
			t.Errorf("%+v: %v", o, err)
		}
		if _, err := os.Stat("x"); err == nil {
			t.Errorf("%+v: something is written", o)
		}
	}
}

// TestLeftOut names the first five rows, from 1.
func TestLeftOut(t *testing.T) {
	n := &Counted{Text: nothing{}, Progress: new(console.Console).NewProgress("x", "notes", 0)}
	b := &pipeline.Batch{First: 10}
	for i := range 8 {
		b.Text.Append([]byte("x"))
		b.Spans.Append(pipeline.Span{}, pipeline.Span{})
		b.Gold.Append(pipeline.Span{})
		b.Reason = append(b.Reason, []pipeline.Reason{pipeline.Sound, pipeline.BadRow, pipeline.BadEncoding}[min(i, 2)])
	}
	for range 2 {
		if err := n.Put(b); err != nil {
			t.Fatal(err)
		}
	}
	n.Gold = true
	b.Reason = make([]pipeline.Reason, 8)
	if err := n.Put(b); err != nil {
		t.Fatal(err)
	}
	err := leftOut(n)
	if want := "14 of 24 notes could not be read (bad_encoding 12, bad_row 2; rows 12, 13, 14, 15, 16 and more); 3 notes were left out"; err.Error() != want || n.Spans != 16+16+8 {
		t.Errorf("%v, %d spans, want %s", err, n.Spans, want)
	}
	if _, remedy := exit.Explain(err); !strings.Contains(remedy, "--encoding") {
		t.Error(remedy)
	}
}

// nothing is a file of notes that keeps none, and could not hold three.
type nothing struct{}

func (nothing) Put(*pipeline.Batch) error { return nil }
func (nothing) Skipped() int              { return 3 }
func (nothing) Close() error              { return nil }
func (nothing) Abort()                    {}

func TestTag(t *testing.T) {
	t.Chdir(t.TempDir())
	put(t, "in.jsonl", `{"note_id":"a","text":"Avisar al 600 123 456 si empeora"}`+"\n")
	c, _ := quiet(false)
	if err := Tag(t.Context(), c, configuration(t), &Options{In: "in.jsonl", Out: "out", To: "brat", UnitIn: "codepoints", UnitOut: "codepoints"}); err != nil {
		t.Fatal(err)
	}
	if got := read(t, "out/a.ann"); got != "T1\tTELEPHONE 10 21\t600 123 456\n" {
		t.Error(got)
	}
	if err := Tag(t.Context(), c, configuration(t), &Options{In: "in.jsonl"}); exit.CodeOf(err) != exit.Config {
		t.Error(err)
	}
}

func TestReveal(t *testing.T) {
	t.Chdir(t.TempDir())
	put(t, "key", strings.Repeat("\x03q", 16))
	put(t, "other", "123456789abcdef0123456789abcdef0")
	cfg := configuration(t, "key.file=key", "mask.purpose=study")
	const sealed = "[PERSON:scppjdknsjtnrnrgcqlnbjkksqphtmsmskbrcscgbhmqhcsgqnndslft]" // Núria Solà, by a version before this one
	put(t, "in.jsonl", `{"note_id":"a","text":"Viene `+sealed+` sola"}`+"\n"+`{"note_id":"b","text":"Tos"}`+"\n")
	c, out := quiet(false)
	if err := Reveal(t.Context(), c, cfg, &Options{In: "in.jsonl", Out: "out", To: "brat", UnitIn: "codepoints", UnitOut: "codepoints"}); err != nil {
		t.Fatal(err)
	}
	if read(t, "out/a.txt") != "Viene Núria Solà sola" || read(t, "out/b.txt") != "Tos" || out.String() != "2 notes, 0 spans -> out\n" {
		t.Errorf("%q, %s", read(t, "out/a.txt"), out)
	}
	for name, cfg := range map[string]*option.Config{"no key": configuration(t), "another key": configuration(t, "key.file=other", "mask.purpose=study"), "another purpose": configuration(t, "key.file=key")} {
		if err := Reveal(t.Context(), c, cfg, &Options{In: "in.jsonl", Out: "x.jsonl", UnitIn: "codepoints", UnitOut: "bytes"}); exit.CodeOf(err) != exit.Key {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Stat("x.jsonl"); err == nil {
			t.Errorf("%s: something is written", name)
		}
	}
}

func TestSynth(t *testing.T) {
	t.Chdir(t.TempDir())
	c, out := quiet(false)
	sound := func() SynthOptions {
		return SynthOptions{Notes: synth.Options{Notes: 30, Seed: 3, Density: 5}, Split: "train", Language: "ca", Out: "made", To: "archive", Months: 3}
	}
	for name, change := range map[string]func(*SynthOptions){
		"no notes": func(o *SynthOptions) { o.Notes.Notes = 0 }, "no month": func(o *SynthOptions) { o.Months = 0 }, "13 months": func(o *SynthOptions) { o.Months = 13 },
	} {
		o := sound()
		change(&o)
		if err := Synth(t.Context(), c, &o); exit.CodeOf(err) != exit.Config {
			t.Errorf("%s: %v", name, err)
		}
	}
	o := sound()
	if err := Synth(t.Context(), c, &o); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(out.String(), "30 notes, ") || !strings.HasSuffix(out.String(), " spans -> made\n") {
		t.Error(out)
	}
	if err := Synth(t.Context(), c, &o); exit.CodeOf(err) != exit.Config {
		t.Errorf("once more: %v", err)
	}
	files, err := filepath.Glob("made/year=2026/month=*/notes.parquet")
	if err != nil || len(files) == 0 || files[0] != "made/year=2026/month=01/notes.parquet" {
		t.Fatalf("%q, %v", files, err)
	}
	if _, err := os.Stat("made.gold"); err != nil {
		t.Error(err)
	}
	one := sound()
	one.Out, one.To = "one.jsonl", ""
	if err := Synth(t.Context(), c, &one); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(read(t, "one.jsonl"), "\n"); n != 30 {
		t.Errorf("%d notes", n)
	}
}

// TestMonths has ten notes in batches of two, in three months: those that begin at 0 to 3, 4 to 6 and 7 to 9.
func TestMonths(t *testing.T) {
	t.Chdir(t.TempDir())
	a, err := newArchive("made/", 10, 3)
	if err != nil {
		t.Fatal(err)
	}
	var months []int
	for range 5 {
		b := new(pipeline.Batch)
		for range 2 {
			b.ID.Append([]byte("x"))
			b.Text.Append([]byte("Tos"))
			b.Reason = append(b.Reason, pipeline.Sound)
			b.Gold.End()
		}
		if err := a.Put(b); err != nil {
			t.Fatal(err)
		}
		months = append(months, a.month)
	}
	for i, want := range []int{1, 1, 2, 2, 3} {
		if months[i] != want {
			t.Errorf("months %v", months)
			break
		}
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if files, _ := filepath.Glob("made/year=2026/month=0[123]/notes.parquet"); len(files) != 3 {
		t.Errorf("%q", files)
	}
	gone, err := newArchive("gone", 10, 3)
	if err != nil {
		t.Fatal(err)
	}
	gone.Abort()
	if left, _ := filepath.Glob("gone*/*"); len(left) != 0 {
		t.Errorf("left: %q", left)
	}
}
