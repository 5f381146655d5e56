package learn

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/flow"
	"github.com/velum-health/velum/cmd/velum/internal/lab/train"
	"github.com/velum-health/velum/cmd/velum/internal/lab/turns"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/models/tag/bilstm"
	"github.com/velum-health/velum/models/tag/ensemble"
	"github.com/velum-health/velum/models/tag/tagger"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/durable"
)

// turn does the next turn and commits it. Turn 0 trains on the labelled notes
// alone: the supervised line.
func (l *learning) turn(ctx context.Context) error {
	if err := l.turnOf(ctx, nil); err != nil {
		return fmt.Errorf("turn %d: %w", len(l.turns), err)
	}
	return errors.Join(l.loadAnswers(), l.loadModel(l.last()), l.settle())
}

// turnOf does the next turn, of a fold as the whole does it, and commits it.
func (l *learning) turnOf(ctx context.Context, whole *turning) error {
	t := &turns.Turn{Schema: turns.TurnSchema, Number: len(l.turns), Options: l.options, Groups: []turns.Group{},
		Judgment: turns.Judgment{Beside: -1, Gated: []turns.GateLine{}}}
	if t.Number > 0 {
		t.Parent, t.Beside = l.last().Sum, l.whole().inUseBefore(t.Number).Number
	}
	err := filled(filepath.Join(l.out, t.Name()), func(draft *durable.Draft) error {
		w := &turning{of: l, record: t, draft: draft, whole: whole}
		if err := w.do(ctx); err != nil {
			return err
		}
		return seal(draft, t)
	})
	if err == nil {
		l.turns = append(l.turns, t)
	}
	return err
}

// turning is a turn in progress.
type turning struct {
	of        *learning
	whole     *turning // whose fold does it; nil
	record    *turns.Turn
	draft     *durable.Draft
	next      *flow.Model // that the turn makes
	protected *flow.Model // that the gate holds it against, where the turn makes it too
}

func (w *turning) do(ctx context.Context) error {
	choose := w.choose
	if w.whole != nil {
		choose = w.chooseFold
	}
	if w.record.Number > 0 {
		if err := choose(ctx); err != nil {
			return err
		}
	}
	if w.isGiven() {
		return errors.Join(w.given(), w.judge(ctx))
	}
	w.record.Template, w.record.Answers = w.of.cfg.Train.Template, len(w.of.answers)
	if err := w.crossFit(ctx); err != nil {
		return err
	}
	f, err := w.fit(ctx, modelName, w.record.Groups)
	if err != nil {
		return err
	}
	w.next, w.record.Training = f.model, f.record
	if w.again() {
		if err := w.base(ctx); err != nil {
			return err
		}
	}
	if w.whole != nil {
		return nil
	}
	return w.judge(ctx)
}

// isGiven tells whether the turn's model is that of learn.start.
func (w *turning) isGiven() bool { return w.record.Number == 0 && w.of.cfg.Learn.Start != "" }

// given takes the model of learn.start as that of turn 0.
func (w *turning) given() error {
	data, err := flow.ModelData(w.of.cfg.Learn.Start)
	if err == nil {
		w.next, err = w.write(modelName, data)
	}
	return err
}

func memberName(k int, name string) string { return fmt.Sprintf("member-%d-%s", k+1, name) }

// fit is a trained model and what it was trained on.
type fit struct {
	model  *flow.Model
	record turns.Training
}

// kind is the kind of tagger that turn n trains, or several, see flow.Together.
func (l *learning) kind(n int) string {
	kinds := l.cfg.Learn.Kind
	return kinds[min(n, len(kinds)-1)]
}

// init returns the model from whose weights training starts: the model of the same kind in the turn before or, for a
// second candidate, the one in use; the first network starts from that in learn.start; "" if there is none.
func (w *turning) init(kind, name string) string {
	if w.record.Number == 0 {
		return ""
	}
	from := w.of.last()
	if strings.HasSuffix(name, baseName) {
		var ships *turns.Base
		from, ships = w.of.shipped(w.record.Number)
		name = strings.TrimSuffix(name, baseName) + ships.File
	}
	switch {
	case from.Number == 0 && w.of.cfg.Learn.Start != "":
		if name = modelName; kind != bilstm.Kind || !hasNetwork(w.of.model.Model) {
			return "" // a CRF comes to the same weights wherever it begins
		}
	case w.of.kind(w.record.Number) != w.of.kind(from.Number):
		return ""
	}
	return filepath.Join(w.of.place(from), name)
}

// hasNetwork tells whether a model is a network, or several of which one is.
func hasNetwork(m tagger.Model) bool {
	if all, ok := m.(*ensemble.Model); ok {
		return slices.ContainsFunc(all.Members(), hasNetwork)
	}
	return m.Header().Kind == bilstm.Kind
}

// fit trains a model, beginning at the weights of the same
// model of the turn before. Where a turn has several kinds, each learns from
// the same notes and has a file of its own, where the next turn begins.
func (w *turning) fit(ctx context.Context, name string, groups []turns.Group) (*fit, error) {
	c := *w.of.cfg
	kinds := flow.Together(w.of.kind(w.record.Number))
	if len(kinds) == 1 {
		return w.fitOne(ctx, &c, kinds[0], name, groups)
	}
	var all turns.Training
	c.Ensemble.Members = nil
	for k, kind := range kinds {
		member := c
		// two of a kind are two
		member.Network.Seed += len(slices.DeleteFunc(slices.Clone(kinds[:k]), func(before string) bool { return before != kind }))
		file := memberName(k, name)
		f, err := w.fitOne(ctx, &member, kind, file, groups)
		if err != nil {
			return nil, err
		}
		c.Ensemble.Members = append(c.Ensemble.Members, w.draft.Path(file))
		f.record.Features, f.record.Weights = f.record.Features+all.Features, f.record.Weights+all.Weights
		all = f.record
	}
	m, err := w.together(ctx, &c, name)
	return &fit{m, all}, err
}

// together combines members to one model as ensemble.mode says. Measurements are taken on the validation notes, which
// the members have not seen, or, without any, on the labelled notes.
func (w *turning) together(ctx context.Context, c *option.Config, name string) (*flow.Model, error) {
	t := w.training(c, ensemble.Kind, name)
	if err := t.Prepare(); err != nil {
		return nil, err
	}
	if len(w.of.dev.Paths) > 0 {
		if err := t.Teach(ctx, &w.of.dev); err != nil {
			return nil, err
		}
	} else if _, err := w.teach(ctx, t, &w.of.gold, nil); err != nil {
		return nil, err
	}
	m, err := t.Fit(ctx)
	if err != nil {
		return nil, err
	}
	return w.save(name, m)
}

func (w *turning) training(c *option.Config, kind, name string) *train.Training {
	n := w.record.Number
	labels := w.of.labels
	if k, ok := flow.KindNamed(kind); ok {
		labels = cmp.Or(k.Labels, labels)
	}
	return train.New(w.of.console, c, &train.Options{Kind: kind, Labels: labels, Out: filepath.Join(w.record.Name(), name),
		Name: fmt.Sprintf("%s, turn %d", w.of.labels, n)})
}

// fitOne trains a model of one kind.
func (w *turning) fitOne(ctx context.Context, c *option.Config, kind, name string, groups []turns.Group) (*fit, error) {
	t := w.training(c, kind, name)
	if k, ok := flow.KindNamed(kind); ok && !k.Anew {
		t.Options.Init = w.init(kind, name)
	}
	if err := t.Prepare(); err != nil {
		return nil, err
	}
	r, err := w.teach(ctx, t, &w.of.gold, groups)
	if err != nil {
		return nil, err
	}
	m, err := t.Fit(ctx)
	if errors.Is(err, tagger.ErrInit) { // learn.start has a network of another shape
		w.of.console.Log.Warn("the network begins anew: that of learn.start was made with other options")
		t.Options.Init = ""
		m, err = t.Fit(ctx)
	}
	if err != nil {
		return nil, err
	}
	r.Iterations = m.Header().Training.Iterations
	if m, err = w.save(name, m); err != nil {
		return nil, err
	}
	if sized, ok := m.Model.(tagger.Sized); ok {
		r.Features, r.Weights = sized.Size()
	}
	return &fit{m, r}, nil
}

// teach adds labelled notes, answers and groups to the corpus of a training.
func (w *turning) teach(ctx context.Context, t *train.Training, gold *flow.Labelled, groups []turns.Group) (r turns.Training, err error) {
	if err := t.Teach(ctx, gold); err != nil {
		return r, err
	}
	r.Gold = t.Taught.Notes
	for i := range w.of.answers {
		if err := t.Teach(ctx, &w.of.answers[i]); err != nil {
			return r, err
		}
	}
	if r.Answers = t.Taught.Notes - r.Gold; r.Gold > 0 && t.Taught.Spans == 0 {
		return r, exit.Misconfiguredf("look at --gold and --labels", "the labelled notes have no spans")
	}
	for _, g := range groups {
		if err := t.Learn(ctx, w.file(g)); err != nil {
			return r, err
		}
	}
	r.Chosen = t.Taught.Notes - r.Gold - r.Answers
	r.Tokens, r.Spans = t.Taught.Tokens, t.Taught.Spans
	return r, nil
}

// save writes a model that was trained, and returns the one that its file holds.
func (w *turning) save(name string, m *flow.Model) (*flow.Model, error) {
	data, err := m.File()
	if err != nil {
		return nil, err
	}
	return w.write(name, data)
}

// write writes the file of a model, and returns the model.
func (w *turning) write(name string, data []byte) (*flow.Model, error) {
	if err := w.draft.Write(name, data); err != nil {
		return nil, err
	}
	return w.of.parsed(filepath.Join(w.record.Name(), name), data)
}

func holdsSpan(tags []pipeline.Tag) bool {
	return slices.ContainsFunc(tags, func(t pipeline.Tag) bool { return t != pipeline.O })
}
