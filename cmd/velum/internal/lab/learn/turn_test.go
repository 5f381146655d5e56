package learn

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/velum-health/velum/cmd/velum/internal/lab/turns"
	"github.com/velum-health/velum/cmd/velum/internal/option"
)

// foldAndWhole is a learning of three turns with one of its folds: turn 0 is of both, turn 1 is in use, and of turn 2 the model
// in use trained again.
func foldAndWhole() (fold, whole *learning) {
	group := func(turn int) []turns.Group {
		return []turns.Group{{Turn: turn, File: turns.Folder(turn) + "/selected.parquet"}}
	}
	zero := &turns.Turn{Judgment: turns.Judgment{Beside: -1, Promoted: true}}
	whole = &learning{out: "all", cfg: &option.Config{}, turns: []*turns.Turn{
		zero, {Number: 1, Groups: group(1), Judgment: turns.Judgment{Promoted: true}},
		{Number: 2, Groups: group(2), Base: &turns.Base{Of: 1, File: baseName, Groups: group(1)}, Judgment: turns.Judgment{Beside: 1}},
	}}
	whole.cfg.Learn.Kind = []string{"crf"}
	fold = &learning{out: "all/fold-01", cfg: whole.cfg, parent: whole, turns: []*turns.Turn{
		zero, {Number: 1, Groups: group(1)}, {Number: 2, Groups: group(2), Base: &turns.Base{Of: 1, File: baseName}},
	}}
	return fold, whole
}

// TestShipped: what is in use before a turn, and the same without the notes of a fold.
func TestShipped(t *testing.T) {
	fold, whole := foldAndWhole()
	for n, want := range map[int]struct {
		turn int
		file string
	}{1: {0, modelName}, 2: {1, modelName}, 3: {2, baseName}} {
		in, ships := whole.shipped(n)
		if in != whole.turns[want.turn] || ships.File != want.file {
			t.Errorf("before turn %d: turn %d, %s", n, in.Number, ships.File)
		}
		if in, ships = fold.shipped(n); in != fold.turns[want.turn] || ships.File != want.file {
			t.Errorf("before turn %d of the fold: turn %d, %s", n, in.Number, ships.File)
		}
	}
	if at := fold.place(fold.turns[0]); at != "all/turn-00" {
		t.Errorf("the turn of both is in %s", at)
	}
	if at := fold.place(fold.turns[1]); at != "all/fold-01/turn-01" {
		t.Errorf("the turn of the fold is in %s", at)
	}
}

// TestBegin: training begins with the weights of the same kind in the turn before, or a second candidate with those in use.
func TestBegin(t *testing.T) {
	for _, c := range []struct {
		what, kinds, start, name, want string
		turn                           int
	}{
		{"the first turn", "crf", "", modelName, "", 0},
		{"the turn before", "crf", "", modelName, "all/turn-02/model.velum", 3},
		{"a member", "crf", "", "member-2-model.velum", "all/turn-02/member-2-model.velum", 3},
		{"the one in use", "crf", "", baseName, "all/turn-02/base.velum", 3},
		{"a member of the one in use", "crf", "", "member-1-base.velum", "all/turn-02/member-1-base.velum", 3},
		{"a given model", "crf", "given.velum", modelName, "", 1},
	} {
		_, whole := foldAndWhole()
		whole.turns = whole.turns[:max(c.turn, 1)]
		whole.cfg.Learn.Start = c.start
		w := &turning{of: whole, record: &turns.Turn{Number: c.turn}}
		if got := w.init(c.kinds, c.name); got != c.want {
			t.Errorf("%s: %q, want %q", c.what, got, c.want)
		}
	}
	_, whole := foldAndWhole()
	whole.cfg.Learn.Kind = []string{"crf", "crf", "crf", "bilstm"}
	if got := (&turning{of: whole, record: &turns.Turn{Number: 3}}).init("bilstm", modelName); got != "" {
		t.Errorf("a kind that the turn before did not train begins with %q", got)
	}
}

// TestBound: the earliest groups go while the training set is too large; the last one stays, however large.
func TestBound(t *testing.T) {
	for _, c := range []struct{ notes, dropped []int }{
		{[]int{mostNotes / 2, mostNotes / 2}, nil},
		{[]int{1, mostNotes / 2, mostNotes / 2}, []int{0}},
		{[]int{mostNotes, mostNotes, 5}, []int{0, 1}},
		{[]int{5, mostNotes + 1}, []int{0}},
		{nil, nil},
	} {
		w := &turning{record: &turns.Turn{}}
		for i, n := range c.notes {
			w.record.Groups = append(w.record.Groups, turns.Group{Turn: i, Notes: n})
		}
		w.bound()
		if !slices.Equal(w.record.Dropped, c.dropped) || len(w.record.Groups) != len(c.notes)-len(c.dropped) {
			t.Errorf("%v: dropped %v, %d left", c.notes, w.record.Dropped, len(w.record.Groups))
		}
	}
}

// TestFresh: a note that somebody labelled, was asked about or that a turn took is none to ask about or to learn from.
func TestFresh(t *testing.T) {
	l := &learning{asked: map[string]string{"asked": ""}, known: map[string]bool{"gold": true}}
	p := &pool{turning: &turning{of: l}, taken: map[string]bool{"taken": true}}
	for id, want := range map[string]bool{"asked": false, "gold": false, "taken": false, "new": true} {
		if got := p.fresh([]byte(id)); got != want {
			t.Errorf("%s: %t", id, got)
		}
	}
	if p.left != 3 {
		t.Errorf("%d left out, want 3", p.left)
	}
}

// TestGroupFiles: a fold finds the groups of the whole where the whole has them, and its own in its folder.
func TestGroupFiles(t *testing.T) {
	fold, whole := foldAndWhole()
	w := &turning{of: fold, record: &turns.Turn{Number: 3}, whole: &turning{of: whole, record: &turns.Turn{Number: 3}}}
	own := whole.turns[1].Groups[0]
	if got := w.file(own); got != filepath.Join("all", "fold-01", "turn-01", "selected.parquet") {
		t.Error(got)
	}
	borrowed := lent(whole.turns[1].Groups)
	if got := w.file(borrowed[0]); got != filepath.Join("all", "turn-01", "selected.parquet") || whole.turns[1].Groups[0] != own {
		t.Error(got)
	}
}

// TestMinConfidence: the given model's notes have a threshold of their own, in the turn that it tags.
func TestMinConfidence(t *testing.T) {
	for _, c := range []struct {
		turn  int
		start string
		want  float64
	}{{1, "", .9}, {1, "given", startMinConfidence}, {2, "given", .9}} {
		l := &learning{cfg: &option.Config{}}
		l.cfg.Learn.Start, l.cfg.Choose.MinConfidence = c.start, .9
		if got := (&turning{of: l, record: &turns.Turn{Number: c.turn}}).minConfidence(); got != c.want {
			t.Errorf("%s: %v, want %v", fmt.Sprint(c.turn, c.start), got, c.want)
		}
	}
}
