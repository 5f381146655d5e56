package main

import (
	"github.com/spf13/cobra"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/notes"
	"github.com/velum-health/velum/cmd/velum/internal/stream"
	"github.com/velum-health/velum/pipeline/offset"
)

func newTagCommand(a *app) *cobra.Command {
	var f notes.Options
	c := &cobra.Command{
		Use:   "tag [IN OUT] [--from FORMAT] [--to FORMAT]",
		Short: "Find personal health information in notes of any format, without masking",
		Example: `  velum model tag --in notes/ --from brat --out tagged/ --to brat --model meddocan
  velum model tag --in notes.jsonl --out tagged.jsonl
  velum model tag - - < notes.jsonl > tagged.jsonl       # rows of JSON or Arrow through a pipe, see velum mask`,
		Args: noArgsOrTwo,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 2 {
				f.In, f.Out = args[0], args[1]
			}
			if f.In+f.Out+f.From+f.To == "--" {
				unit, err := offset.ParseUnit(f.UnitOut)
				if err != nil {
					return exit.With(exit.Config, err, "")
				}
				return stream.Run(c.Context(), a.Console, a.config, &stream.Options{Tag: true, Unit: unit})
			}
			return call(a, notes.Tag, &f)(c, nil)
		},
	}
	a.fileFlags(c, &f)
	a.optionFlags(c, "model=tag.model", "recall=tag.recall", "fast=tag.fast", "workers=run.workers")
	return c
}
