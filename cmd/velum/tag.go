package main

import (
	"context"

	"github.com/spf13/cobra"
	"github.com/velum-health/velum/pipeline"
)

func newTagCommand(a *app) *cobra.Command {
	var f convertFlags
	c := &cobra.Command{
		Use:   "tag --in PATH --from FORMAT --out PATH --to FORMAT",
		Short: "Find personal health information in notes of any format, without masking",
		Example: `  velum tag --in notes/ --from brat --out tagged/ --to brat --model meddocan
  velum tag --in notes.jsonl --out tagged.jsonl`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.tag(c.Context(), &f) },
	}
	f.add(c)
	a.optionFlag(c, "model", "tag.model")
	a.optionFlag(c, "recall", "tag.recall")
	a.optionFlag(c, "workers", "run.workers")
	return c
}

func (a *app) tag(ctx context.Context, f *convertFlags) error {
	r, w, err := f.options()
	if err != nil {
		return err
	}
	cfg, err := a.config()
	if err != nil {
		return err
	}
	p, err := newPlan(cfg)
	if err != nil {
		return err
	}
	steps, err := p.tagSteps()
	if err != nil {
		return err
	}
	r.SkipUnknown = true // gold spans in the input do not count here
	src, err := openNotes("from", f.from, f.in, r)
	if err != nil {
		return err
	}
	defer src.Close()
	dst, _, err := createNotes("to", f.to, f.out, w)
	if err != nil {
		return err
	}
	n := &counted{Text: dst, progress: a.newProgress("tag", "notes", 0)}
	err = pipeline.Run(ctx, src, steps, n, nil)
	return a.ended(n, inputError(err), f.out)
}
