package main

import (
	"github.com/spf13/cobra"

	"github.com/velum-health/velum/cmd/velum/internal/proof"
)

func newDiffCommand(a *app) *cobra.Command {
	var f proof.DiffOptions
	c := &cobra.Command{
		Use:   "diff BEFORE AFTER",
		Short: "Compare two outputs of the same notes: what is hidden now, what is readable now",
		Long: `Compare two outputs of the same notes, which two policies, two models or two versions
have made, before the new one is released. Counts by category are printed and name no
note. --list lists the places with the words that one of the two leaves readable: that
file is private.

Both outputs need their private trees beside them.`,
		Example: `  velum prove diff masked/ masked-new/
  velum prove diff masked/ masked-new/ --list private-places.jsonl`,
		Args: exactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			f.Before, f.After = args[0], args[1]
			return proof.Diff(c.Context(), a.Console, &f)
		},
	}
	c.Flags().StringVar(&f.Places, "list", "", "write the places that differ to this `FILE`, a line of JSON each: it holds words of the notes")
	return c
}
