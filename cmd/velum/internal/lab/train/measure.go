package train

import (
	"context"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/flow"
	"github.com/velum-health/velum/cmd/velum/internal/option"
)

// Measure scores an existing model on labelled notes, sets its recall dial, calibrates its confidences on held-out
// notes (o.Held), and writes the model with the new header and the same weights. With o.Scores it copies the scores of
// another model instead. It ignores the training options in o.
func Measure(ctx context.Context, c *console.Console, cfg *option.Config, o *Options) error {
	m, err := flow.OpenModel(cfg.Tag.Model, cfg)
	if err != nil {
		return err
	}
	m.Label = flow.LabelOptions(cfg)
	t := New(c, cfg, o)
	t.Options.Labels = m.Labels
	t.kind, _ = flow.KindNamed(m.Header().Kind) // it was opened by it
	if o.Scores != "" {
		err = t.lend(m)
	} else if len(o.Dev) > 0 {
		err = t.judge(ctx, m)
	}
	if err == nil && len(o.Held) > 0 {
		err = t.calibrate(ctx, m)
	}
	if err != nil {
		return err
	}
	data, err := m.File()
	if err != nil {
		return err
	}
	h := m.Header()
	return writeModel(c, o.Out, data, map[string]any{"scores": h.Scores, "measured": h.Measured, "recall_dial": h.RecallDial, "risk": h.Risk}, `
{{with .risk}}  calibrated on {{.notes}} notes of {{.sources}} sources that it had not seen, {{.leaks -}}
{{" "}}of which kept something; spread between sources {{figure "%.2f" .spread}}
{{end}}`+scoresText)
}
