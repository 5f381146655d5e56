package main

import (
	"bytes"
	"math/rand/v2"
	"testing"
	"unicode/utf8"

	"github.com/velum-health/velum/cmd/velum/internal/flow"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/pipeline"
)

// realSteps are the stages of `velum run` as a user has them, with the
// embedded model and the built-in configuration.
func realSteps(t testing.TB) []func(*pipeline.Batch) error {
	t.Helper()
	cfg, err := option.Load(option.Sources{})
	if err != nil {
		t.Fatal(err)
	}
	cfg.Run.Workers = 1
	p, err := flow.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	steps, err := p.RunSteps(nil, new(flow.Found))
	if err != nil {
		t.Fatal(err)
	}
	var all []func(*pipeline.Batch) error
	for _, s := range steps {
		all = append(all, s.New())
	}
	return all
}

// noteOf fills the batch as read does.
func noteOf(b *pipeline.Batch, text []byte) {
	b.Reset()
	b.ID.Append([]byte("1"))
	b.Text.Append(text)
	reason := pipeline.Sound
	if !utf8.Valid(text) {
		reason = pipeline.BadEncoding
	}
	b.Reason = append(b.Reason, reason)
}

// checkMasked checks what must hold of every note that left the stages: it is
// in quarantine for a reason, or it is sealed and nothing outside its spans
// was changed.
func checkMasked(t *testing.T, name string, b *pipeline.Batch) {
	t.Helper()
	if b.Reason[0] != pipeline.Sound {
		if b.Reason[0] == pipeline.Panicked || b.Reason[0] == pipeline.BadTags || b.Reason[0] == pipeline.ChangedText {
			t.Errorf("%s: a stage failed: %v", name, b.Reason[0])
		}
		return
	}
	if !b.Sealed(0) {
		t.Errorf("%s: neither sealed nor in quarantine", name)
	}
	text, masked := b.Text.At(0), b.Masked.At(0)
	if b.Cells.Len() > 0 && len(b.Cells.At(0)) > 0 { // a document: its times of events stay, and nothing else that was masked may stand in it
		for _, s := range b.Spans.At(0) {
			if value := text[s.Start:s.End]; s.Category.String() != "DATE" && len(value) > 3 && bytes.Contains(masked, value) {
				t.Errorf("%s: bytes %d-%d are in the masked document", name, s.Start, s.End)
			}
		}
		return
	}
	at := int32(0)
	for _, s := range b.Spans.At(0) {
		if s.Start < at || s.End <= s.Start || int(s.End) > len(text) {
			t.Fatalf("%s: span %d-%d", name, s.Start, s.End)
		}
		want := append(bytes.Clone(text[at:s.Start]), "["+s.Category.String()+"]"...)
		if !bytes.HasPrefix(masked, want) {
			t.Fatalf("%s: the masked text differs before offset %d", name, s.End)
		}
		masked, at = masked[len(want):], s.End
	}
	if !bytes.Equal(masked, text[at:]) {
		t.Errorf("%s: the masked text differs behind offset %d", name, at)
	}
}

// TestBadNotes masks every bad note with the real stages.
func TestBadNotes(t *testing.T) {
	notes := badNoteNamed()
	if len(notes) < 200 {
		t.Errorf("only %d bad notes", len(notes))
	}
	steps := realSteps(t)
	b := new(pipeline.Batch)
	masked := 0
	for _, n := range notes {
		noteOf(b, n.Text)
		for k, do := range steps {
			if err := do(b); err != nil {
				t.Fatalf("%s: stage %d: %v", n.Name, k, err)
			}
		}
		if b.Reason[0] == pipeline.TimedOut { // by the processor time of its thread, as in a run: not by a clock on the wall
			t.Errorf("%s: took too long", n.Name)
		}
		checkMasked(t, n.Name, b)
		if b.Reason[0] == pipeline.Sound {
			masked++
		}
	}
	t.Logf("%d notes, %d masked", len(notes), masked)
}

// TestMutatedNotes is the short form of `make torture`.
func TestMutatedNotes(t *testing.T) {
	notes, steps := badNoteNamed(), realSteps(t)
	rng := rand.New(rand.NewPCG(4, 2))
	b := new(pipeline.Batch)
	for range 2000 {
		noteOf(b, badNoteMutated(rng, notes))
		for k, do := range steps {
			if err := do(b); err != nil {
				t.Fatalf("stage %d: %v", k, err)
			}
		}
		checkMasked(t, "mutated", b)
	}
}
