package main

import (
	"github.com/spf13/cobra"

	"github.com/velum-health/velum/cmd/velum/internal/look"
)

func newMachineCommand(a *app) *cobra.Command {
	dir := "."
	c := &cobra.Command{
		Use:   "machine",
		Short: "Look at this machine: what velum can use, and what is wrong",
		Example: `  velum check machine --path masked/    # the disk that a run would write to
  velum check machine --json`,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error { return look.Machine(a.Console, dir) },
	}
	c.Flags().StringVar(&dir, "path", dir, "folder that a run would write to")
	return c
}
