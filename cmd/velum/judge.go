package main

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/velum-health/velum/models/crf"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/stages/score"
)

// judge scores a model on the development notes, with the stages of `velum
// tag`, and sets its recall dial.
func (t *training) judge(ctx context.Context, m *model) error {
	report, err := t.scored(ctx, m, t.dev())
	if err != nil {
		return err
	}
	h := m.crf.Header()
	h.Scores = map[string]float64{}
	for _, k := range []score.Measure{score.Strict, score.Span, score.Merged, score.MaskedEntities, score.MaskedCharacters} {
		at, _ := report.Measure(k)
		h.Scores[k.String()+"_f1"] = at.F1
		h.Scores[k.String()+"_recall"] = at.Recall
	}
	if h.RecallDial, err = t.dial(ctx, m); err != nil {
		return err
	}
	m.crf = m.crf.SetHeader(h)
	return nil
}

// biases are the settings of the recall dial that are tried. Scores are log
// odds: 1 makes O 2.7 times less likely at every token. Beyond 10 nearly
// everything is masked.
var biases = []float32{0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4, 5, 6, 7, 8, 10}

// dial measures masking recall by entity, and precision, at each bias. A
// setting that reaches no more than a smaller one is left out.
func (t *training) dial(ctx context.Context, m *model) (points []crf.DialPoint, err error) {
	progress := t.newProgress("recall dial", "settings", int64(len(biases)))
	defer progress.End()
	biased := *m
	for _, b := range biases {
		biased.label.OBias = b
		report, err := t.scored(ctx, &biased, t.dev())
		if err != nil {
			return nil, err
		}
		at, _ := report.Measure(score.MaskedEntities)
		if len(points) == 0 || at.Recall > points[len(points)-1].Recall {
			points = append(points, crf.DialPoint{Recall: at.Recall, Bias: b, Precision: at.Precision})
		}
		progress.Add(1)
	}
	return points, nil
}

// strictF1 is what early stopping and the choice of clusters go by.
func (t *training) strictF1(ctx context.Context, c *crf.Model, on *labelled) (float64, error) {
	m, err := t.wrap(c)
	if err != nil {
		return 0, err
	}
	report, err := t.scored(ctx, m, on)
	if err != nil {
		return 0, err
	}
	at, _ := report.Measure(score.Strict)
	return at.F1, nil
}

// dev are the development notes.
func (t *training) dev() *labelled { return &labelled{paths: t.flags.dev} }

// scored tags labelled notes with a model and scores them.
func (t *training) scored(ctx context.Context, m *model, on *labelled) (*score.Report, error) {
	toLabels, err := intoScheme(t.flags.labels)
	if err != nil {
		return nil, exit(exitConfig, err, "")
	}
	s := score.New(score.Options{Draws: -1, Map: toLabels})
	err = on.each(func(src pipeline.Source) error {
		p := &plan{Config: t.cfg, model: m, workers: workers(t.cfg)}
		steps, err := p.tagSteps()
		if err != nil {
			return err
		}
		return pipeline.Run(ctx, src, steps, s, nil)
	})
	return s.Report(), err
}

// printScoresOf prints what a model's header says of its quality.
func printScoresOf(w io.Writer, h crf.Header) error {
	names := make([]string, 0, len(h.Scores))
	for name := range h.Scores {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if _, err := fmt.Fprintf(w, "  %-26s %.4f\n", name, h.Scores[name]); err != nil {
			return err
		}
	}
	for _, p := range h.RecallDial {
		if _, err := fmt.Fprintf(w, "  recall dial: bias %4.1f  masking recall %.4f  precision %.4f\n", p.Bias, p.Recall, p.Precision); err != nil {
			return err
		}
	}
	return nil
}
