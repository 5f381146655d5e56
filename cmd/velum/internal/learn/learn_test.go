package learn

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/velum-health/velum/cmd/velum/internal/flow"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/cmd/velum/internal/report"
	"github.com/velum-health/velum/cmd/velum/internal/turns"
	"github.com/velum-health/velum/models/tag/calibrate"
	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/stages/read/archive"
)

func TestLosses(t *testing.T) {
	at := func(recall, masked float64) turns.CategoryScore {
		return turns.CategoryScore{Category: "PERSON", Gold: 20, Ratio: turns.Ratio{Recall: recall}, MaskedRecall: masked}
	}
	rare := turns.CategoryScore{Category: "DNI", Gold: 0, Ratio: turns.Ratio{Recall: 1}}
	for _, c := range []struct {
		what      string
		was, now  []turns.CategoryScore
		tolerance float64
		want      string
	}{
		{"the same", []turns.CategoryScore{at(0.8, 0.9)}, []turns.CategoryScore{at(0.8, 0.9)}, 0, "[]"},
		{"more", []turns.CategoryScore{at(0.8, 0.9)}, []turns.CategoryScore{at(0.85, 0.95)}, 0, "[]"},
		{"less recall", []turns.CategoryScore{at(0.8, 0.9)}, []turns.CategoryScore{at(0.75, 0.95)}, 0, "[{PERSON recall 0.8 0.75}]"},
		{"less masked", []turns.CategoryScore{at(0.8, 0.9)}, []turns.CategoryScore{at(0.85, 0.85)}, 0, "[{PERSON masked_recall 0.9 0.85}]"},
		{"tolerated", []turns.CategoryScore{at(0.8, 0.9)}, []turns.CategoryScore{at(0.75, 0.85)}, 0.05, "[]"},
		{"nothing found any more", []turns.CategoryScore{at(0.8, 0.9)}, nil, 0.1, "[{PERSON recall 0.8 0} {PERSON masked_recall 0.9 0}]"},
		{"no gold", []turns.CategoryScore{rare}, nil, 0, "[]"},
	} {
		got := losses(&turns.Scores{Categories: c.was}, &turns.Scores{Categories: c.now}, c.tolerance)
		if fmt.Sprint(got) != c.want {
			t.Errorf("%s: %v, want %s", c.what, got, c.want)
		}
	}
}

// learningOf makes learning with turns of these scores.
func learningOf(notes int64, slice int64, f1 ...float64) *learning {
	l := &learning{cfg: new(option.Config), archive: &archive.Archive{Units: []commit.Unit{{Rows: notes}}}}
	l.dev.Paths = []string{"dev"}
	l.cfg.Learn.Turns, l.cfg.Learn.Patience, l.cfg.Learn.Slice = 20, 3, int(slice)
	for n, v := range f1 {
		l.turns = append(l.turns, &turns.Turn{Number: n, Validation: turns.Scores{Strict: turns.Ratio{F1: v}}, Slice: turns.Slice{To: int64(n) * slice}})
	}
	return l
}

// TestCommands: the command is not said to use the best turn where the gate took another.
func TestCommands(t *testing.T) {
	l := learningOf(1000, 10, 0.6, 0.62, 0.67, 0.64)
	for in, want := range map[int]string{2: "to use it:    velum run ", 3: "turn 3 is in use: velum run "} {
		l.turns[3].Promoted, l.turns[2].Promoted = in == 3, in == 2
		if got := l.commands(); len(got) != 1 || !strings.HasPrefix(got[0], want) {
			t.Errorf("turn %d in use: %q", in, got)
		}
	}
}

func TestFinished(t *testing.T) {
	for _, c := range []struct {
		what string
		l    *learning
		want bool
	}{
		{"not begun", learningOf(1000, 10), false},
		{"supervised only", learningOf(1000, 10, 0.6), false},
		{"the drop at the first turn does not count", learningOf(1000, 10, 0.6, 0.5, 0.52, 0.54, 0.55, 0.58), false},
		{"no better for three turns", learningOf(1000, 10, 0.6, 0.5, 0.62, 0.61, 0.61, 0.62), true},
		{"no better for two turns", learningOf(1000, 10, 0.6, 0.5, 0.62, 0.61, 0.61), false},
		{"the archive is read", learningOf(20, 10, 0.6, 0.61, 0.62), true},
	} {
		if got := c.l.finished(); got != c.want {
			t.Errorf("%s: %v", c.what, got)
		}
	}
	l := learningOf(20, 10, 0.6, 0.61, 0.62)
	l.cfg.Learn.Again = true
	if from, to := l.nextSlice(); l.finished() || from != 0 || to != 10 {
		t.Errorf("again: finished %v, slice %d to %d", l.finished(), from, to)
	}
	l.cfg.Learn.Again, l.answers = false, []flow.Labelled{{}}
	if from, to := l.nextSlice(); l.finished() || from != 20 || to != 20 {
		t.Errorf("new answers: finished %v, slice %d to %d", l.finished(), from, to)
	}
	l = learningOf(1000, 10, 0.6, 0.61)
	l.cfg.Learn.Turns = 1
	if !l.finished() {
		t.Error("more turns than wanted")
	}
	l = learningOf(1000, 10, 0.6, 0.61)
	l.last().Asked = 5
	if !l.finished() {
		t.Error("goes on without an answer")
	}
}

// Held-out notes and those that are learned from are others, and more labelled
// notes are the same ones and others.
func TestDraw(t *testing.T) {
	ids := make([]string, 100)
	for i := range ids {
		ids[i] = fmt.Sprint("note ", i)
	}
	draw := func(labelledNotes, seed int) (gold, dev map[string]bool) {
		l := learningOf(10, 10)
		l.cfg.Learn.Holdout, l.cfg.Learn.Labelled, l.cfg.Learn.Seed = 0.2, labelledNotes, seed
		l.draw(slices.Clone(ids))
		return l.gold.Keep, l.dev.Keep
	}
	few, dev := draw(30, 1)
	more, sameDev := draw(60, 1)
	if len(few) != 30 || len(more) != 60 || len(dev) != 20 || !cmp.Equal(dev, sameDev) {
		t.Fatalf("%d, %d learned from, %d held out", len(few), len(more), len(dev))
	}
	for id := range few {
		if !more[id] || dev[id] {
			t.Errorf("%s: in more %v, held out %v", id, more[id], dev[id])
		}
	}
	if other, _ := draw(30, 2); cmp.Equal(few, other) {
		t.Error("two seeds draw the same notes")
	}
	if all, _ := draw(0, 1); len(all) != 80 {
		t.Errorf("%d of 80 learned from", len(all))
	}
}

// The page shows what the report says, whatever is missing from it.
func TestLearnReport(t *testing.T) {
	l := learningOf(1000, 10, 0.6, 0.55, 0.7312)
	l.labels, l.cfg.Learn.Unit = "primary-care", "line"
	l.turns[0].Promoted, l.turns[2].Promoted = true, true
	l.turns[2].Selection = &report.Selection{Notes: 12345, Candidates: 20000, MinConfidence: 0.85}
	l.turns[2].Slice.Confidence = []report.Bin{{From: 0, To: 0.5, Count: 3}, {From: 0.5, To: 1, Count: 9}}
	l.turns[1].Gated = []turns.GateLine{{Category: "PERSON", Measure: "recall", Was: 0.9, Now: 0.8}}
	p := 0.31
	l.turns[2].Chance, l.turns[2].Validation.F1Ends, l.turns[2].Validation.Notes = &p, &[2]float64{0.5, 0.9}, 10
	l.answered = answersRecord{Notes: 100, Unchanged: 93}
	l.turns[2].Calibration.Before = calibrate.Reliable([]calibrate.Example{{Confidence: 0.9, Right: true}}, 10)
	page, err := l.learned().HTML()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"Strict F1 from 0.6000 to 0.7312 (turn 2)", "&#43;0.1312", "12\u202f345", "PERSON 0.9000 → 0.8000", "turn 0, labelled notes alone: F1 0.6000",
		`class="ring"`, "prefers-color-scheme: dark", "Are confidences shares?", "turn 2: F1 0.7312",
		"promoted, within chance (p = 0.31)", "The gain of the model in use is within chance (p = 0.31)", "validation notes decide little", "0.5000 to 0.9000",
		"Answers of people: 100 notes, of which 93 came back as they were asked.",
	} {
		if !bytes.Contains(page, []byte(want)) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if bytes.Contains(page, []byte("<script")) {
		t.Error("the page has a script")
	}
	for _, text := range regexp.MustCompile(`<svg[^>]*viewBox[^>]*>(.*?)</svg>`).FindAllSubmatch(page, -1) {
		if bytes.Contains(text[1], []byte("<text")) {
			t.Error("letters that shrink with the screen")
		}
	}
	for _, lang := range []string{"en", "es", "ca"} {
		l.cfg.Report.Lang = lang
		page, err := l.learned().HTML()
		if err != nil || bytes.Contains(page, []byte("%!")) || !bytes.Contains(page, []byte(`<html lang="`+lang+`">`)) {
			t.Errorf("%s: %v", lang, err)
		}
		if dir := os.Getenv("VELUM_REPORT_DIR"); dir != "" { // to look at it
			if err := os.WriteFile(filepath.Join(dir, "learn."+lang+".html"), page, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	l.cfg.Report.Lang = "en"
	r := turns.Drawn([]*turns.Report{l.learned(), learningOf(1000, 10, 0.5, 0.6).learned()}, []int{1, 2})
	want := []turns.Spread{{Mean: 0.55, SD: 0.0707, Draws: 2}, {Mean: 0.575, SD: 0.0354, Draws: 2}, {Mean: 0.7312, Draws: 1}}
	if diff := cmp.Diff(want, r.Mean); diff != "" {
		t.Error(diff)
	}
	if page, err = r.HTML(); err != nil || !strings.Contains(string(page), "0.1156 ± 0.0221") {
		t.Errorf("%v: the page of draws lacks the gain; %s", err, r.Sentence)
	}
}
