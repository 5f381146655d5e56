package notes

import (
	"context"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/flow"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/pipeline"
)

// Tag finds personal health information in notes of any format, without masking.
func Tag(ctx context.Context, c *console.Console, cfg *option.Config, f *Options) error {
	r, w, err := f.text(cfg)
	if err != nil {
		return err
	}
	p, err := flow.New(cfg)
	if err != nil {
		return err
	}
	steps, err := p.TagSteps()
	if err != nil {
		return err
	}
	r.SkipUnknown = true // gold spans in the input do not count here
	r.SetAside = (&console.Aside{Log: c.Log}).Row
	src, err := flow.OpenNotes("from", f.From, f.In, r)
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := flow.CreateNotes("to", f.To, f.Out, w)
	if err != nil {
		return err
	}
	n := &Counted{Text: dst, Progress: c.NewProgress("tag", "notes", 0)}
	err = pipeline.Run(ctx, src, steps, n, nil)
	return ended(c, n, flow.InputError(err), f.Out)
}
