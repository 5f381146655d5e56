package learn

import (
	"context"
	"slices"

	"github.com/velum-health/velum/cmd/velum/internal/flow"
	"github.com/velum-health/velum/cmd/velum/internal/lab/turns"
	"github.com/velum-health/velum/cmd/velum/internal/report"
	"github.com/velum-health/velum/stages/score"
)

// judge scores the model of the turn and decides whether it replaces the one in use. Both tag the same notes, and all
// differences are judged by intervals paired by note, so that a few notes decide nothing (see turns.Judgment). Both
// models include the new answers (see base). A given model that cannot be trained again is compared unchanged.
func (t *turning) judge(ctx context.Context) error {
	if !t.of.measured() {
		t.record.Decide() // nothing was compared: the newest one is in use
		return nil
	}
	now, err := t.of.scored(ctx, t.newest)
	if err != nil {
		return err
	}
	t.record.Validation = turns.ScoresOf(now.Report())
	if t.record.Number > 0 && !t.sameAgain() {
		if err := t.compare(ctx, now); err != nil {
			return err
		}
	}
	t.record.Decide()
	return nil
}

// compare compares the turn's model with the one in use: their strict F1, and what they find and mask.
func (t *turning) compare(ctx context.Context, now *score.Scorer) error {
	was, err := t.of.scored(ctx, t.before)
	if err != nil {
		return err
	}
	scores := turns.ScoresOf(was.Report())
	t.record.Was = &scores
	ends, err := now.DifferenceInterval(was, score.Strict, turns.Draws, seed)
	if err != nil {
		return err
	}
	t.record.Better = new(report.RoundedEnds(ends.F1))
	t.record.Compared, err = turns.Compare(was, now)
	return err
}

// picked gives the model by which a judge tags its notes.
type picked = func(judge *learning) (*flow.Model, error)

// sameAgain reports whether the turn was trained on the same notes as the model in use plus new answers, so that no
// second candidate is needed.
func (t *turning) sameAgain() bool {
	in, ships := t.of.shipped(t.record.Number)
	return in.Answers < t.record.Answers && !t.untrained(in) && slices.Equal(ships.Groups, t.record.Groups)
}

// untrained reports whether the model of a turn was given by the user and cannot be trained again.
func (t *turning) untrained(in *turns.Turn) bool { return in.Number == 0 && t.of.cfg.Learn.Start != "" }

// again reports whether the model in use is to be trained again with the answers since.
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

// base trains the model in use again, on its own training set and the answers since. It goes into use if the turn's
// model does not pass the gate, so that no answer is lost.
func (t *turning) base(ctx context.Context) error {
	_, ships := t.of.shipped(t.record.Number)
	f, err := t.fit(ctx, baseName, ships.Groups)
	if err == nil {
		t.record.Base, t.protected = &turns.Base{Of: t.of.whole().inUseBefore(t.record.Number).Number, File: baseName, Groups: ships.Groups,
			Training: f.record}, f.model
	}
	return err
}
