package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/pipeline/audit"
	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/stages/read/tagged"
)

// sampleLine is a line of the sample.
type sampleLine struct {
	ID    string       `json:"note_id"`
	Unit  string       `json:"unit"`
	Part  string       `json:"part"`
	Row   int64        `json:"row"`
	Spans []sampleSpan `json:"spans"`
}

type sampleSpan struct {
	Start    int32  `json:"start"`
	End      int32  `json:"end"`
	Category string `json:"category"`
	Source   string `json:"source"`
}

// notePlace and spanLine are rows of the parts that the sample is compared with.
type notePlace struct {
	ID  string `parquet:"note_id"`
	Row int64  `parquet:"row"`
}

type spanLine struct {
	Row      int64  `parquet:"row"`
	Start    int32  `parquet:"start"`
	End      int32  `parquet:"end"`
	Category string `parquet:"category"`
	Source   string `parquet:"source"`
}

// TestAuditSample draws a sample of a real run and looks every note up in its
// parts.
func TestAuditSample(t *testing.T) {
	dir := t.TempDir()
	velum := func(want exit.Code, args ...string) {
		t.Helper()
		var errs bytes.Buffer
		if code := start(append(args, "--quiet"), io.Discard, &errs, nil); code != want {
			t.Fatalf("velum %v: exit code %d: %s", args, code, errs.String())
		}
	}
	// a small model of our own: the test does not hang on those that ship
	notes, model := filepath.Join(dir, "train.jsonl"), filepath.Join(dir, "tiny.velum")
	velum(0, "teach", "synth", "--notes", "300", "--seed", "3", "--split", "train", "--density", "5", "--out", notes)
	velum(0, "teach", "train", "--kind", "crf", "--train", notes, "--out", model, "--set", "train.iterations=5")
	in := []string{filepath.Join(dir, "a"), filepath.Join(dir, "b")}
	velum(0, "teach", "synth", "--notes", "300", "--seed", "1", "--to", "archive", "--out", in[0])
	velum(0, "teach", "synth", "--notes", "200", "--seed", "2", "--to", "archive", "--out", in[1])
	out := filepath.Join(dir, "out")
	command := []string{"run", "--in", in[0], "--in", in[1], "--out", out, "--model", model}
	velum(0, append(command, "--audit", "40")...)
	first := readSample(t, out)
	if len(first) != 40 {
		t.Fatalf("%d notes in the sample, want 40", len(first))
	}
	units, withSpans := map[string]bool{}, 0
	for _, d := range first {
		units[d.Unit] = true
		withSpans += min(1, len(d.Spans))
		checkSampled(t, out, d)
	}
	if len(units) < 2 || withSpans == 0 {
		t.Errorf("%d units, %d notes with spans in the sample", len(units), withSpans)
	}
	// The same command has nothing to do. A sample lives until it is read: a smaller number and none keep it, a larger one goes on.
	velum(exit.Nothing, append(command, "--audit", "40")...)
	velum(0, append(command, "--audit", "20")...)
	velum(0, command...)
	velum(0, "check", out)
	if second := readSample(t, out); !slices.EqualFunc(second, first, func(a, b sampleLine) bool { return a.ID == b.ID && a.Row == b.Row }) {
		t.Error("the sample of 40 did not stay")
	}
	velum(0, append(command, "--audit", "5%")...) // as many as show that without a find
	all := readSample(t, out)
	if n := len(all); n < 50 || n > 60 {
		t.Fatalf("%d notes are drawn to show 5 %%", n)
	}
	if !slices.EqualFunc(all[:40], first, func(a, b sampleLine) bool { return a.ID == b.ID && a.Row == b.Row }) {
		t.Error("the sample of 40 is not the beginning of the larger one")
	}
	velum(exit.Config, append(command, "--audit", "-1")...)
	velum(exit.Config, append(command, "--audit", "0%")...)
	data, err := os.ReadFile(filepath.Join(out+".private", audit.Name))
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(data, []byte(`"event":"unit"`)); n != len(units) {
		t.Errorf("%d units were done in 4 runs, want %d", n, len(units))
	}
}

func readSample(t *testing.T, out string) (all []sampleLine) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(out+".private", filepath.FromSlash("audit/sample.jsonl")))
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(data) {
		var d sampleLine
		if err := json.Unmarshal(line, &d); err != nil {
			t.Fatal(err)
		}
		all = append(all, d)
	}
	return all
}

// checkSampled compares a note of the sample with all rows of its parts.
func checkSampled(t *testing.T, out string, d sampleLine) {
	t.Helper()
	found := 0
	err := tagged.RowsOf(filepath.Join(out, d.Part), func(r notePlace) error {
		if r.Row == d.Row && r.ID == d.ID {
			found++
		}
		return nil
	})
	if err != nil || found != 1 {
		t.Errorf("row %d of unit %s: %d notes with that id, %v", d.Row, d.Unit, found, err)
	}
	m, err := commit.ReadManifest(out + ".private")
	if err != nil {
		t.Fatal(err)
	}
	want := []sampleSpan{}
	for _, u := range m.Units {
		for _, p := range u.Parts {
			if u.Name != d.Unit || p.Kind != "original" {
				continue
			}
			err := tagged.RowsOf(filepath.Join(out+".private", p.Path), func(r spanLine) error {
				if r.Row == d.Row {
					want = append(want, sampleSpan{r.Start, r.End, r.Category, r.Source})
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		}
	}
	if !slices.Equal(d.Spans, want) {
		t.Errorf("row %d of unit %s: spans %v, want %v", d.Row, d.Unit, d.Spans, want)
	}
}
