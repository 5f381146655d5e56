package learn

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/velum-health/velum/cmd/velum/internal/flow"
	"github.com/velum-health/velum/cmd/velum/internal/lab/turns"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/cmd/velum/internal/report"
	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/stages/read/archive"
)

// learningOf makes learning with turns of these scores.
func learningOf(notes int64, slice int64, f1 ...float64) *learning {
	l := &learning{cfg: new(option.Config), archive: &archive.Archive{Units: []commit.Unit{{Rows: notes}}}}
	l.dev.Paths = []string{"dev"}
	l.cfg.Learn.Turns, l.cfg.Learn.Slice = 20, int(slice)
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
}

func someIDs(n int) (ids []string) {
	for i := range n {
		ids = append(ids, fmt.Sprint("note ", i))
	}
	return ids
}

// kept is notes with these ids, as answers are.
func kept(ids []string) flow.Labelled {
	keep := map[string]bool{}
	for _, id := range ids {
		keep[id] = true
	}
	return flow.Labelled{Paths: []string{"answers"}, Keep: keep}
}

// Folds divide all labelled notes and answers: each note is judged on in one fold, which learns from none of its own and from
// all others. Answers that come later leave those before where they were, and from 50 on they judge alone.
func TestFolds(t *testing.T) {
	l := learningOf(1000, 10)
	l.dev.Paths, l.foldOf = nil, map[string]int{}
	l.goldIDs, l.gold.Paths = someIDs(23), []string{"gold"}
	l.deal(l.goldIDs)
	l.divide()
	everything := func(want, judged int) {
		t.Helper()
		onJudge := map[string]int{}
		for k, f := range l.folds {
			learns, n := map[string]bool{}, 0
			for _, set := range append([]flow.Labelled{f.gold}, f.answers...) {
				for id := range set.Keep {
					learns[id] = true
				}
			}
			for _, set := range f.judged {
				n += len(set.Keep)
				for id := range set.Keep {
					onJudge[id]++
					if learns[id] || l.foldOf[id] != k {
						t.Errorf("%s is judged on by a fold that learned from it", id)
					}
				}
			}
			if in := want - len(learns); in < want/5-1 || in > want/5+2 {
				t.Errorf("fold %d learns from %d notes of %d", k, len(learns), want)
			}
		}
		for id, times := range onJudge {
			if times != 1 {
				t.Errorf("%s is judged on %d times", id, times)
			}
		}
		if len(onJudge) != judged {
			t.Errorf("%d notes of %d are judged on, want %d", len(onJudge), want, judged)
		}
	}
	everything(23, 23)
	before := maps.Clone(l.foldOf)
	asked := someIDs(90)[23:]
	for k, set := range [][]string{asked[:12], asked[12:]} {
		l.deal(set)
		l.answers = append(l.answers, kept(set))
		l.divide()
		everything([]int{35, 90}[k], []int{35, 67}[k])
	}
	for id, fold := range before {
		if l.foldOf[id] != fold {
			t.Errorf("%s went to another fold", id)
		}
	}
	if l.measured(); len(l.folds) != 5 {
		t.Errorf("%d folds", len(l.folds))
	}
	few := learningOf(1000, 10)
	few.dev.Paths, few.foldOf, few.goldIDs = nil, map[string]int{}, someIDs(4)
	few.deal(few.goldIDs)
	if few.divide(); few.measured() {
		t.Error("four notes judge in five folds")
	}
}

// The page shows what the report says, whatever is missing from it.
func TestLearnReport(t *testing.T) {
	l := learningOf(1000, 10, 0.6, 0.55, 0.7312)
	l.labels = "primary-care"
	l.turns[0].Promoted, l.turns[2].Promoted = true, true
	l.turns[2].Selection = &report.Selection{Notes: 12345, Candidates: 20000, MinConfidence: 0.85}
	l.turns[2].Slice.Confidence = []report.Bin{{From: 0, To: 0.5, Count: 3}, {From: 0.5, To: 1, Count: 9}}
	l.turns[1].Gated = []turns.GateLine{{Category: "PERSON", Measure: "recall", Was: 0.9, Now: 0.8}}
	l.turns[2].Promoted, l.turns[2].Better = false, &[2]float64{-0.04, 0.21}
	l.turns[2].Validation.F1Ends, l.turns[2].Validation.Notes = &[2]float64{0.5, 0.9}, 10
	l.answered = turns.Answers{Notes: 100, Unchanged: 93}
	page, err := l.learned().HTML()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"Strict F1 from 0.6000 to 0.7312 (turn 2)", "&#43;0.1312", "12\u202f345", "PERSON 0.9000 → 0.8000", "prefers-color-scheme: dark",
		"Turn 2 is not shown to be better than the model in use: the 95 % interval of its gain in strict F1 is −0.0400 to 0.2100", "validation notes decide little", "0.5000 to 0.9000",
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
	l.turns[2].Better, l.turns[2].Gated = &[2]float64{0.04, 0.21}, []turns.GateLine{{Category: "ALL", Measure: "masked_recall", Was: 0.9, Now: 0.8}, {Category: "PERSON", Measure: "recall", Was: 0.95, Now: 0.9}}
	if page, err = l.learned().HTML(); err != nil || !bytes.Contains(page, []byte("Turn 2 is better (95 % interval of its gain in strict F1: 0.0400 to 0.2100) and not in use, for something is lost: masked of all identifiers 0.9000 → 0.8000, found of PERSON 0.9500 → 0.9000.")) {
		t.Errorf("the page does not say what turn 2 loses: %v", err)
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
}

// TestPromoteKilled: of a start that was killed when it had put a model into use, nothing is left in the folder of models.
func TestPromoteKilled(t *testing.T) {
	l, turn := &learning{out: t.TempDir()}, &turns.Turn{Number: 3}
	file := filepath.Join(l.out, turn.Name(), turns.ModelName)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("a model"), 0o600); err != nil {
		t.Fatal(err)
	}
	names := func() (all []string) {
		if err := l.promoteTurn(turn); err != nil {
			t.Fatal(err)
		}
		entries, err := os.ReadDir(l.models())
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			all = append(all, e.Name())
		}
		return all
	}
	whole := names()
	for _, left := range []string{".lock", ".current.tmp", ".promote.tmp"} {
		if err := os.WriteFile(filepath.Join(l.models(), left), []byte("{}"), 0o600); err != nil {
			t.Fatal(err)
		}
		if left != ".lock" { // a start that is killed with one of these has not put the model into use
			if err := os.Remove(filepath.Join(l.models(), "_CURRENT")); err != nil {
				t.Fatal(err)
			}
			if left == ".promote.tmp" {
				for _, name := range whole {
					if filepath.Ext(name) == ".velum" {
						if err := os.Remove(filepath.Join(l.models(), name)); err != nil {
							t.Fatal(err)
						}
					}
				}
			}
		}
		if got := names(); !slices.Equal(got, whole) {
			t.Errorf("killed with %s: %q, want %q", left, got, whole)
		}
	}
}
