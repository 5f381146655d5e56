package main

import (
	"github.com/spf13/cobra"

	"github.com/velum-health/velum/cmd/velum/internal/propose"
)

func newInitCommand(a *app) *cobra.Command {
	var o propose.Options
	c := &cobra.Command{
		Use:   "init FILE|FOLDER",
		Short: "Look at an archive and propose how it is read: columns, samples masked, a configuration",
		Long: `Look at the first rows of an archive: its format, encoding and columns, which of them is the note, which
names it, and which are patient and date. Show some notes masked by the stages of a run, ask on a terminal
whether all is right, write a configuration with comments, and print the commands that come next.

With --try, show that many notes masked as the configuration says, and write nothing.`,
		Example: `  velum init export.csv                           # asks, then writes velum.yaml
  velum init archive/ --yes --out night.yaml      # takes what is proposed
  velum init export.csv --yes --text-column nota --id-column codigo
  velum init export.csv --try 100                 # 100 notes, masked, on the screen alone`,
		Args: exactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			o.In = args[0]
			return call(a, propose.Run, &o)(c, args)
		},
	}
	flags := c.Flags()
	flags.StringVar(&o.Out, "out", "velum.yaml", "`FILE` of the configuration that is written")
	flags.BoolVar(&o.Yes, "yes", false, "take what is proposed, without asking")
	flags.BoolVar(&o.Force, "force", false, "replace FILE if it is there")
	flags.IntVar(&o.Try, "try", 0, "show `N` masked notes, and write nothing")
	a.optionFlags(c, "from=read.format", "encoding=read.encoding", "delimiter=read.delimiter", "id-column=read.columns.id", "text-column=read.columns.text")
	return c
}
