package main

import (
	"github.com/spf13/cobra"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/run"
)

func newMaskCommand(a *app) *cobra.Command {
	var f run.Options
	c := &cobra.Command{
		Use:   "mask --tagged DIR --in ARCHIVE --out EXTRACT",
		Short: "Make an extract with another policy from notes that were tagged before",
		Long: `Tag once, derive many. Make an extract of an archive that velum run has tagged: the spans come from
DIR.private, the text from the archive, and policy, key and purpose are this extract's own. Nothing is
tagged again. Notes that the run put into quarantine stay there.`,
		Example: `  velum run --in archive/ --out masked/
  velum mask --tagged masked/ --in archive/ --out study/ --policy research --set key.file=study.key`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if f.Tagged == "" {
				return exit.Errorf(exit.Config, "see `velum mask --help`", "--tagged is needed: the output of velum run")
			}
			f.Spoil, f.Disk = a.spoil, a.disk
			return run.Mask(c.Context(), a.Console, a.config, &f)
		},
	}
	flags := c.Flags()
	flags.StringVar(&f.Tagged, "tagged", "", "`DIR` that velum run wrote, with DIR.private beside it")
	flags.StringSliceVar(&f.In, "in", nil, "`ARCHIVE`: the same files that were tagged")
	flags.StringVar(&f.Out, "out", "", "`DIR` to write")
	flags.StringVar(&f.Private, "private", "", "`DIR` for what holds words of notes (default: --out with .private)")
	flags.BoolVar(&f.Fresh, "fresh", false, "do everything again, whatever is done already")
	flags.StringVar(&f.Record.Audit, "audit-log", "", "`FILE` of the audit log (default: _audit/audit.jsonl in the private tree)")
	a.optionFlag(c, "model", "tag.model")
	a.optionFlag(c, "policy", "mask.policy")
	a.optionFlag(c, "people", "people.table")
	a.optionFlag(c, "exclude", "people.exclude")
	a.optionFlag(c, "k", "anonymity.k")
	a.optionFlag(c, "lang", "report.lang")
	a.optionFlag(c, "workers", "run.workers")
	return c
}
