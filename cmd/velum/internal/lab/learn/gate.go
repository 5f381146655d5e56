package learn

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/velum-health/velum/cmd/velum/internal/flow"
	"github.com/velum-health/velum/cmd/velum/internal/lab/turns"
	"github.com/velum-health/velum/cmd/velum/internal/report"
	"github.com/velum-health/velum/pipeline/durable"
	"github.com/velum-health/velum/stages/score"
)

// judge scores the model of the turn, and decides whether it goes into use.
func (t *turning) judge(ctx context.Context) error {
	if !t.of.measured() {
		t.record.Decide(t.of.cfg.Learn.GateTolerance) // nothing was compared: the newest one is in use
		return nil
	}
	now, err := t.of.scored(ctx, t.newest)
	if err != nil {
		return err
	}
	t.record.Validation = turns.ScoresOf(now.Report())
	return t.gate(ctx, now)
}

// gate compares the turn's model with the one in use, and decides whether it takes its place. Both tag the same notes; all
// differences are judged by their intervals, paired by note, so a few notes decide nothing: see turns.Judgment. What people have
// answered since the one in use is in both: see base. A model that was given and that learning cannot train again is compared as it
// is. now is nil where a turn is judged again.
func (t *turning) gate(ctx context.Context, now *score.Scorer) (err error) {
	j := &t.record.Judgment
	j.Was, j.Better, j.Compared = nil, nil, nil
	guarded := now
	if len(t.of.cfg.Learn.Gate) > 0 {
		if guarded, err = t.of.guarded(ctx, t.newest); err != nil {
			return err
		}
		scores := turns.ScoresOf(guarded.Report())
		t.record.Gate = &scores
	}
	if t.record.Number > 0 && !t.sameAgain() {
		if err := t.compare(ctx, now, guarded); err != nil {
			return err
		}
	}
	j.Decide(t.of.cfg.Learn.GateTolerance)
	return nil
}

// compare compares the turn's model with the one in use: their strict F1 on the notes that turns are judged on, what they find and
// mask on those on which nothing may be lost.
func (t *turning) compare(ctx context.Context, now, guarded *score.Scorer) error {
	was, err := t.of.scored(ctx, t.before)
	if err != nil {
		return err
	}
	scores := turns.ScoresOf(was.Report())
	t.record.Was = &scores
	ends, err := now.DifferenceInterval(was, score.Strict, turns.Draws, uint64(t.of.cfg.Learn.Seed))
	if err != nil {
		return err
	}
	t.record.Better = &[2]float64{report.Rounded(ends.F1[0]), report.Rounded(ends.F1[1])}
	if len(t.of.cfg.Learn.Gate) > 0 {
		if was, err = t.of.guarded(ctx, t.before); err != nil {
			return err
		}
	}
	t.record.Compared, err = turns.Compare(was, guarded)
	return err
}

// rejudge judges stored turns again: those that were judged with another tolerance, and those that were compared with another model
// than the one that is in use before them by now. A turn that was not measured is in use as before.
func (l *learning) rejudge(ctx context.Context) error {
	for _, t := range l.turns[min(1, len(l.turns)):] {
		in, tolerance := l.inUseBefore(t.Number), l.cfg.Learn.GateTolerance
		if t.Beside == in.Number && t.Tolerance == tolerance {
			continue
		}
		if t.Beside != in.Number && t.Validation.Notes > 0 {
			t.Beside = in.Number
			if err := l.compareAgain(ctx, t); err != nil {
				return fmt.Errorf("turn %d: %w", t.Number, err)
			}
		}
		t.Decide(tolerance)
		data, err := t.Encoded()
		if err != nil {
			return err
		}
		if err := durable.WriteFile(nil, filepath.Join(l.out, t.Name(), turns.FileName), data); err != nil {
			return err
		}
		l.console.Log.Info("turn judged again", "turn", t.Number, "in_use", t.InUse())
	}
	return nil
}

// compareAgain compares a stored turn with the model that is in use before it.
func (l *learning) compareAgain(ctx context.Context, t *turns.Turn) error {
	for _, f := range l.folds {
		if err := f.load(t.Number + 1); err != nil {
			return err
		}
	}
	w := &turning{of: l, record: t}
	now, err := l.scored(ctx, w.newest)
	if err != nil {
		return err
	}
	return w.gate(ctx, now)
}

// picked gives the model by which a judge tags its notes.
type picked = func(judge *learning) (*flow.Model, error)

// guarded scores on the notes of the gate, which no model has seen.
func (l *learning) guarded(ctx context.Context, pick picked) (*score.Scorer, error) {
	m, err := pick(l)
	if err != nil {
		return nil, err
	}
	s := score.New(score.Options{Map: l.toSet})
	return s, l.gate.ScoreTo(ctx, flow.With(l.cfg, m), s)
}

// sameAgain tells whether the turn learned from what the model in use has, and from new answers: there is nothing else that
// could have them.
func (t *turning) sameAgain() bool {
	in, ships := t.of.shipped(t.record.Number)
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
	in := t.of.inUseBefore(t.record.Number)
	return in.Answers < t.record.Answers && !t.untrained(in) && !t.sameAgain()
}

// base trains what the model in use learned from once more, with the answers that came since. It goes into use if the turn's
// model does not pass the gate: a person's answers count as labelled notes, whatever the archive is worth.
func (t *turning) base(ctx context.Context) error {
	_, ships := t.of.shipped(t.record.Number)
	f, err := t.fit(ctx, baseName, ships.Groups)
	if err == nil {
		t.record.Base, t.protected = &turns.Base{Of: t.of.whole().inUseBefore(t.record.Number).Number, File: baseName, Groups: ships.Groups, Training: f.record}, f.model
	}
	return err
}
