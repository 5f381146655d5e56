package learn

import (
	"fmt"

	"github.com/velum-health/velum/cmd/velum/internal/lab/turns"
	"github.com/velum-health/velum/cmd/velum/internal/page"
)

// learned is the report of what was learned so far.
func (l *learning) learned() *turns.Report {
	from := l.comparable()
	best := l.best(from)
	r := &turns.Report{
		Schema: turns.ReportSchema, Supervised: l.turns[from].Validation, BestTurn: best.Number, Best: best.Validation,
		From: from, Turns: l.turns, Measured: l.measured(), Folds: len(l.folds),
	}
	if was := l.turns[from].Was; was != nil {
		r.Supervised = *was
	}
	r.In(page.LanguageOf(l.cfg.Report.Lang))
	r.Promoted = l.inUse().Number
	gain, on := r.Best.Strict.F1-r.Supervised.Strict.F1, r.On()
	switch {
	case !l.measured():
		r.Sentence = r.Words().Text("learn unmeasured", r.Words().Plural(int64(l.last().Number), "a turn"))
		if l.unmeasuredEnd() {
			r.Remarks = append(r.Remarks, r.Words().Text("learn ask"))
		}
	case gain <= 0:
		r.Sentence = r.Words().Text("learn no gain", r.Score(r.Supervised.Strict.F1), on)
	default:
		r.Sentence = r.Words().Text("learn gain", r.Score(r.Supervised.Strict.F1), r.Score(r.Best.Strict.F1), fmt.Sprint(r.BestTurn), on)
	}
	l.remark(r)
	return r
}

// wideEnds is the width of an F1 interval from which the report warns: no gain of self-learning is as large.
const wideEnds = 0.1

// remark says what is to be thought of the figures.
func (l *learning) remark(r *turns.Report) {
	if t := l.turns[r.BestTurn]; !t.Promoted && t.Better != nil {
		r.Remarks = append(r.Remarks, r.NotInUse(t))
	}
	if ends := r.Best.F1Ends; ends != nil && ends[1]-ends[0] > wideEnds {
		r.Remarks = append(r.Remarks, r.Words().Text("learn few", r.On(), r.Score(ends[0]), r.Score(ends[1])))
	}
	if n := l.answered; n.Notes > 0 {
		r.Remarks = append(r.Remarks, r.Words().Text("learn answers", r.Words().Plural(int64(n.Notes), "note"), fmt.Sprint(n.Unchanged)))
	}
	switch in := l.inUse(); {
	case in.Answers == 0 || in.Answers < len(l.answers): // no answers, or the next turn learns from them
	case in.Promoted:
		r.Remarks = append(r.Remarks, r.Words().Text("learn taught", fmt.Sprint(in.Number)))
	default:
		r.Remarks = append(r.Remarks, r.Words().Text("learn base", fmt.Sprint(in.Number), r.Score(in.F1()), r.Score(in.Was.Strict.F1)))
	}
}

// report writes report.json and report.html.
func (l *learning) report() error { return l.learned().Write(l.out) }
