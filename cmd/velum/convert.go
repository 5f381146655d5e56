package main

import (
	"github.com/spf13/cobra"

	"github.com/velum-health/velum/cmd/velum/internal/notes"
)

// fileFlags adds the flags of a verb that reads notes and writes notes.
func (a *app) fileFlags(c *cobra.Command, f *notes.Options) {
	flags := c.Flags()
	flags.StringVar(&f.In, "in", "", "`PATH` to read (file or folder)")
	flags.StringVar(&f.From, "from", "", "its `FORMAT`: brat, i2b2, jsonl, csv, parquet; told from the files if left out")
	flags.StringVar(&f.Out, "out", "", "`PATH` to write")
	flags.StringVar(&f.To, "to", "", "its `FORMAT`; told from the name if left out")
	flags.StringVar(&f.UnitIn, "offsets-in", "codepoints", "what offsets count in jsonl and csv input: bytes, codepoints, utf16")
	flags.StringVar(&f.UnitOut, "offsets-out", "codepoints", "the same for output")
	a.noteFlags(c)
}

// noteFlags adds the flags of options on how labelled notes are read.
func (a *app) noteFlags(c *cobra.Command) {
	a.optionFlags(c, "encoding=read.encoding", "delimiter=read.delimiter", "id-column=read.columns.id", "text-column=read.columns.text", "own-labels=read.categories",
		"map=read.labels", "skip-unknown=read.skip_unknown")
}

func newConvertCommand(a *app) *cobra.Command {
	var f notes.Options
	c := &cobra.Command{
		Use:   "convert --in PATH --out PATH [--from FORMAT] [--to FORMAT]",
		Short: "Convert labelled notes between brat, JSONL, CSV and Parquet, and from XML of i2b2",
		Example: `  velum teach convert --in dev/ --from brat --out dev.jsonl --to jsonl
  velum teach convert --in labels.jsonl --offsets-in utf16 --out brat/ --to brat
  velum teach convert --in notes.jsonl --out month/ --to archive   # Parquet as velum run reads it; spans in month.gold`,
		Args: noArgs,
		RunE: call(a, notes.Convert, &f),
	}
	a.fileFlags(c, &f)
	return c
}
