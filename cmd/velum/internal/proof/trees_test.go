package proof

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/cmd/velum/internal/run"
	"github.com/velum-health/velum/pipeline/audit"
)

func configured(set ...string) func() (*option.Config, error) {
	return func() (*option.Config, error) {
		return option.Load(option.Sources{}.With(append([]string{"tag.fast=true", "run.workers=1", "write.max_quarantined=1"}, set...)))
	}
}

// said is what a check printed.
func said(do func(c *console.Console) error) (string, error) {
	var out bytes.Buffer
	c := &console.Console{Out: &out, Errs: new(bytes.Buffer), Quiet: true}
	c.StartLog()
	err := do(c)
	return out.String(), err
}

func masked(t *testing.T, in, out string, set ...string) {
	t.Helper()
	if _, err := said(func(c *console.Console) error {
		return run.Mask(t.Context(), c, configured(set...), &run.Options{In: []string{in}, Out: out})
	}); err != nil {
		t.Fatal(err)
	}
}

func put(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// wants holds what was printed against expressions, one of which must match with "!" in front does not.
func wants(t *testing.T, what, got string, err error, code exit.Code, lines ...string) {
	t.Helper()
	if exit.CodeOf(err) != code {
		t.Errorf("%s: %v", what, err)
	}
	for _, line := range lines {
		not, is := strings.CutPrefix(line, "!")
		if regexp.MustCompile("(?m)"+not).MatchString(got) == is {
			t.Errorf("%s: %s in\n%s", what, line, got)
		}
	}
}

func TestTrees(t *testing.T) {
	t.Chdir(t.TempDir())
	put(t, "a.csv", "note_id,text\na,Avisar al 600 123 456\nb,una,columna de mas\nc,Tos\n")
	masked(t, "a.csv", "out")
	check := func() (string, error) {
		return said(func(c *console.Console) error { return Trees(t.Context(), c, &Options{Path: "out"}) })
	}
	got, err := check()
	wants(t, "as it was written", got, err, exit.Done, `^out: \d+ parts, \d\.\d MB, all as the manifest says$`, `^out.private: \d+ parts, `, `^out.private: 3 rows of 1 files: 2 masked, 1 quarantined, 0 excluded; every file adds up \(rows.csv\)$`)
	got, err = said(func(c *console.Console) error { return Log(t.Context(), c, &LogOptions{File: "out"}) })
	wants(t, "log", got, err, exit.Done, `^\d lines; head [0-9a-f]{64}$`)
	got, err = said(func(c *console.Console) error { return Adjudicate(t.Context(), c, &LogOptions{File: "out"}) })
	wants(t, "no reading", got, err, exit.Done, "!.")
	got, err = said(func(c *console.Console) error {
		return Adjudicate(t.Context(), c, &LogOptions{File: "out", Judged: audit.Judgement{Line: 1, By: "Ana", Why: "x"}})
	})
	wants(t, "a line that is no reading", got, err, exit.Config)
	got, err = said(func(c *console.Console) error {
		return Adjudicate(t.Context(), c, &LogOptions{File: "out", Judged: audit.Judgement{Line: 1, By: " ", Why: "x"}})
	})
	wants(t, "nobody lets it stand", got, err, exit.Config)
	got, err = said(func(c *console.Console) error { return Releases(t.Context(), c, &LogOptions{File: "out"}) })
	wants(t, "releases", got, err, exit.Done, `^release +date +purpose`)

	rows, err := os.ReadFile("out.private/rows.csv")
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string][2]string{"one fewer": {"masked,,2,", "masked,,1,"}, "no number": {"masked,,2,", "masked,,x,"}, "another file": {"a.csv,masked", "b.csv,masked"}} {
		put(t, "out.private/rows.csv", strings.Replace(string(rows), change[0], change[1], 1))
		got, err = check()
		wants(t, name, got, err, exit.Integrity, `^out.private/rows.csv: does not add up$`)
	}
	put(t, "out.private/rows.csv", string(rows))
	parts, _ := filepath.Glob("out/masked/*.parquet")
	if len(parts) == 0 {
		t.Fatal("no part")
	}
	if err := os.Remove(parts[0]); err != nil {
		t.Fatal(err)
	}
	got, err = check()
	wants(t, "a part that is gone", got, err, exit.Integrity, `^out/masked/.*: missing$`)
	got, err = said(func(c *console.Console) error { return Trees(t.Context(), c, &Options{Path: "nowhere"}) })
	wants(t, "no folder", got, err, exit.Config)
	got, err = said(func(c *console.Console) error { return Trees(t.Context(), c, &Options{Path: "."}) })
	wants(t, "no output", got, err, exit.Integrity)

	log, err := os.ReadFile("out.private/_audit/audit.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	put(t, "out.private/_audit/audit.jsonl", strings.Replace(string(log), `"masked":2`, `"masked":3`, 1))
	got, err = said(func(c *console.Console) error { return Log(t.Context(), c, &LogOptions{File: "out"}) })
	wants(t, "a changed log", got, err, exit.Integrity)
	if _, err = said(func(c *console.Console) error { return Releases(t.Context(), c, &LogOptions{File: "out"}) }); exit.CodeOf(err) != exit.Integrity {
		t.Errorf("a changed ledger: %v", err)
	}
	if _, err = said(func(c *console.Console) error { return Log(t.Context(), c, &LogOptions{File: "nowhere.jsonl"}) }); exit.CodeOf(err) != exit.Config {
		t.Errorf("no log: %v", err)
	}
}

func TestLogOf(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"own/_audit", "out", "out.private/_audit", "none"} {
		if err := os.MkdirAll(name, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	put(t, "own/_audit/audit.jsonl", "")
	put(t, "out.private/_audit/audit.jsonl", "")
	for path, want := range map[string]string{"own": "own/_audit/audit.jsonl", "out": "out.private/_audit/audit.jsonl", "out.private": "out.private/_audit/audit.jsonl", "none": "none/_audit/audit.jsonl", "x.jsonl": "x.jsonl"} {
		if got := logOf(path); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}

func TestDiff(t *testing.T) {
	t.Chdir(t.TempDir())
	put(t, "notes.jsonl", `{"id": "1", "text": "Ve Rosa Puig de Vic el 3/4/2024."}
{"id": "2", "text": "control, TA 120/80"}
{"id": "3", "text": "Truca al 612345678 per la recepta."}
{"id": "4", "text": "Ha vingut amb la seva filla Montserrat Solà el dilluns passat, sense canvis."}
`)
	put(t, "more.jsonl", `{"id": "9", "text": "sense res"}`+"\n")
	masked(t, "notes.jsonl", "before", "resolve.always=PERSON:recepta")
	masked(t, "notes.jsonl", "after", "mask.operators=DATE=keep")
	masked(t, "notes.jsonl", "held", "resolve.always=PERSON:recepta", "read.max_note_bytes=64")
	masked(t, "more.jsonl", "other")
	diff := func(before, after, places string) (string, error) {
		return said(func(c *console.Console) error {
			return Diff(t.Context(), c, &DiffOptions{Before: before, After: after, Places: places})
		})
	}
	got, err := diff("before", "after", "places.jsonl")
	wants(t, "readable", got, err, exit.Done, `^notes that both have  4$`, `^  without a difference 2$`, `^  held back now        0$`, `^  released now         0$`, `^DATE +0 +0 +0 +1$`, `^PERSON +0 +1 +0 +0$`, "!recepta", "!notes of one alone")
	places, err := os.ReadFile("places.jsonl")
	wants(t, "places", string(places), err, exit.Done, `"what":"readable_now","start":26,"end":33,"before":"PERSON","text":"recepta"`)
	if n := strings.Count(string(places), "\n"); n != 1 {
		t.Errorf("%d places", n)
	}
	got, err = diff("after", "before", "back.jsonl")
	wants(t, "hidden", got, err, exit.Done, `^PERSON +1 +0 +0 +0$`)
	places, err = os.ReadFile("back.jsonl")
	wants(t, "places", string(places), err, exit.Done, `"what":"hidden_now","start":26,"end":33,"after":"PERSON","text":"recepta"`)
	got, err = diff("before", "before", "")
	wants(t, "itself", got, err, exit.Done, `^  without a difference 4$`, "!places by category")
	got, err = diff("before", "held", "")
	wants(t, "held", got, err, exit.Done, `^  held back now        1$`, `^  released now         0$`)
	got, err = diff("held", "before", "")
	wants(t, "released", got, err, exit.Done, `^  held back now        0$`, `^  released now         1$`)
	got, err = diff("before", "other", "")
	wants(t, "other notes", got, err, exit.Nothing)
	got, err = diff("before", "nowhere", "")
	wants(t, "no output", got, err, exit.Config)
}

// TestReadable has masked notes by hand: which pieces of a span of another run can be read in them, and what they say.
func TestReadable(t *testing.T) {
	//      0123456789012345
	// from Ve Rosa Puig avui, with Rosa masked as [X]: Ve [X] Puig avui
	n := &diffNote{masked: []byte("Ve [X] Puig avui"), spans: []diffSpan{{start: 3, end: 7, from: 3, to: 6}}}
	if !n.spans[0].placed() {
		t.Fatal("the span has no place")
	}
	for _, c := range []struct {
		start, end int32
		want       []string // pieces that can be read
	}{
		{0, 2, []string{"Ve"}}, {3, 7, nil}, {3, 12, []string{" Puig"}}, {8, 12, []string{"Puig"}}, {0, 12, []string{"Ve ", " Puig"}}, {7, 8, nil}, {2, 3, nil}, {13, 17, []string{"avui"}}, {5, 6, nil},
	} {
		var got []string
		for _, gap := range n.readable(diffSpan{start: c.start, end: c.end}) {
			text, known := n.text(gap)
			if !known {
				t.Errorf("%d to %d: a piece without text", c.start, c.end)
			}
			got = append(got, text)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%d to %d: %q, want %q", c.start, c.end, got, c.want)
		}
	}
	if text, known := n.text(diffSpan{start: 13, end: 99}); known || text != "" {
		t.Errorf("behind the end: %q", text)
	}
}

func TestAbsent(t *testing.T) {
	t.Chdir(t.TempDir())
	put(t, "a.csv", "note_id,patient,text\na,100,Tos\nb,200,Fiebre\nc,,Dolor\nd,333,Control\n")
	put(t, "list.csv", "patient\n200\n555\n777\n")
	set := []string{"read.columns.patient=patient", "people.exclude=list.csv", "people.unmatched=warn"}
	absent := func(set ...string) (string, error) {
		return said(func(c *console.Console) error {
			return Absent(t.Context(), c, configured(set...), &Options{In: []string{"a.csv"}, Path: "out"})
		})
	}
	masked(t, "a.csv", "out", set...)
	got, err := absent(set...)
	wants(t, "absent", got, err, exit.Done, `^out: \d notes of people who object, none of them masked$`, `^rows of the list that are no patient's of this archive: 3 4$`)
	refuse := append(slices.Clone(set), "people.unmatched=refuse")
	got, err = absent(refuse...)
	wants(t, "unmatched", got, err, exit.Privacy)
	_, err = absent("read.columns.patient=patient")
	if code := exit.CodeOf(err); code != exit.Done && code != exit.Config { // who objected is remembered
		t.Errorf("without the list: %v", err)
	}
	masked(t, "a.csv", "all", "read.columns.patient=patient")
	_, err = said(func(c *console.Console) error {
		return Absent(t.Context(), c, configured(set...), &Options{In: []string{"a.csv"}, Path: "all"})
	})
	if exit.CodeOf(err) != exit.Integrity || !strings.Contains(err.Error(), "notes of people who object are in the output") {
		t.Errorf("masked: %v", err)
	}
	notes, left, err := Masked(t.Context(), configured(set...), &Options{In: []string{"a.csv"}, Path: "all"})
	if err != nil || notes < 1 || left < notes+1 { // theirs, and nobody's
		t.Errorf("%d notes, %d masked, %v", notes, left, err)
	}
	put(t, "b.csv", "note_id,patient,text\na,100,Otra\n")
	_, err = said(func(c *console.Console) error {
		return Absent(t.Context(), c, configured(set...), &Options{In: []string{"b.csv"}, Path: "out"})
	})
	if exit.CodeOf(err) != exit.Config {
		t.Errorf("another archive: %v", err)
	}
}

func TestIDs(t *testing.T) {
	for raw, want := range map[string]string{
		"ab12": "AB12", " 12 ": "12", "12.0": "12", "12,00": "12", "1.2": "1.2", "'00123": "00123", "１２３": "123", "٣٤": "34", "1E+3": "1000", "1.5E+1": "15", "1.55E+1": "1.55E1", "\u00ef\u00bb\u00bf7": "7",
		"a–b": "A-B", "-": "", "": "", "NaN": "", "n/a": "", "none": "", "0": "0", "000": "000", "-5": "-5", "A-": "A", "_A": "A", "Núm. 7": "NUM.7", "null": "", "nullo": "NULLO",
	} {
		if got := plain(raw); got != want {
			t.Errorf("%q: %q, want %q", raw, got, want)
		}
	}
	for id, want := range map[string][2]string{"00A-1": {"A1", "A-1"}, "-007": {"7", "-7"}, "1_2./": {"12", "1_2./"}, "000": {"", ""}, "-0": {"", ""}, "70": {"70", "70"}} {
		if bare(id) != want[0] || withoutZeros(id) != want[1] {
			t.Errorf("%s: %q and %q, want %q", id, bare(id), withoutZeros(id), want)
		}
	}
	for _, c := range []struct {
		a, b string
		want bool
	}{{"1000", "P1000", true}, {"0001000", "1000", true}, {"P1000", "Q1000", false}, {"P1000", "1000X", true}, {"1000", "1001", false}, {"ABC", "ABC", false}, {"P-1000", "P1000", true}, {"1000X", "1000Y", false}} {
		if got := alike(c.a, c.b); got != c.want || alike(c.b, c.a) != c.want {
			t.Errorf("%s and %s: %t", c.a, c.b, got)
		}
	}
	var near []string
	eachNear("0A12", func(s string) { near = append(near, s) })
	if want := []string{"digits 12", "A12", "12", "A2", "A1"}; !slices.Equal(near, want) {
		t.Errorf("%q, want %q", near, want)
	}
	for c, want := range map[rune]rune{'7': '7', '０': '0', '９': '9', '٣': '3', '९': '9'} {
		if got := valueOf(c); got != want {
			t.Errorf("%c: %c, want %c", c, got, want)
		}
	}
}
