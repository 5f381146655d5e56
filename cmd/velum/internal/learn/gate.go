package learn

import (
	"context"
	"slices"

	"github.com/velum-health/velum/cmd/velum/internal/flow"
	"github.com/velum-health/velum/cmd/velum/internal/report"
	"github.com/velum-health/velum/cmd/velum/internal/turns"
	"github.com/velum-health/velum/stages/score"
)

// judge scores the model of the turn, calibrates its confidences, and decides
// whether it goes into use.
func (t *turning) judge(ctx context.Context) error {
	if !t.of.measured() {
		t.record.Promoted = true // the newest one is in use
		return nil
	}
	now, err := t.of.scored(ctx, t.newest)
	if err != nil {
		return err
	}
	t.record.Validation = turns.ScoresOf(now.Report())
	if err := t.calibrate(ctx); err != nil {
		return err
	}
	return t.gate(ctx, now)
}

// gate decides whether the turn's model goes into use: if it is better than the one in use, beyond chance, and loses nothing. Both tag the same notes; the interval of the difference in strict F1, by note, has to lie above 0. So a few notes
// decide nothing. What people have answered since the one in use is in both: see base. A model that was given and that learning
// cannot train again is compared as it is.
func (t *turning) gate(ctx context.Context, now *score.Scorer) error {
	if err := t.gateScores(ctx); err != nil {
		return err
	}
	if t.record.Number == 0 || t.sameAgain() {
		t.record.Promoted = true
		return nil
	}
	was, err := t.of.scored(ctx, t.before)
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
	if len(t.of.cfg.Learn.Gate) > 0 {
		if now, was, err = t.onGate(ctx); err != nil {
			return err
		}
	}
	t.record.Gated, err = turns.Losses(was, now, t.of.cfg.Learn.GateTolerance)
	t.record.Promoted = t.record.Better[0] > 0 && len(t.record.Gated) == 0
	return err
}

// gateScores scores the model of the turn on the notes of the gate, if there are some.
func (t *turning) gateScores(ctx context.Context) error {
	if len(t.of.cfg.Learn.Gate) == 0 {
		return nil
	}
	s, err := t.of.gateScorer(ctx, t.next)
	scores := turns.ScoresOf(s.Report())
	t.record.Gate = &scores
	return err
}

func (l *learning) gateScorer(ctx context.Context, m *flow.Model) (*score.Scorer, error) {
	s := score.New(score.Options{Map: l.toSet})
	return s, l.gate.ScoreTo(ctx, flow.With(l.cfg, m), s)
}

// onGate scores the model of the turn and the one that it is held against on the notes of the gate, which none has seen.
func (t *turning) onGate(ctx context.Context) (now, was *score.Scorer, err error) {
	before, err := t.before(t.of)
	if err != nil {
		return nil, nil, err
	}
	if was, err = t.of.gateScorer(ctx, before); err != nil {
		return nil, nil, err
	}
	now, err = t.of.gateScorer(ctx, t.next)
	return now, was, err
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
