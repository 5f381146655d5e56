package learn

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/velum-health/velum/cmd/velum/internal/flow"
	"github.com/velum-health/velum/cmd/velum/internal/lab/turns"
	"github.com/velum-health/velum/pipeline/durable"
	"github.com/velum-health/velum/stages/score"
)

// Where nobody names validation notes, all labelled notes and answers are learned from and judged on, by cross-fitting: they
// are dealt out to folds, and every fold has a learning of its own, which goes through the same turns with all notes but
// those of the fold. So no model that judges a note has learned from it, and none of its teachers has.
//
//	turn-07        learned from all labelled notes and answers
//	fold-02/turn-07 learned from all but those of fold 2, and judged on these

// deal assigns ids to folds; later sets do not change earlier assignments.
func (l *learning) deal(ids []string) { maps.Copy(l.foldOf, flow.Folds(ids, folds, seed)) }

// enough is the number of answers from which only answers are used for judging, because they come from the archive and
// other labelled notes may be of another kind.
const enough = 50

// divide sets the training notes and the judging notes of every fold.
func (l *learning) divide() {
	if len(l.dev.Paths) > 0 || len(l.foldOf) < folds {
		return
	}
	for k := len(l.folds); k < folds; k++ {
		l.folds = append(l.folds, &learning{
			console: l.console, cfg: l.cfg, out: filepath.Join(l.out, fmt.Sprintf("fold-%02d", k+1)), labels: l.labels, tagSet: l.tagSet,
			toSet:   l.toSet,
			archive: l.archive, known: l.known, options: fmt.Sprintf("%s fold %d of %d", l.options, k+1, folds),
			parent: l, fold: k,
		})
	}
	answers := 0
	for i := range l.answers {
		answers += len(l.answers[i].Keep)
	}
	for _, f := range l.folds {
		f.asked, f.answers, f.judged = l.asked, nil, nil
		in, out := f.split(&l.gold, l.goldIDs)
		if f.gold = out; answers < enough {
			f.judged = append(f.judged, in)
		}
		for i := range l.answers {
			ids := make([]string, 0, len(l.answers[i].Keep))
			for id := range l.answers[i].Keep {
				ids = append(ids, id)
			}
			in, out := f.split(&l.answers[i], ids)
			f.judged, f.answers = append(f.judged, in), append(f.answers, out)
		}
	}
}

// split divides notes into those of the fold and the others.
func (l *learning) split(all *flow.Labelled, ids []string) (in, out flow.Labelled) {
	in, out = *all, *all
	in.Keep, out.Keep = map[string]bool{}, map[string]bool{}
	for _, id := range ids {
		if l.parent.foldOf[id] == l.fold {
			in.Keep[id] = true
		} else {
			out.Keep[id] = true
		}
	}
	return in, out
}

// whole returns the learning that this fold belongs to, or itself.
func (l *learning) whole() *learning {
	if l.parent != nil {
		return l.parent
	}
	return l
}

// judges returns the learnings whose models are scored: the folds, each on its own notes, or the learning itself on the
// validation notes.
func (l *learning) judges() []*learning {
	if len(l.folds) > 0 {
		return l.folds
	}
	l.judged = []flow.Labelled{l.dev}
	return []*learning{l}
}

// crossFit does the turn in every fold.
func (w *turning) crossFit(ctx context.Context) error {
	for _, f := range w.of.folds {
		if err := f.follow(ctx, w); err != nil {
			return fmt.Errorf("fold %d: %w", f.fold+1, err)
		}
		w.record.Folds = append(w.record.Folds, f.last().Sum)
		f.model = nil // the next fold's takes its place in memory
	}
	return nil
}

// follow runs a turn of the whole learning in a fold, unless it was run before.
func (l *learning) follow(ctx context.Context, w *turning) error {
	if err := l.catchUp(w.record); err != nil || len(l.turns) > w.record.Number {
		return err
	}
	if len(l.turns) > 0 {
		var err error
		if l.model, err = l.opened(l.last(), modelName); err != nil {
			return err
		}
	}
	return l.turnOf(ctx, w)
}

// load reads the turns of a fold before turn n. A turn of the whole that no labelled note was in is the fold's as well.
func (l *learning) load(n int) error {
	for k := len(l.turns); k < n; k++ {
		t := l.parent.turns[k]
		if len(t.Folds) > 0 {
			sum, folder := t.Folds[l.fold], filepath.Join(l.out, turns.Folder(k))
			var err error
			if t, err = turns.Read(folder, l.turns); err != nil {
				return err
			}
			if t.Sum != sum {
				return &durable.IntegrityError{Path: filepath.Join(folder, turns.FileName), Cause: "is not the fold's turn that was judged"}
			}
		}
		l.turns = append(l.turns, t)
	}
	return nil
}

// catchUp reads the turns of a fold up to one of the whole learning. A turn made before there were other answers is
// removed.
func (l *learning) catchUp(now *turns.Turn) error {
	if err := l.load(now.Number); err != nil || len(l.turns) > now.Number {
		return err
	}
	folder := filepath.Join(l.out, turns.Folder(now.Number))
	if _, err := os.Stat(folder); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	t, err := turns.Read(folder, l.turns)
	if err != nil {
		return err
	}
	if t.Options != l.options || t.Answers != now.Answers {
		return l.forget(now.Number - 1)
	}
	l.turns = append(l.turns, t)
	return nil
}

// place returns the folder of a turn.
func (l *learning) place(t *turns.Turn) string {
	if l.parent != nil && slices.Contains(l.parent.turns, t) {
		return filepath.Join(l.parent.out, t.Name())
	}
	return filepath.Join(l.out, t.Name())
}

// above is where a group of the whole stands for a fold.
const above = "../"

// lent are groups of the whole as a fold names them.
func lent(groups []turns.Group) []turns.Group {
	groups = slices.Clone(groups)
	for i := range groups {
		groups[i].File = above + groups[i].File
	}
	return groups
}

// chooseFold is choose in a fold. If the teacher is that of the whole learning, so are the notes that it selected.
func (w *turning) chooseFold(ctx context.Context) error {
	if !slices.Contains(w.of.parent.turns, w.of.last()) {
		return w.choose(ctx)
	}
	w.record.Groups, w.record.Slice = lent(w.whole.record.Groups), turns.Slice{From: w.whole.record.Slice.From, To: w.whole.record.Slice.To}
	return nil
}

// shipped returns the turn whose model is in use before turn n, and the model; in a fold, the model trained on the same
// notes without the fold's.
func (l *learning) shipped(n int) (*turns.Turn, *turns.Base) {
	in := l.whole().inUseBefore(n)
	ships := in.Ships()
	if l.parent == nil {
		return in, ships
	}
	t := l.turns[in.Number]
	switch {
	case t == in:
		return t, &turns.Base{File: ships.File, Groups: lent(ships.Groups)}
	case ships.File == baseName:
		return t, t.Base
	}
	return t, &turns.Base{File: ships.File, Groups: t.Groups}
}

// scored tags the judging notes of each judge with its model and scores them.
func (l *learning) scored(ctx context.Context, pick picked) (*score.Scorer, error) {
	s := score.New(score.Options{Map: l.toSet})
	for _, judge := range l.judges() {
		m, err := pick(judge)
		if err != nil {
			return nil, err
		}
		for i := range judge.judged {
			if err := judge.judged[i].Tag(ctx, flow.With(l.cfg, m), s); err != nil {
				return nil, err
			}
		}
	}
	return s, nil
}

// newest is the model of the turn as a judge has it.
func (w *turning) newest(judge *learning) (*flow.Model, error) {
	if w.next != nil && (judge == w.of || w.isGiven()) {
		return w.next, nil
	}
	return judge.opened(judge.turns[w.record.Number], modelName)
}

// before returns the model that the turn is compared with, for a judge: the one in use, or the same trained again with
// the answers since.
func (w *turning) before(judge *learning) (*flow.Model, error) {
	switch {
	case w.record.Protected() && judge == w.of && w.protected != nil:
		return w.protected, nil
	case w.record.Protected():
		return judge.opened(judge.turns[w.record.Number], baseName)
	}
	t, ships := judge.shipped(w.record.Number)
	return judge.opened(t, ships.File)
}

// file returns where a file of a group stands: those of this turn are in its draft.
func (w *turning) file(g turns.Group) string {
	if name, ok := strings.CutPrefix(g.File, above); ok && w.whole != nil {
		g.File = name
		return w.whole.file(g)
	}
	if dir, name := filepath.Split(g.File); filepath.Clean(dir) == w.record.Name() {
		return w.draft.Path(name)
	}
	return filepath.Join(w.of.out, g.File)
}
