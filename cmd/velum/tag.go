package main

import (
	"github.com/spf13/cobra"

	"github.com/velum-health/velum/cmd/velum/internal/notes"
)

func newTagCommand(a *app) *cobra.Command {
	var f notes.Options
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
				f.In, f.Out = args[0], args[1]
			}
			cfg, err := a.config()
			if err != nil {
				return err
			}
			return notes.Tag(c.Context(), a.Console, cfg, &f)
		},
	}
	a.fileFlags(c, &f)
	a.optionFlag(c, "model", "tag.model")
	a.optionFlag(c, "recall", "tag.recall")
	a.optionFlag(c, "fast", "tag.fast")
	a.optionFlag(c, "inverse", "inverse.model")
	a.optionFlag(c, "workers", "run.workers")
	return c
}
