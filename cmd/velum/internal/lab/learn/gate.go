package learn

import (
	"context"
	"slices"

	"github.com/velum-health/velum/cmd/velum/internal/flow"
	"github.com/velum-health/velum/cmd/velum/internal/lab/turns"
	"github.com/velum-health/velum/cmd/velum/internal/report"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/stages/score"
)

// judge scores the model of the turn, calibrates its confidences, and decides
// whether it goes into use.
func (t *turning) judge(ctx context.Context) error {
	if !t.of.measured() {
		t.record.Promoted = true // the newest one is in use
		return nil
	}
	now, err := t.of.scored(ctx, t.alone(t.newest))
	if err != nil {
		return err
	}
	t.record.Validation = turns.ScoresOf(now.Report())
	if err := t.calibrate(ctx); err != nil {
		return err
	}
	return t.gate(ctx, now)
}

// gate decides whether the turn's model goes into use: if it is better than the one in use, beyond chance, and loses nothing. Both
// tag the same notes; the interval of the difference in strict F1, by note, has to lie above 0. So a few notes decide nothing. What
// people have answered since the one in use is in both: see base. A model that was given and that learning cannot train again is
// compared as it is.
func (t *turning) gate(ctx context.Context, now *score.Scorer) error {
	found := turns.Compared{Now: now}
	if err := t.gateScores(ctx, &found); err != nil {
		return err
	}
	if t.record.Number == 0 || t.sameAgain() {
		t.record.Promoted = true
		return nil
	}
	was, err := t.of.scored(ctx, t.alone(t.before))
	if err != nil {
		return err
	}
	scores := turns.ScoresOf(was.Report())
	if t.record.Was = &scores; t.record.Base != nil {
		t.record.Base.Validation = scores
	}
	ends, err := now.DifferenceInterval(was, score.Strict, turns.Draws, uint64(t.of.cfg.Learn.Seed))
	if err != nil {
		return err
	}
	t.record.Better = &[2]float64{report.Rounded(ends.F1[0]), report.Rounded(ends.F1[1])}
	if found.Was = was; len(t.of.cfg.Learn.Gate) > 0 {
		if found.Was, err = t.of.guarded(ctx, t.alone(t.before)); err != nil {
			return err
		}
	}
	if t.record.Gated, err = t.losses(ctx, found); err != nil {
		return err
	}
	t.record.Promoted = t.record.Better[0] > 0 && len(t.record.Gated) == 0
	return nil
}

// losses lists what the turn's model loses. What a model finds it finds alone; what is lost of masking has to be lost by what
// masks: beside the inverse model of the configuration both models are scored once more, each with it. An identifier that the
// inverse model masks anyhow kept models out of use that were .13 strict F1 better (scripts/bench/results/19-learning.md).
func (t *turning) losses(ctx context.Context, found turns.Compared) (lost []turns.GateLine, err error) {
	masked := found
	if t.of.inverse != nil {
		if masked.Was, err = t.of.guarded(ctx, t.beside(t.before)); err != nil {
			return nil, err
		}
		if masked.Now, err = t.of.guarded(ctx, t.beside(t.newest)); err != nil {
			return nil, err
		}
		t.record.Pair = masked.Pair()
	}
	return turns.Losses(found, masked, t.of.cfg.Learn.GateTolerance)
}

// gateScores scores the model of the turn on the notes of the gate, if there are some.
func (t *turning) gateScores(ctx context.Context, found *turns.Compared) (err error) {
	if len(t.of.cfg.Learn.Gate) == 0 {
		return nil
	}
	if found.Now, err = t.of.guarded(ctx, t.alone(t.newest)); err != nil {
		return err
	}
	scores := turns.ScoresOf(found.Now.Report())
	t.record.Gate = &scores
	return nil
}

// tagging is what tags notes that are scored: a model for each judge, and the categories that are compared.
type tagging struct {
	model func(judge *learning) (*flow.Model, error)
	to    func(pipeline.Category) pipeline.Category
}

// alone is a model by itself.
func (t *turning) alone(pick func(*learning) (*flow.Model, error)) tagging {
	return tagging{pick, t.of.toSet}
}

// beside is a model with the inverse one beside it, as a run masks with the two. What that masks has a category of its own,
// which is in no label set: it counts as masked, and as found of none.
func (t *turning) beside(pick func(*learning) (*flow.Model, error)) tagging {
	model := func(judge *learning) (*flow.Model, error) {
		m, err := pick(judge)
		if err != nil {
			return nil, err
		}
		return m.Beside(t.of.inverse, t.of.cfg), nil
	}
	to := func(c pipeline.Category) pipeline.Category {
		if slices.Contains(t.of.inverse.TagSet().Categories, c) {
			return c
		}
		return t.of.toSet(c)
	}
	return tagging{model, to}
}

// guarded scores on the notes on which nothing may be lost: those of the gate, which no model has seen, or without any those
// that models are judged on.
func (l *learning) guarded(ctx context.Context, by tagging) (*score.Scorer, error) {
	if len(l.cfg.Learn.Gate) == 0 {
		return l.scored(ctx, by)
	}
	m, err := by.model(l)
	if err != nil {
		return nil, err
	}
	s := score.New(score.Options{Map: by.to})
	return s, l.gate.ScoreTo(ctx, flow.With(l.cfg, m), s)
}

// sameAgain tells whether the turn learned from what the model in use has, and from new answers: there is nothing else that
// could have them.
func (t *turning) sameAgain() bool {
	in, ships := t.of.shipped()
	return in.Answers < t.record.Answers && !t.untrained(in) && slices.Equal(ships.Groups, t.record.Groups)
}

// untrained tells whether the model of a turn was given: learning cannot train it again.
func (t *turning) untrained(in *turns.Turn) bool { return in.Number == 0 && t.of.cfg.Learn.Start != "" }

// again tells whether what the model in use learned from is to be trained once more, with answers that came since.
func (t *turning) again() bool {
	if t.whole != nil {
		return t.whole.again()
	}
	if t.record.Number == 0 || !t.of.measured() {
		return false
	}
	in := t.of.inUse()
	return in.Answers < t.record.Answers && !t.untrained(in) && !t.sameAgain()
}

// base trains what the model in use learned from once more, with the answers that came since. It goes into use if the turn's
// model does not pass the gate: a person's answers count as labelled notes, whatever the archive is worth.
func (t *turning) base(ctx context.Context) error {
	_, ships := t.of.shipped()
	f, err := t.fit(ctx, t.record.Template, baseName, ships.Groups)
	if err == nil {
		t.record.Base, t.protected = &turns.Base{File: baseName, Groups: ships.Groups, Training: f.record}, f.model
	}
	return err
}
