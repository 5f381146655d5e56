package learn

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/velum-health/velum/cmd/velum/internal/flow"
	"github.com/velum-health/velum/cmd/velum/internal/lab/train"
	"github.com/velum-health/velum/cmd/velum/internal/lab/turns"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/models/tag/calibrate"
	"github.com/velum-health/velum/models/tag/ensemble"
	"github.com/velum-health/velum/models/tag/tagger"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/durable"
	"github.com/velum-health/velum/stages/read/input"
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
	t := &turns.Turn{Schema: turns.TurnSchema, Number: len(l.turns), Options: l.options, Groups: []turns.Group{}, Judgment: turns.Judgment{Beside: -1, Gated: []turns.GateLine{}}}
	if t.Number > 0 {
		t.Parent, t.Beside = l.last().Sum, l.whole().inUseBefore(t.Number).Number
	}
	draft, err := durable.NewDraft(nil, filepath.Join(l.out, t.Name()))
	if err != nil {
		return err
	}
	w := &turning{of: l, record: t, draft: draft, whole: whole}
	if err := w.do(ctx); err != nil {
		return errors.Join(err, draft.Discard())
	}
	return l.commit(draft, t)
}

// turning is a turn that is being done.
type turning struct {
	of        *learning
	whole     *turning // whose fold does it; nil
	record    *turns.Turn
	draft     *durable.Draft
	next      *flow.Model    // that the turn makes
	protected *flow.Model    // that the gate holds it against, where the turn makes it too
	chosen    *train.Lookups // clusters of the turn; nil before they are chosen
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
	w.record.Template, w.record.Answers = w.templateName(), len(w.of.answers)
	if err := w.crossFit(ctx); err != nil {
		return err
	}
	f, err := w.fit(ctx, w.record.Template, modelName, w.record.Groups)
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

func (w *turning) templateName() string {
	if names := w.of.cfg.Learn.Templates; len(names) > 0 {
		return names[min(w.record.Number, len(names)-1)]
	}
	return w.of.cfg.Train.Template
}

func memberName(k int, name string) string { return fmt.Sprintf("member-%d-%s", k+1, name) }

// fit is a trained model and what it was trained on.
type fit struct {
	model  *flow.Model
	record turns.Training
}

// kind is the kind of tagger that turn n trains, or several, see flow.Together.
func (l *learning) kind(n int) string {
	if kinds := l.cfg.Learn.Kinds; len(kinds) > 0 {
		return kinds[min(n, len(kinds)-1)]
	}
	return l.cfg.Learn.Kind
}

// init is the model at whose weights a model of the turn begins: the same of the turn before, or, of what the gate protects, the
// one in use. It is "" if none of that kind was trained by learning.
func (w *turning) init(name string) string {
	if w.record.Number == 0 || !w.of.cfg.Learn.Warm {
		return ""
	}
	from := w.of.last()
	if strings.HasSuffix(name, baseName) {
		var ships *turns.Base
		from, ships = w.of.shipped(w.record.Number)
		name = strings.TrimSuffix(name, baseName) + ships.File
	}
	if from.Number == 0 && w.of.cfg.Learn.Start != "" || w.of.kind(w.record.Number) != w.of.kind(from.Number) {
		return ""
	}
	return filepath.Join(w.of.place(from), name)
}

// fit trains a model with a template, beginning at the weights of the same
// model of the turn before. Where a turn has several kinds, each learns from
// the same notes and has a file of its own, where the next turn begins.
func (w *turning) fit(ctx context.Context, template, name string, groups []turns.Group) (*fit, error) {
	c := *w.of.cfg
	c.Train.Template = template
	kinds := flow.Together(w.of.kind(w.record.Number))
	if len(kinds) == 1 {
		return w.fitOne(ctx, &c, kinds[0], name, groups)
	}
	var all turns.Training
	c.Ensemble.Members = nil
	for k, kind := range kinds {
		member := c
		member.Network.Seed += len(slices.DeleteFunc(slices.Clone(kinds[:k]), func(before string) bool { return before != kind })) // two of a kind are two
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

// together makes one model of members, as ensemble.mode says. What that takes
// from notes it takes from the validation notes, for the members know the
// others; without any, from the labelled ones.
func (w *turning) together(ctx context.Context, c *option.Config, name string) (*flow.Model, error) {
	t := w.training(c, ensemble.Kind, name)
	if err := t.Prepare(); err != nil {
		return nil, err
	}
	if len(w.of.dev.Paths) > 0 {
		err := w.of.dev.Each(func(src pipeline.Source) error { return t.Teach(ctx, src) })
		if err != nil {
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
	return train.New(w.of.console, c, &train.Options{Kind: kind, Labels: labels, Out: filepath.Join(w.record.Name(), name), Name: fmt.Sprintf("%s, turn %d", w.of.labels, n)})
}

// fitOne trains a model of one kind.
func (w *turning) fitOne(ctx context.Context, c *option.Config, kind, name string, groups []turns.Group) (*fit, error) {
	t := w.training(c, kind, name)
	if k, ok := flow.KindNamed(kind); ok && !k.Anew {
		t.Options.Init = w.init(name)
	}
	if err := w.cluster(ctx, t, groups); err != nil {
		return nil, err
	}
	reading := w.of.spent.on("read")
	if err := t.Prepare(); err != nil {
		return nil, err
	}
	r, err := w.teach(ctx, t, &w.of.gold, groups)
	if err != nil {
		return nil, err
	}
	reading()
	defer w.of.spent.on("train")()
	m, err := t.Fit(ctx)
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
	if err := gold.Each(func(src pipeline.Source) error { return t.Teach(ctx, src) }); err != nil {
		return r, err
	}
	r.Gold = t.Taught.Notes
	for i := range w.of.answers {
		if err := w.of.answers[i].Each(func(src pipeline.Source) error { return t.Teach(ctx, src) }); err != nil {
			return r, err
		}
	}
	r.Answers = t.Taught.Notes - r.Gold
	for _, g := range groups {
		if err := t.Learn(ctx, w.file(g)); err != nil {
			return r, err
		}
	}
	r.Chosen = t.Taught.Notes - r.Gold - r.Answers
	r.Tokens, r.Spans = t.Taught.Tokens, t.Taught.Spans
	return r, nil
}

// cluster gives a training the clusters of learn.clusters that are best for
// the turn: they are chosen once a turn, on labelled notes alone.
func (w *turning) cluster(ctx context.Context, t *train.Training, groups []turns.Group) error {
	if len(w.of.cfg.Learn.Clusters) == 0 {
		return nil
	}
	if w.chosen == nil {
		defer w.of.spent.on("clusters")()
		t.Options.Lookups.Clusters = w.of.cfg.Learn.Clusters
		if err := t.Prepare(); err != nil { // says what is wrong before the first trial
			return err
		}
		err := t.Choose(ctx, w.of.gold, w.of.cfg.Learn.Seed, func(trial *train.Training, gold *flow.Labelled) error {
			_, err := w.teach(ctx, trial, gold, groups)
			return err
		})
		if err != nil {
			return err
		}
		w.chosen, w.record.Offers = &t.Options.Lookups, t.Offers
	}
	t.Options.Lookups, t.Offers = *w.chosen, w.record.Offers
	return nil
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

// reliabilityBins of the reliability curve: ten, as in the literature.
const reliabilityBins = 10

// calibrate compares the confidences of the new models with what is right of
// their answers on the notes that they are judged on, by the unit of learning.
func (w *turning) calibrate(ctx context.Context) error {
	defer w.of.spent.on("calibrate")()
	e := &examples{toSet: w.of.toSet, empty: w.of.cfg.Choose.WithoutSpans > 0}
	for _, judge := range w.of.judges() {
		m, err := w.newest(judge)
		if err != nil {
			return err
		}
		if e.set = m.TagSet(); w.of.pipeline() {
			e.set = w.of.tagSet
		}
		steps, err := w.of.taughtSteps(m)
		if err != nil {
			return err
		}
		for i := range judge.judged {
			err := judge.judged[i].Each(func(src pipeline.Source) error { return pipeline.Run(ctx, w.of.pieces(src), steps, e, nil) })
			if err != nil {
				return err
			}
		}
	}
	c := &w.record.Calibration
	var err error
	if c.Map, err = calibrate.Fit(w.of.cfg.Learn.Calibrate, e.all); err != nil {
		return err
	}
	method := w.of.cfg.Learn.Calibrate
	if method == "none" { // what it would bring is reported all the same
		method = "isotonic"
	}
	crossed, err := calibrate.Crossed(method, e.all)
	c.Before = calibrate.Reliable(e.all, reliabilityBins)
	c.After = calibrate.Reliable(crossed, reliabilityBins)
	return err
}

// pieces returns the notes of a source in the unit of learning.
func (l *learning) pieces(src pipeline.Source) pipeline.Source {
	if l.cfg.Learn.Unit == "line" {
		return input.NewLines(src)
	}
	return src
}

// examples is a sink that compares tags with gold spans.
type examples struct {
	set   *pipeline.TagSet
	toSet func(pipeline.Category) pipeline.Category
	empty bool // those without spans count too
	all   []calibrate.Example
	wants []pipeline.Span
	tags  []pipeline.Tag
}

// Put implements pipeline.Sink. An answer is right if the gold spans, written
// as tags, are the tags. Only what could be chosen counts: an empty note is
// right nearly always, and would make the others look surer than they are.
func (e *examples) Put(b *pipeline.Batch) error {
	for i := range b.Len() {
		tags := b.TagsOf(i)
		if b.Reason[i] != pipeline.Sound || !e.empty && !holdsSpan(tags) {
			continue
		}
		e.wants = e.wants[:0]
		for _, g := range b.Gold.At(i) {
			if g.Category = e.toSet(g.Category); g.Category != pipeline.None {
				e.wants = append(e.wants, g)
			}
		}
		e.tags = slices.Grow(e.tags[:0], len(tags))[:len(tags)]
		e.set.Encode(e.tags, b.Tokens.At(i), e.wants)
		e.all = append(e.all, calibrate.Example{Confidence: float64(b.Conf[i]), Right: slices.Equal(e.tags, tags)})
	}
	return nil
}

func holdsSpan(tags []pipeline.Tag) bool {
	return slices.ContainsFunc(tags, func(t pipeline.Tag) bool { return t != pipeline.O })
}
