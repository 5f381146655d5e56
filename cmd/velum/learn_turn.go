package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/velum-health/velum/models/calibrate"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/stages/read"
	"github.com/velum-health/velum/stages/score"
)

// turn does the next turn and commits it. Turn 0 trains on the labelled notes
// alone: the supervised line.
func (l *learning) turn(ctx context.Context) error {
	t := &turn{Schema: turnSchema, Number: len(l.turns), Options: l.options, Groups: []group{}, Gated: []gateLine{}}
	if t.Number > 0 {
		t.Parent = l.last().sum
	}
	draft, err := pipeline.NewDraft(nil, filepath.Join(l.out, t.name()))
	if err != nil {
		return err
	}
	w := &turning{learning: l, turn: t, draft: draft}
	if err := w.do(ctx); err != nil {
		return errors.Join(fmt.Errorf("turn %d: %w", t.Number, err), draft.Discard())
	}
	return l.commit(draft, t)
}

// turning is a turn that is being done.
type turning struct {
	*learning
	*turn
	draft     *pipeline.Draft
	next      *model // that the turn makes
	nextOther *model
	chosen    *lookupFlags // clusters of the turn; nil before they are chosen
}

func (w *turning) do(ctx context.Context) error {
	if w.Number > 0 {
		if err := w.choose(ctx); err != nil {
			return err
		}
	}
	if err := w.train(ctx); err != nil {
		return err
	}
	if err := w.calibrate(ctx); err != nil {
		return err
	}
	if err := w.gate(ctx); err != nil {
		return err
	}
	w.model, w.other = w.next, w.nextOther
	return nil
}

// file returns where a file of a group stands: those of this turn are in its
// draft.
func (w *turning) file(g group) string {
	if dir, name := filepath.Split(g.File); filepath.Clean(dir) == w.name() {
		return w.draft.Path(name)
	}
	return filepath.Join(w.out, g.File)
}

// train fits the turn's model and scores it.
func (w *turning) train(ctx context.Context) error {
	if w.Number == 0 && w.Learn.Start != "" {
		return w.given(ctx)
	}
	w.Template, w.turn.Answers = w.templateName(), len(w.answers)
	report, err := w.fitted(ctx, w.Groups)
	if err != nil {
		return err
	}
	w.Validation = scoresOf(report)
	if w.Learn.Drop {
		if err := w.drop(ctx); err != nil {
			return err
		}
	}
	if w.Learn.Agree != "" {
		second, err := w.fit(ctx, w.Learn.Agree, secondName, w.Groups)
		if err != nil {
			return err
		}
		w.nextOther = second.model
		if err := w.save(secondName, w.nextOther); err != nil {
			return err
		}
	}
	return w.save(modelName, w.next)
}

// given takes the model of learn.start as that of turn 0.
func (w *turning) given(ctx context.Context) (err error) {
	c := *w.Config
	c.Tag.Model, c.Tag.Recall = w.Learn.Start, 0
	if w.next, err = loadModel(&c); err != nil {
		return err
	}
	data, err := modelData(w.Learn.Start)
	if err != nil {
		return err
	}
	if err := w.draft.Write(modelName, data); err != nil {
		return err
	}
	report, err := w.scored(ctx, w.next, &w.dev)
	if err == nil {
		w.Validation = scoresOf(report)
	}
	return err
}

func (w *turning) templateName() string {
	if names := w.Learn.Templates; len(names) > 0 {
		return names[min(w.Number, len(names)-1)]
	}
	return w.Config.Train.Template
}

// fitted trains with the labelled notes and some groups, and scores on the
// validation notes.
func (w *turning) fitted(ctx context.Context, groups []group) (*score.Report, error) {
	f, err := w.fit(ctx, w.Template, modelName, groups)
	if err != nil {
		return nil, err
	}
	w.next, w.Training = f.model, f.record
	return w.scored(ctx, w.next, &w.dev)
}

// drop trains without the notes of one earlier turn, and leaves them out for
// good if that does not lower the F1 on the validation notes: earlier examples
// are kept by their effect on the score (BOOT §6 names it as future work).
func (w *turning) drop(ctx context.Context) error {
	if len(w.Groups) < 2 {
		return nil
	}
	k := w.Number % (len(w.Groups) - 1) // the newest one stays: its turn has just begun
	model, training := w.next, w.Training
	without := slices.Delete(slices.Clone(w.Groups), k, k+1)
	report, err := w.fitted(ctx, without)
	if err != nil {
		return err
	}
	if s := scoresOf(report); s.Strict.F1 >= w.Validation.Strict.F1 {
		w.Dropped = append(w.Dropped, w.Groups[k].Turn)
		w.Groups, w.Validation = without, s
		return nil
	}
	w.next, w.Training = model, training
	return nil
}

// fit is a trained model and what it was trained on.
type fit struct {
	model  *model
	record trainingRecord
}

// fit trains a model with a template, beginning at the weights of the same
// model of the turn before.
func (w *turning) fit(ctx context.Context, template, name string, groups []group) (*fit, error) {
	c := *w.Config
	c.Train.Template = template
	t := &training{app: w.app, cfg: &c, flags: &trainFlags{labels: w.labels, out: filepath.Join(w.turn.name(), name), name: fmt.Sprintf("%s, turn %d", w.labels, w.Number)}}
	if w.Number > 0 && w.Learn.Warm && !(w.Number == 1 && w.Learn.Start != "") {
		t.flags.init = filepath.Join(w.out, w.last().name(), name)
	}
	if name == modelName {
		if err := w.cluster(ctx, t, groups); err != nil {
			return nil, err
		}
	}
	reading := w.spent.on("read")
	if err := t.prepare(); err != nil {
		return nil, err
	}
	r, err := w.teach(ctx, t, &w.gold, groups)
	if err != nil {
		return nil, err
	}
	reading()
	defer w.spent.on("train")()
	m, err := t.fit(ctx)
	if err != nil {
		return nil, err
	}
	m.label = labelOptions(w.Config)
	h := m.crf.Header()
	r.Iterations = h.Training.Iterations
	r.Features, r.Weights = m.crf.Size()
	return &fit{m, r}, nil
}

// teach adds labelled notes, answers and groups to the corpus of a training.
func (w *turning) teach(ctx context.Context, t *training, gold *labelled, groups []group) (r trainingRecord, err error) {
	if err := gold.each(func(src pipeline.Source) error { return t.teach(ctx, src) }); err != nil {
		return r, err
	}
	r.Gold = t.taught.Notes
	for i := range w.answers {
		if err := w.answers[i].each(func(src pipeline.Source) error { return t.teach(ctx, src) }); err != nil {
			return r, err
		}
	}
	r.Answers = t.taught.Notes - r.Gold
	for _, g := range groups {
		if err := t.learn(ctx, w.file(g)); err != nil {
			return r, err
		}
	}
	r.Chosen = t.taught.Notes - r.Gold - r.Answers
	r.Tokens, r.Spans = t.taught.Tokens, t.taught.Spans
	return r, nil
}

// cluster gives a training the clusters of learn.clusters that are best for
// the turn: they are chosen once a turn, on labelled notes alone.
func (w *turning) cluster(ctx context.Context, t *training, groups []group) error {
	if len(w.Learn.Clusters) == 0 {
		return nil
	}
	if w.chosen == nil {
		defer w.spent.on("clusters")()
		t.flags.lookups.clusters = w.Learn.Clusters
		if err := t.prepare(); err != nil { // says what is wrong before the first trial
			return err
		}
		err := t.choose(ctx, w.gold, w.Learn.Seed, func(trial *training, gold *labelled) error {
			_, err := w.teach(ctx, trial, gold, groups)
			return err
		})
		if err != nil {
			return err
		}
		w.chosen, w.Offers = &t.flags.lookups, t.offers
	}
	t.flags.lookups, t.offers = *w.chosen, w.Offers
	return nil
}

func (w *turning) save(name string, m *model) error {
	data, err := m.file()
	if err != nil {
		return err
	}
	return w.draft.Write(name, data)
}

// scored tags labelled notes with a model, with the stages of `velum tag`, and
// scores them.
func (l *learning) scored(ctx context.Context, m *model, on *labelled) (*score.Report, error) {
	defer l.spent.on("score")()
	s := score.New(score.Options{Draws: -1, Map: l.toSet})
	err := on.each(func(src pipeline.Source) error {
		p := &plan{Config: l.Config, model: m, workers: workers(l.Config)}
		steps, err := p.tagSteps()
		if err != nil {
			return err
		}
		return pipeline.Run(ctx, src, steps, s, nil)
	})
	return s.Report(), err
}

// reliabilityBins of the reliability curve: ten, as in the literature.
const reliabilityBins = 10

// calibrate compares the confidences of the new model with what is right of
// its answers on the validation notes, by the unit of learning.
func (w *turning) calibrate(ctx context.Context) error {
	defer w.spent.on("calibrate")()
	e := &examples{set: w.next.tagSet, toSet: w.toSet, empty: w.Config.Choose.WithoutSpans > 0}
	err := w.dev.each(func(src pipeline.Source) error {
		p := &plan{Config: w.Config, model: w.next, workers: workers(w.Config)}
		return pipeline.Run(ctx, w.pieces(src), []pipeline.Step{tokenized(w.Config), p.tagged()}, e, nil)
	})
	if err != nil {
		return err
	}
	c := &w.turn.Calibration
	if c.Map, err = calibrate.Fit(w.Learn.Calibrate, e.all); err != nil {
		return err
	}
	method := w.Learn.Calibrate
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
	if l.Learn.Unit == "line" {
		return read.NewLines(src)
	}
	return src
}

// examples is a sink that compares tags with gold spans.
type examples struct {
	set        *pipeline.TagSet
	toSet      func(pipeline.Category) pipeline.Category
	empty      bool // those without spans count too
	all        []calibrate.Example
	got, wants []pipeline.Span
	tags       []pipeline.Tag
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

// gate decides whether the model of the turn goes into use: if its F1 on the
// validation notes is higher than that of the one in use, and no category
// loses recall or masking recall on the notes of the gate.
func (w *turning) gate(ctx context.Context) error {
	on := w.Validation
	if len(w.Learn.Gate) > 0 {
		report, err := w.scored(ctx, w.next, &w.learning.gate)
		if err != nil {
			return err
		}
		on = scoresOf(report)
		w.turn.Gate = &on
	}
	var inUse *turn
	for _, t := range w.turns {
		if t.Promoted {
			inUse = t
		}
	}
	if inUse == nil {
		w.Promoted = true
		return nil
	}
	was := &inUse.Validation
	if inUse.Gate != nil {
		was = inUse.Gate
	}
	w.Gated = losses(was, &on, w.Learn.GateTolerance)
	w.Promoted = w.f1() > inUse.f1() && len(w.Gated) == 0
	return nil
}

// losses lists the categories that lose more recall than is tolerated.
func losses(was, now *scores, tolerance float64) []gateLine {
	lost := []gateLine{}
	for _, before := range was.Categories {
		if before.Gold == 0 {
			continue
		}
		after := categoryScore{}
		for _, c := range now.Categories {
			if c.Category == before.Category {
				after = c
			}
		}
		for _, m := range []struct {
			name     string
			was, now float64
		}{{"recall", before.Recall, after.Recall}, {"masked_recall", before.MaskedRecall, after.MaskedRecall}} {
			if m.now < m.was-tolerance-1e-9 {
				lost = append(lost, gateLine{before.Category, m.name, m.was, m.now})
			}
		}
	}
	return lost
}

func holdsSpan(tags []pipeline.Tag) bool {
	return slices.ContainsFunc(tags, func(t pipeline.Tag) bool { return t != pipeline.O })
}
