package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/velum-health/velum/cmd/velum/internal/flow"
	"github.com/velum-health/velum/pipeline"
)

func newTagCommand(a *app) *cobra.Command {
	var f convertFlags
	c := &cobra.Command{
		Use:   "tag [IN OUT] [--from FORMAT] [--to FORMAT]",
		Short: "Find personal health information in notes of any format, without masking",
		Example: `  velum tag --in notes/ --from brat --out tagged/ --to brat --model meddocan
  velum tag --in notes.jsonl --out tagged.jsonl
  velum tag - - < notes.jsonl > tagged.jsonl       # JSONL through a pipe`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 2 {
				return nil
			}
			return noArgs(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 2 {
				f.in, f.out = args[0], args[1]
			}
			return a.tag(c.Context(), &f)
		},
	}
	f.add(a, c)
	a.optionFlag(c, "model", "tag.model")
	a.optionFlag(c, "recall", "tag.recall")
	a.optionFlag(c, "workers", "run.workers")
	return c
}

func (a *app) tag(ctx context.Context, f *convertFlags) error {
	cfg, err := a.config()
	if err != nil {
		return err
	}
	r, w, err := f.options(cfg)
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
	src, err := flow.OpenNotes("from", f.from, f.in, r)
	if err != nil {
		return err
	}
	defer src.Close()
	dst, _, err := flow.CreateNotes("to", f.to, f.out, w)
	if err != nil {
		return err
	}
	n := &flow.Counted{Text: dst, Progress: a.NewProgress("tag", "notes", 0)}
	err = pipeline.Run(ctx, src, steps, n, nil)
	return a.ended(n, flow.InputError(err), f.out)
}
