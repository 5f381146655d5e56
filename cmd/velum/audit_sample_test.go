package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/velum-health/velum/pipeline"
)

// manifestOf makes a manifest of units with so many masked rows.
func manifestOf(seed string, rows ...int64) *pipeline.Manifest {
	m := &pipeline.Manifest{Config: seed}
	for i, n := range rows {
		m.Units = append(m.Units, pipeline.UnitRecord{Name: fmt.Sprint("u", i), Parts: []pipeline.PartRecord{
			{Kind: "masked", Path: fmt.Sprint("masked/", i), Rows: n}, {Kind: "spans", Path: fmt.Sprint("spans/", i), Rows: 7 * n},
		}})
	}
	return m
}

func places(drawn []*sampledNote) (all []string) {
	for _, d := range drawn {
		all = append(all, fmt.Sprint(d.Unit, "/", d.at))
	}
	return all
}

// TestDrawSample: as many as asked for, none twice, the same again, and the
// first k of a sample are the sample of k.
func TestDrawSample(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.SliceOfN(rapid.Int64Range(0, 40), 0, 6).Draw(t, "rows")
		total := int64(0)
		for _, n := range rows {
			total += n
		}
		m := manifestOf("c", rows...)
		n := rapid.IntRange(0, 100).Draw(t, "n")
		got := places(drawSample(m, n))
		if int64(len(got)) != min(int64(n), total) {
			t.Fatalf("%d notes of %d, asked for %d", len(got), total, n)
		}
		if again := places(drawSample(m, n)); !slices.Equal(got, again) {
			t.Fatalf("%v, then %v", got, again)
		}
		k := rapid.IntRange(0, n).Draw(t, "k")
		if first := places(drawSample(m, k)); !slices.Equal(first, got[:len(first)]) {
			t.Fatalf("sample of %d is %v, that of %d begins otherwise: %v", k, first, n, got)
		}
		slices.Sort(got)
		if len(slices.Compact(got)) != len(got) {
			t.Fatal("a note was drawn twice")
		}
	})
}

// TestDrawSampleEven: over many seeds every note is drawn as often as any
// other, wherever it stands.
func TestDrawSampleEven(t *testing.T) {
	const seeds, n, notes = 4000, 10, 60
	drawn := map[string]float64{}
	for s := range seeds {
		for _, p := range places(drawSample(manifestOf(fmt.Sprint(s), 1, 9, 50), n)) {
			drawn[p]++
		}
	}
	want := float64(seeds) * n / notes
	chi2 := 0.0
	for _, k := range drawn {
		chi2 += (k - want) * (k - want) / want
	}
	if len(drawn) != notes || chi2 > notes+5*math.Sqrt(2*notes) {
		t.Errorf("%d notes drawn, chi-squared %.1f with %d degrees of freedom", len(drawn), chi2, notes-1)
	}
}

// TestAuditSample draws a sample of a real run and looks every note up in its
// parts.
func TestAuditSample(t *testing.T) {
	dir := t.TempDir()
	velum := func(want exitCode, args ...string) {
		t.Helper()
		var errs bytes.Buffer
		if code := run(append(args, "--quiet"), io.Discard, &errs, nil); code != want {
			t.Fatalf("velum %v: exit code %d: %s", args, code, errs.String())
		}
	}
	// a small model of our own: the test does not hang on those that ship
	notes, model := filepath.Join(dir, "train.jsonl"), filepath.Join(dir, "tiny.velum")
	velum(0, "synth", "--notes", "300", "--seed", "3", "--split", "train", "--density", "5", "--out", notes)
	velum(0, "train", "--kind", "crf", "--train", notes, "--out", model, "--set", "train.iterations=5")
	in := []string{filepath.Join(dir, "a"), filepath.Join(dir, "b")}
	velum(0, "synth", "--notes", "300", "--seed", "1", "--to", "archive", "--out", in[0])
	velum(0, "synth", "--notes", "200", "--seed", "2", "--to", "archive", "--out", in[1])
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
	// The same command has nothing to do, another number draws again, none
	// takes the sample away, and no unit is done twice for it.
	velum(exitNothing, append(command, "--audit", "40")...)
	velum(0, append(command, "--audit", "20")...)
	if second := readSample(t, out); !slices.EqualFunc(second, first[:20], func(a, b sampledNote) bool { return a.ID == b.ID && a.Row == b.Row }) {
		t.Error("a sample of 20 is not the beginning of that of 40")
	}
	velum(0, "check", out)
	velum(0, command...)
	if _, err := os.Stat(filepath.Join(out+".private", auditSamplePath)); !os.IsNotExist(err) {
		t.Errorf("sample without --audit: %v", err)
	}
	velum(exitConfig, append(command, "--audit", "-1")...)
	data, err := os.ReadFile(filepath.Join(out+".private", pipeline.AuditName))
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(data, []byte(`"event":"unit"`)); n != len(units) {
		t.Errorf("%d units were done in 4 runs, want %d", n, len(units))
	}
}

func readSample(t *testing.T, out string) (all []sampledNote) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(out+".private", auditSamplePath))
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(data) {
		var d sampledNote
		if err := json.Unmarshal(line, &d); err != nil {
			t.Fatal(err)
		}
		all = append(all, d)
	}
	return all
}

// checkSampled compares a note of the sample with all rows of its parts.
func checkSampled(t *testing.T, out string, d sampledNote) {
	t.Helper()
	found := 0
	err := eachRow(filepath.Join(out, d.Part), func(r maskedPlace) error {
		if r.Row == d.Row && r.ID == d.ID {
			found++
		}
		return nil
	})
	if err != nil || found != 1 {
		t.Errorf("row %d of unit %s: %d notes with that id, %v", d.Row, d.Unit, found, err)
	}
	m, err := pipeline.ReadManifest(out)
	if err != nil {
		t.Fatal(err)
	}
	want := []sampledSpan{}
	for _, u := range m.Units {
		for _, p := range u.Parts {
			if u.Name != d.Unit || p.Kind != "spans" {
				continue
			}
			err := eachRow(filepath.Join(out, p.Path), func(r spanPlace) error {
				if r.Row == d.Row {
					want = append(want, sampledSpan{r.Start, r.End, r.Category, r.Source})
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

func BenchmarkDrawSample(b *testing.B) {
	m := manifestOf("c", slices.Repeat([]int64{250_000}, 4)...)
	b.ReportAllocs()
	for b.Loop() {
		drawSample(m, 3000)
	}
	b.ReportMetric(float64(b.N)*1e6/b.Elapsed().Seconds(), "notes/s")
}
