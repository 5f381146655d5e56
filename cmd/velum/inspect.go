package main

import (
	"github.com/spf13/cobra"

	"github.com/velum-health/velum/cmd/velum/internal/look"
)

func newInspectCommand(a *app) *cobra.Command {
	var f look.ModelOptions
	c := &cobra.Command{
		Use:   "inspect [--model FILE] [--neighbours WORD]",
		Short: "Look into a model: what it is, what it was scored on",
		Long: `Print what the model says of itself. velum teach study rank says what its features weigh on
labelled notes, velum model explain why a note was tagged so.

A file of vectors (velum teach embed) is a model too: --neighbours prints the words nearest to
one, and its clusters.`,
		Example: `  velum model inspect --model meddocan
  velum model inspect --model words.velum --neighbours hospital --top 10`,
		Args: noArgs,
		RunE: call(a, look.Model, &f),
	}
	flags := c.Flags()
	flags.StringVar(&f.Neighbours, "neighbours", "", "`WORD` whose neighbours in a file of vectors are printed")
	flags.IntVar(&f.Top, "top", 20, "how many neighbours")
	a.optionFlag(c, "model", "tag.model")
	return c
}
