package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/parquet-go/parquet-go"

	"github.com/velum-health/velum/models/form/document"
	"github.com/velum-health/velum/pipeline/commit"

	"github.com/velum-health/velum/stages/read/tagged"
)

// notes masks all bad notes and many mutations of them, and compares every
// masked text with its note.
func (t *torture) notes() (string, error) {
	named := badNoteNamed()
	var rows []canaryNote
	for _, n := range named {
		rows = append(rows, canaryNote{ID: n.Name, Text: string(n.Text)})
	}
	for i := range turns(100_000, 2_000) {
		rows = append(rows, canaryNote{ID: fmt.Sprint("mutation ", i), Text: string(badNoteMutated(t.rng, named))})
	}
	in, out := t.path("notes", "a.parquet"), t.path("notes.out")
	if err := os.MkdirAll(filepath.Dir(in), 0o700); err != nil {
		return "", err
	}
	err := parquet.WriteFile(in, rows, parquet.SkipPageBounds("text"), parquet.MaxRowsPerRowGroup(5000))
	if err := errors.Join(err, must(0, t.mask(in, out))); err != nil {
		return "", err
	}
	m, err := commit.ReadManifest(out)
	if err != nil {
		return "", err
	}
	private, err := commit.ReadManifest(out + ".private")
	if err != nil {
		return "", err
	}
	reasons := map[string]int64{}
	err = tagged.Rows(private, out+".private", "quarantine", func(r struct {
		Reason string `parquet:"reason"`
	}) error {
		reasons[r.Reason]++
		return nil
	})
	if err != nil {
		return "", err
	}
	figures := fmt.Sprintf("%d named notes and %d mutations: %d masked, %d in quarantine %v", len(named), len(rows)-len(named), m.Masked, m.Quarantined, reasons)
	for _, failure := range []string{"panicked", "timed_out", "bad_tags", "changed_text", "unsealed", "no_model"} {
		if n := reasons[failure]; n > 0 {
			return figures, fmt.Errorf("stages failed on %d notes: %s", n, failure)
		}
	}
	if m.Rows != int64(len(rows)) || m.Masked+m.Quarantined != m.Rows {
		return figures, errors.New("notes got lost")
	}
	return figures, compare(rows, m, private, out)
}

type spanRow struct {
	Row   int64 `parquet:"row"`
	Start int32 `parquet:"start"`
	End   int32 `parquet:"end"`
}

type tortureRow struct {
	Row  int64  `parquet:"row"`
	Text string `parquet:"text"`
}

// compare checks that everything outside the spans is as it was. Offsets of a document are those of its text, not of its bytes.
func compare(rows []canaryNote, m, private *commit.Manifest, out string) error {
	spans := map[int64][]spanRow{}
	err := tagged.Rows(private, out+".private", "original", func(s spanRow) error {
		spans[s.Row] = append(spans[s.Row], s)
		return nil
	})
	if err != nil {
		return err
	}
	return tagged.Rows(m, out, "masked", func(r tortureRow) error {
		text, masked, at := []byte(rows[r.Row].Text), []byte(r.Text), int32(0)
		if document.FormatOf(text) != document.NoFormat {
			return nil
		}
		for _, s := range spans[r.Row] {
			gap := text[at:s.Start]
			found := bytes.Index(masked, gap)
			if found < 0 || at == 0 && found > 0 {
				return fmt.Errorf("row %d: the masked text differs before offset %d", r.Row, s.Start)
			}
			masked, at = masked[found+len(gap):], s.End
		}
		if !bytes.HasSuffix(masked, text[at:]) || at == 0 && len(masked) != len(text) {
			return fmt.Errorf("row %d: the masked text differs behind offset %d", r.Row, at)
		}
		return nil
	})
}

// canary masks notes full of canaries, in sound runs and in those that fail,
// and searches all that was written outside the input and the private trees.
func (t *torture) canary() (string, error) {
	set, rows := canaryNotes(t.rng, turns(2500, 125))
	in := t.path("canary", "a.parquet")
	tmp := t.path("canary.tmp")
	if err := errors.Join(os.MkdirAll(filepath.Dir(in), 0o700), os.MkdirAll(tmp, 0o700)); err != nil {
		return "", err
	}
	if err := parquet.WriteFile(in, rows, parquet.MaxRowsPerRowGroup(1000)); err != nil {
		return "", err
	}
	damaged, err := t.damaged(in)
	if err != nil {
		return "", err
	}
	var hits [4]int
	size, runs := int64(0), 0
	for i, args := range [][]string{
		{in, "-v"}, {in, "-v", "--json"}, {in, "--dry-run", "-v"}, {in, "-v", "--set", "read.columns.text=nota"},
		{in, "-v", "--set", "mask.policy=nowhere.yaml"}, {in, "-v", "--model", in}, {in, "-v", "--config", in},
		{in, "-v", "--set", "run.deadline=1ms"}, {in, "-v", "--set", "read.keep=text"}, {in, "-v", "--set", "read.max_note_bytes=50"},
		{in, "-v", "--set", "read.max_note_bytes=150"},
		{damaged, "-v"}, {damaged, "-v", "--json"}, {in, "-v", "--set", "mask.operators=PERSON:suppress"},
	} {
		out := t.path(fmt.Sprint("canary.out", i))
		c := exec.Command(t.velum, append([]string{"run", "--out", out, "--in"}, args...)...)
		c.Env = append(os.Environ(), "TMPDIR="+tmp)
		text, _ := c.CombinedOutput()
		if n := c.ProcessState.ExitCode(); n == 2 || n < 0 || i < 2 && n != 0 {
			return "", fmt.Errorf("run %d ended with exit code %d", i, n)
		}
		runs++
		size += int64(len(text))
		addHits(&hits, set.In(text))
		for _, dir := range []string{out, tmp} {
			finds, n, err := set.Below(dir)
			if err != nil && !errors.Is(err, os.ErrNotExist) {
				return "", err
			}
			size += n
			for _, f := range finds {
				addHits(&hits, f.Hits)
			}
		}
		if err := t.clear(out); err != nil {
			return "", err
		}
	}
	figures := fmt.Sprintf("%d canaries, %d runs, %.1f MB searched: hits DNI %d, telephone %d, e-mail %d, surname %d",
		set.Len(), runs, float64(size)/1e6, hits[canaryDNI], hits[canaryTelephone], hits[canaryMail], hits[canarySurname])
	if hits != [4]int{} {
		return figures, errors.New("canaries got out")
	}
	return figures, nil
}

func addHits(to *[4]int, more [4]int) {
	for k, n := range more {
		to[k] += n
	}
}

// damaged copies a file and changes bytes in its middle.
func (t *torture) damaged(in string) (string, error) {
	data, err := os.ReadFile(in)
	if err != nil {
		return "", err
	}
	for range 20 {
		data[len(data)/4+t.rng.IntN(len(data)/2)] ^= 1 << t.rng.IntN(8)
	}
	name := in + ".damaged.parquet"
	if err := os.MkdirAll(t.path("canary.damaged"), 0o700); err != nil {
		return "", err
	}
	name = t.path("canary.damaged", filepath.Base(name))
	return name, os.WriteFile(name, data, 0o600)
}
