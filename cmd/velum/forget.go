package main

import (
	"github.com/spf13/cobra"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/run"
)

func newForgetCommand(a *app) *cobra.Command {
	var f run.Options
	c := &cobra.Command{
		Use:   "forget --out DIR FILE...",
		Short: "Take files out of an output that runs have put there",
		Long: `Remove from an output what was made of some files, in both trees, and do the last step
of the run (selection, report) over what is left. A FILE is a file or folder of the
archive, as it was given or as manifest.json of the private tree calls it; it need not be
there any more. A pattern like 2019-*/* is matched against the latter. The options must
be those of the last run.`,
		Example: `  velum forget --out masked/ archive/2026-01
  velum forget --out masked/ '2019-*/*' --dry-run`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return exit.Errorf(exit.Config, "see `velum forget --help`", "name the files to forget")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			f.Disk = a.disk
			return run.Forget(c.Context(), a.Console, a.config, &f, args)
		},
	}
	flags := c.Flags()
	flags.StringVar(&f.Out, "out", "", "`DIR` of the output")
	flags.StringVar(&f.Private, "private", "", "`DIR` for what holds words of notes (default: --out with .private)")
	flags.BoolVar(&f.Dry, "dry-run", false, "print what would be removed, write nothing")
	flags.StringVar(&f.Record.Audit, "audit-log", "", "`FILE` of the audit log (default: _audit/audit.jsonl in the private tree)")
	a.optionFlag(c, "model", "tag.model")
	a.optionFlag(c, "recall", "tag.recall")
	a.optionFlag(c, "policy", "mask.policy")
	return c
}
