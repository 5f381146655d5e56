package main

import (
	"github.com/spf13/cobra"

	"github.com/velum-health/velum/cmd/velum/internal/run"
)

func newFinishCommand(a *app) *cobra.Command {
	var f run.Options
	c := &cobra.Command{
		Use:   "finish DIR",
		Short: "Make a whole of what the shards of a plan have done",
		Long: `End what velum run plan began: look whether all shards are done, judge what they came to, choose,
report and commit. Exit codes are those of velum run: only finish says that too much is in
quarantine. A shard that is missing is named; do it and finish again.`,
		Example: `  velum run finish masked/
  velum run finish masked/ --metrics velum.prom --audit 300`,
		Args: exactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			f.Disk, f.Plan = a.disk, args[0]
			return run.Finish(c.Context(), a.Console, a.planned, &f)
		},
	}
	c.Flags().StringVar(&f.Private, "private", "", "`DIR` of the private tree (default: DIR.private)")
	a.recordFlags(c, &f)
	return c
}
