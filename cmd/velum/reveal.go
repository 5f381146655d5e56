package main

import (
	"github.com/spf13/cobra"

	"github.com/velum-health/velum/cmd/velum/internal/notes"
)

func newRevealCommand(a *app) *cobra.Command {
	var f notes.Options
	c := &cobra.Command{
		Use:   "reveal --in PATH --out PATH",
		Short: "Open values that the operator encrypt has written, under their key",
		Long: `Write notes with the values readable again that the operator encrypt has sealed. key.file and
mask.purpose must be those of the extract. A value that the key does not open stays as it is, and is
counted. The output holds words of notes: its mode is 0600.`,
		Example: `  velum mask reveal --in extract/masked/part-000.parquet --out open.jsonl --set key.file=study.key`,
		Args:    noArgs,
		RunE:    call(a, notes.Reveal, &f),
	}
	flags := c.Flags()
	flags.StringVar(&f.In, "in", "", "`PATH` of notes to read, such as a masked part")
	flags.StringVar(&f.From, "from", "", "its `FORMAT`: jsonl, csv, parquet and others; told from the file if left out")
	flags.StringVar(&f.Out, "out", "", "`PATH` to write")
	flags.StringVar(&f.To, "to", "", "its `FORMAT`; told from the name if left out")
	f.UnitIn, f.UnitOut = "codepoints", "codepoints"
	return c
}
