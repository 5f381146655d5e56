package learn

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/velum-health/velum/cmd/velum/internal/flow"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/cmd/velum/internal/report"
	"github.com/velum-health/velum/cmd/velum/internal/train"
	"github.com/velum-health/velum/cmd/velum/internal/turns"
	"github.com/velum-health/velum/models/tag/calibrate"
	"github.com/velum-health/velum/models/tag/ensemble"
	"github.com/velum-health/velum/models/tag/tagger"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/durable"
	"github.com/velum-health/velum/stages/read/input"
	"github.com/velum-health/velum/stages/score"
)

// turn does the next turn and commits it. Turn 0 trains on the labelled notes
// alone: the supervised line.
func (l *learning) turn(ctx context.Context) error {
	t := &turns.Turn{Schema: turnSchema, Number: len(l.turns), Options: l.options, Groups: []turns.Group{}, Gated: []turns.GateLine{}}
	if t.Number > 0 {
		t.Parent = l.last().Sum
	}
	draft, err := durable.NewDraft(nil, filepath.Join(l.out, t.Name()))
	if err != nil {
		return err
	}
	w := &turning{of: l, record: t, draft: draft}
	if err := w.do(ctx); err != nil {
		return errors.Join(fmt.Errorf("turn %d: %w", t.Number, err), draft.Discard())
	}
	return l.commit(draft, t)
}

// turning is a turn that is being done.
type turning struct {
	of     *learning
	record *turns.Turn
	draft  *durable.Draft
	next   *flow.Model    // that the turn makes
	chosen *train.Lookups // clusters of the turn; nil before they are chosen
}

func (w *turning) do(ctx context.Context) error {
	if w.record.Number > 0 {
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
	return w.gate(ctx)
}

// file returns where a file of a group stands: those of this turn are in its
// draft.
func (w *turning) file(g turns.Group) string {
	if dir, name := filepath.Split(g.File); filepath.Clean(dir) == w.record.Name() {
		return w.draft.Path(name)
	}
	return filepath.Join(w.of.out, g.File)
}

// train fits the turn's model and scores it.
func (w *turning) train(ctx context.Context) error {
	if w.record.Number == 0 && w.of.cfg.Learn.Start != "" {
		return w.given(ctx)
	}
	w.record.Template, w.record.Answers = w.templateName(), len(w.of.answers)
	report, err := w.fitted(ctx, w.record.Groups)
	if err != nil {
		return err
	}
	w.record.Validation = turns.ScoresOf(report)
	if w.of.cfg.Learn.Drop {
		if err := w.drop(ctx); err != nil {
			return err
		}
	}
	if w.of.cfg.Learn.Agree == "" {
		return nil
	}
	_, err = w.fit(ctx, w.of.cfg.Learn.Agree, secondName, w.record.Groups)
	return err
}

// given takes the model of learn.start as that of turn 0.
func (w *turning) given(ctx context.Context) (err error) {
	data, err := flow.ModelData(w.of.cfg.Learn.Start)
	if err != nil {
		return err
	}
	if w.next, err = w.write(modelName, data); err != nil {
		return err
	}
	report, err := w.of.scored(ctx, w.next, &w.of.dev)
	if err == nil {
		w.record.Validation = turns.ScoresOf(report)
	}
	return err
}

func (w *turning) templateName() string {
	if names := w.of.cfg.Learn.Templates; len(names) > 0 {
		return names[min(w.record.Number, len(names)-1)]
	}
	return w.of.cfg.Train.Template
}

// fitted trains with the labelled notes and some groups, and scores on the
// validation notes.
func (w *turning) fitted(ctx context.Context, groups []turns.Group) (*score.Report, error) {
	f, err := w.fit(ctx, w.record.Template, modelName, groups)
	if err != nil {
		return nil, err
	}
	w.next, w.record.Training = f.model, f.record
	return w.of.scored(ctx, w.next, &w.of.dev)
}

// drop trains without the notes of one earlier turn, and leaves them out for
// good if that does not lower the F1 on the validation notes: earlier examples
// are kept by their effect on the score (BOOT §6 names it as future work).
func (w *turning) drop(ctx context.Context) error {
	if len(w.record.Groups) < 2 {
		return nil
	}
	k := w.record.Number % (len(w.record.Groups) - 1) // the newest one stays: its turn has just begun
	model, training, files := w.next, w.record.Training, map[string][]byte{}
	for _, name := range w.files(modelName) {
		data, err := os.ReadFile(w.draft.Path(name))
		if err != nil {
			return err
		}
		files[name] = data
	}
	without := slices.Delete(slices.Clone(w.record.Groups), k, k+1)
	report, err := w.fitted(ctx, without)
	if err != nil {
		return err
	}
	if s := turns.ScoresOf(report); s.Strict.F1 >= w.record.Validation.Strict.F1 {
		w.record.Dropped = append(w.record.Dropped, w.record.Groups[k].Turn)
		w.record.Groups, w.record.Validation = without, s
		return nil
	}
	w.next, w.record.Training = model, training
	for _, name := range w.files(modelName) {
		if err := w.draft.Write(name, files[name]); err != nil {
			return err
		}
	}
	return nil
}

// files are those of a model in the turn's folder: its own, and those of its members if it has some.
func (w *turning) files(name string) []string {
	all := []string{name}
	if kinds := flow.Together(w.of.kind(w.record.Number)); len(kinds) > 1 {
		for k := range kinds {
			all = append(all, memberName(k, name))
		}
	}
	return all
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
		from = w.of.inUse()
		name = strings.TrimSuffix(name, baseName) + from.Ships().File
	}
	if from.Number == 0 && w.of.cfg.Learn.Start != "" || w.of.kind(w.record.Number) != w.of.kind(from.Number) {
		return ""
	}
	return filepath.Join(w.of.out, from.Name(), name)
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
	notes := &w.of.dev
	if !w.of.measured() {
		notes = &w.of.gold
	}
	if err := notes.Each(func(src pipeline.Source) error { return t.Teach(ctx, src) }); err != nil {
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
	return train.New(w.of.console, c, &train.Options{Kind: kind, Labels: w.of.labels, Out: filepath.Join(w.record.Name(), name), Name: fmt.Sprintf("%s, turn %d", w.of.labels, n)})
}

// fitOne trains a model of one kind.
func (w *turning) fitOne(ctx context.Context, c *option.Config, kind, name string, groups []turns.Group) (*fit, error) {
	t := w.training(c, kind, name)
	t.Options.Init = w.init(name)
	if !strings.HasSuffix(name, secondName) {
		if err := w.cluster(ctx, t, groups); err != nil {
			return nil, err
		}
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
	if m, err = w.fineTuned(ctx, c, kind, name, m, r.Chosen); err != nil {
		return nil, err
	}
	if m, err = w.save(name, m); err != nil {
		return nil, err
	}
	if sized, ok := m.Model.(tagger.Sized); ok {
		r.Features, r.Weights = sized.Size()
	}
	return &fit{m, r}, nil
}

// fineTuned goes on with a model on the labelled notes and answers alone, as
// learn.fine_tune says: what the archive taught is mostly right, they are.
func (w *turning) fineTuned(ctx context.Context, c *option.Config, kind, name string, m *flow.Model, chosen int) (*flow.Model, error) {
	k, _ := flow.KindNamed(kind)
	if w.of.cfg.Learn.FineTune == 0 || k.Tune == nil || chosen == 0 {
		return m, nil
	}
	before := "before-" + name
	if _, err := w.save(before, m); err != nil {
		return nil, err
	}
	tuned := *c
	k.Tune(&tuned, w.of.cfg.Learn.FineTune)
	t := w.training(&tuned, kind, name)
	t.Options.Init = w.draft.Path(before)
	if err := t.Prepare(); err != nil {
		return nil, err
	}
	if _, err := w.teach(ctx, t, &w.of.gold, nil); err != nil {
		return nil, err
	}
	m, err := t.Fit(ctx)
	return m, errors.Join(err, w.draft.Remove(before))
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

// scored tags labelled notes with a model and scores them.
func (l *learning) scored(ctx context.Context, m *flow.Model, on *flow.Labelled) (*score.Report, error) {
	s, err := l.scorer(ctx, m, on)
	return s.Report(), err
}

func (l *learning) scorer(ctx context.Context, m *flow.Model, on *flow.Labelled) (*score.Scorer, error) {
	defer l.spent.on("score")()
	return on.Score(ctx, flow.With(l.cfg, m), score.Options{Map: l.toSet})
}

// reliabilityBins of the reliability curve: ten, as in the literature.
const reliabilityBins = 10

// calibrate compares the confidences of the new model with what is right of
// its answers on the validation notes, by the unit of learning.
func (w *turning) calibrate(ctx context.Context) error {
	if !w.of.measured() {
		return nil
	}
	defer w.of.spent.on("calibrate")()
	set := w.next.TagSet()
	if w.of.pipeline() {
		set = w.of.tagSet
	}
	e := &examples{set: set, toSet: w.of.toSet, empty: w.of.cfg.Choose.WithoutSpans > 0}
	steps, err := w.of.taughtSteps(w.next, nil)
	if err != nil {
		return err
	}
	err = w.of.dev.Each(func(src pipeline.Source) error { return pipeline.Run(ctx, w.of.pieces(src), steps, e, nil) })
	if err != nil {
		return err
	}
	c := &w.record.Calibration
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

// gate decides whether the model of the turn goes into use: if its F1 on the
// validation notes is higher than that of the one in use, and no category
// loses recall or masking recall on the notes of the gate. Without validation
// notes the F1 is that on the notes of the gate; without these too the newest
// model is the one in use. What people have answered since is in both models that
// the gate compares: see base.
func (w *turning) gate(ctx context.Context) (err error) {
	if w.record.Gate, err = w.gated(ctx, w.next); err != nil {
		return err
	}
	if len(w.of.turns) == 0 || !w.of.measured() && len(w.of.gate.Paths) == 0 {
		w.record.Promoted = true
		return nil
	}
	inUse := w.of.inUse()
	was, before := inUse.Ships(), (*flow.Model)(nil)
	if inUse.Answers < w.record.Answers {
		if w.onlyModel(inUse) {
			w.record.Promoted = true
			return nil
		}
		if before, err = w.base(ctx, was.Groups); err != nil {
			return err
		}
		was = w.record.Base
	}
	now := &turns.Base{Validation: w.record.Validation, Gate: w.record.Gate}
	w.record.Gated = losses(was.Gateway(), now.Gateway(), w.of.cfg.Learn.GateTolerance)
	better := now.Validation.Strict.F1 > was.Validation.Strict.F1
	if !w.of.measured() {
		better = now.Gateway().Strict.F1 > was.Gateway().Strict.F1
	}
	w.record.Promoted = better && len(w.record.Gated) == 0
	if !w.record.Promoted || !w.of.measured() {
		return nil
	}
	if before == nil {
		if before, err = w.of.opened(inUse, was.File); err != nil {
			return err
		}
	}
	return w.chance(ctx, before)
}

// gated scores a model on the notes of the gate, if these are others than the validation notes.
func (w *turning) gated(ctx context.Context, m *flow.Model) (*turns.Scores, error) {
	if len(w.of.cfg.Learn.Gate) == 0 {
		return nil, nil
	}
	report, err := w.of.scored(ctx, m, &w.of.gate)
	if err != nil {
		return nil, err
	}
	scores := turns.ScoresOf(report)
	return &scores, nil
}

// onlyModel tells whether the model of the turn is the only one that can have the new answers: the one in use was given and
// learning cannot train it again, or it would be trained with just what the turn has.
func (w *turning) onlyModel(inUse *turns.Turn) bool {
	return inUse.Number == 0 && w.of.cfg.Learn.Start != "" || slices.Equal(inUse.Ships().Groups, w.record.Groups)
}

// base trains what the model in use learned from once more, with the answers that came since. It goes into use if the turn's
// model does not pass the gate: a person's answers count as labelled notes, whatever the archive is worth.
func (w *turning) base(ctx context.Context, groups []turns.Group) (*flow.Model, error) {
	f, err := w.fit(ctx, w.record.Template, baseName, groups)
	if err != nil {
		return nil, err
	}
	report, err := w.of.scored(ctx, f.model, &w.of.dev)
	if err != nil {
		return nil, err
	}
	b := &turns.Base{File: baseName, Groups: groups, Training: f.record, Validation: turns.ScoresOf(report)}
	b.Gate, err = w.gated(ctx, f.model)
	w.record.Base = b
	return f.model, err
}

// chance finds out how likely the gain over the model before is between models
// that are alike: approximate randomization on the validation notes, which both
// tag.
func (w *turning) chance(ctx context.Context, before *flow.Model) error {
	was, err := w.of.scorer(ctx, before, &w.of.dev)
	if err != nil {
		return err
	}
	now, err := w.of.scorer(ctx, w.next, &w.of.dev)
	if err != nil {
		return err
	}
	test, err := now.Compare(was, score.Strict, 0, uint64(w.of.cfg.Learn.Seed))
	if err == nil {
		p := report.Rounded(test.Alpha.F1)
		w.record.Chance = &p
	}
	return err
}

// losses lists the categories that lose more recall than is tolerated.
func losses(was, now *turns.Scores, tolerance float64) []turns.GateLine {
	lost := []turns.GateLine{}
	for _, before := range was.Categories {
		if before.Gold == 0 {
			continue
		}
		after := turns.CategoryScore{}
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
				lost = append(lost, turns.GateLine{Category: before.Category, Measure: m.name, Was: m.was, Now: m.now})
			}
		}
	}
	return lost
}

func holdsSpan(tags []pipeline.Tag) bool {
	return slices.ContainsFunc(tags, func(t pipeline.Tag) bool { return t != pipeline.O })
}
