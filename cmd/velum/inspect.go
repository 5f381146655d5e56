package main

import (
	"github.com/spf13/cobra"

	"github.com/velum-health/velum/cmd/velum/internal/look"
)

func newInspectCommand(a *app) *cobra.Command {
	var f look.ModelOptions
	c := &cobra.Command{
		Use:   "inspect [--model FILE] [--in PATH] [--neighbours WORD]",
		Short: "Look into a model: what it is, what its features weigh",
		Long: `Without --in, print what the model says of itself. With --in, rank the features that
occur in those notes by weight. velum model explain says why a note was tagged so.

A file of vectors (velum teach embed) is a model too: --neighbours prints the words nearest to
one, and its clusters.`,
		Example: `  velum model inspect --model meddocan
  velum model inspect --model primary-care --in dev/ --top 40
  velum model inspect --model words.velum --neighbours hospital --top 10`,
		Args: noArgs,
		RunE: call(a, look.Model, &f),
	}
	flags := c.Flags()
	flags.StringVar(&f.In, "in", "", "`PATH` of notes")
	flags.StringVar(&f.From, "from", "", "their `FORMAT`; told from the files if left out")
	flags.StringVar(&f.Neighbours, "neighbours", "", "`WORD` whose neighbours in a file of vectors are printed")
	flags.IntVar(&f.Top, "top", 20, "how many features or neighbours")
	a.optionFlag(c, "model", "tag.model")
	a.noteFlags(c)
	return c
}
