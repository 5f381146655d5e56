package main

import (
	"github.com/spf13/cobra"

	"github.com/velum-health/velum/cmd/velum/internal/proof"
)

func newCheckCommand(a *app) *cobra.Command {
	private := ""
	c := &cobra.Command{
		Use:   "check DIR",
		Short: "Compare every byte of an output tree with its manifest",
		Long: `Compare every byte of an output tree with its manifest, and name what differs: parts
that are missing or changed, files that the manifest does not know, a run that did not
end. The private tree beside it is checked too, if it is there, its audit log included.
Nothing is changed.`,
		Example: `  velum check masked/            # masked/ and masked.private/
  velum check masked/ --json`,
		Args: exactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return proof.Trees(a.Console, args[0], private)
		},
	}
	c.Flags().StringVar(&private, "private", "", "`DIR` of the private tree (default: DIR.private, if it is there)")
	return c
}
