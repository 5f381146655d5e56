package main

import (
	"github.com/spf13/cobra"

	"github.com/velum-health/velum/cmd/velum/internal/run"
)

func newPlanCommand(a *app) *cobra.Command {
	var f run.Options
	c := &cobra.Command{
		Use:   "plan --in ARCHIVE --out DIR",
		Short: "Plan a run that several processes or machines share",
		Long: `Look through an archive as velum run does, and write a plan of all that will be written, and
with what: plan.json of the private tree. Then velum run --plan DIR --shard I/N does a share
of it, on any machine that sees archive and trees at the same paths, and velum run finish DIR
makes a whole of them. The trees are those of one velum run, byte for byte, whatever N is.
Options are given here: the plan has them.`,
		Example: `  velum run plan --in archive/ --out masked/
  seq 8 | xargs -P 8 -I{} velum run --plan masked/ --shard {}/8
  velum run finish masked/`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			f.Spoil, f.Disk, f.Save = a.spoil, a.disk, true
			return run.Mask(c.Context(), a.Console, a.config, &f)
		},
	}
	flags := c.Flags()
	flags.StringSliceVar(&f.In, "in", nil, "`ARCHIVE`: file or folder, may be repeated")
	flags.StringVar(&f.Out, "out", "", "`DIR` to write")
	flags.StringVar(&f.Private, "private", "", "`DIR` for what holds words of notes (default: --out with .private)")
	flags.StringVar(&f.Tagged, "tagged", "", "`DIR` that velum run wrote, for an extract with another policy as velum mask makes it")
	flags.BoolVar(&f.Fresh, "fresh", false, "do everything again, whatever is done already")
	flags.BoolVar(&f.Replace, "replace", false, "the output gets what --in has and nothing else: what earlier runs put there goes")
	a.maskFlags(c)
	return c
}
