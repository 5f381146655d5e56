package main

import (
	"encoding/json"

	"github.com/spf13/cobra"

	"github.com/velum-health/velum/cmd/velum/internal/look"
)

// Set by the linker, see the Makefile.
var (
	version  = "dev"
	revision = ""
)

func newVersionCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print version, commit and platform",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			b := look.NewBuild(version, revision)
			if a.JSON {
				return json.NewEncoder(a.Out).Encode(b)
			}
			_, err := a.Printf("%s\n", b)
			return err
		},
	}
}
