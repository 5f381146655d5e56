package files_test

import (
	"bytes"
	"encoding/hex"
	"os"
	"slices"
	"testing"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/files"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/cmd/velum/internal/run"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/commit"
)

// TestTree reads an output of a run back: its spans by id, what is in quarantine, and its spans by row for another run.
func TestTree(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("a.csv", []byte("note_id,text\na,Avisar al 600 123 456 o a b@ejemplo.es\nb,una,columna de mas\nc,Tos\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	c := &console.Console{Out: &log, Errs: &log, Quiet: true}
	c.StartLog()
	load := func() (*option.Config, error) {
		return option.Load(option.Sources{}.With([]string{"tag.fast=true", "run.workers=1", "write.max_quarantined=1"}))
	}
	if err := run.Mask(t.Context(), c, load, &run.Options{In: []string{"a.csv"}, Out: "out"}); err != nil {
		t.Fatal(err)
	}
	tree, err := files.LoadTree("out")
	if err != nil || !files.IsTree("out") {
		t.Fatal(err)
	}
	spans := tree.Spans["a"]
	if len(tree.Spans) != 1 || len(spans) != 2 || spans[0].Category.String() != "TELEPHONE" || spans[0].Start != 10 || spans[0].End != 21 || spans[1].Category.String() != "EMAIL" || spans[1].Start != 26 || spans[1].End != 38 || spans[0].Score <= 0 {
		t.Errorf("%+v", tree.Spans)
	}
	if len(tree.Quarantined) != 1 {
		t.Errorf("in quarantine: %v", tree.Quarantined)
	}
	if _, err := files.LoadTree("nowhere"); exit.CodeOf(err) != exit.Config {
		t.Errorf("no output: %v", err)
	}
	private, m, err := files.Private("out")
	if err != nil || private != "out.private" {
		t.Fatal(private, err)
	}
	sum, err := hex.DecodeString(m.Model)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := files.OpenTagged("out", [32]byte{1}); exit.CodeOf(err) != exit.Config {
		t.Errorf("of another model: %v", err)
	}
	if _, err := files.OpenTagged("nowhere", [32]byte(sum)); exit.CodeOf(err) != exit.Config {
		t.Errorf("of no output: %v", err)
	}
	tagged, err := files.OpenTagged("out", [32]byte(sum))
	if err != nil || tagged.Dir() != "out.private" || tagged.Made != m.Config+" "+m.Model || len(tagged.Digest) != 64 {
		t.Fatalf("%+v, %v", tagged, err)
	}
	record := &m.Units[0]
	input, err := hex.DecodeString(record.SHA256)
	if err != nil {
		t.Fatal(err)
	}
	unit := commit.Unit{SHA256: [32]byte(input), From: record.From, To: record.To, Rows: record.Rows}
	if err := tagged.Check([]commit.Unit{unit}); err != nil {
		t.Error(err)
	}
	other := unit
	other.SHA256[0]++
	if err := tagged.Check([]commit.Unit{unit, other}); exit.CodeOf(err) != exit.Config {
		t.Errorf("a unit that was not tagged: %v", err)
	}
	var g files.TaggedUnit
	if err := tagged.Load(&unit, &g); err != nil {
		t.Fatal(err)
	}
	b := &pipeline.Batch{Reason: make([]pipeline.Reason, 3)}
	for range 3 {
		b.Text.Append(nil)
	}
	if err := g.Give(b); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(b.Reason, []pipeline.Reason{pipeline.Sound, pipeline.BadRow, pipeline.Sound}) || len(b.Spans.At(0)) != 2 || len(b.Spans.At(1))+len(b.Spans.At(2)) != 0 || b.Spans.At(0)[1].Start != 26 || b.Conf[0] <= 0 || b.Conf[1] != 0 || b.Conf[2] <= 0 {
		t.Errorf("%v %+v %v", b.Reason, b.Spans, b.Conf)
	}
	short := unit
	short.Rows = 1
	if err := tagged.Load(&short, new(files.TaggedUnit)); exit.CodeOf(err) != exit.Integrity {
		t.Errorf("notes that the unit does not have: %v", err)
	}
	for k := range record.Parts { // one that is not as it was written
		if p := &record.Parts[k]; p.Kind == "original" {
			if err := os.WriteFile("out.private/"+p.Path, []byte("x"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := tagged.Load(&unit, &g); exit.CodeOf(err) != exit.Integrity {
		t.Errorf("a changed part: %v", err)
	}
	if _, err := files.LoadTree("out"); exit.CodeOf(err) != exit.Integrity {
		t.Errorf("a tree with a changed part: %v", err)
	}
}
