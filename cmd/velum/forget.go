package main

import (
	"github.com/spf13/cobra"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/run"
)

func newForgetCommand(a *app) *cobra.Command {
	var f run.Options
	c := &cobra.Command{
		Use:   "forget --out DIR FILE... | --patient ID",
		Short: "Take files, or a patient, out of an output that runs have put there",
		Long: `Remove from an output what was made of some files, in both trees, and do the last step
of the run (selection, report) over what is left. A FILE is a file or folder of the
archive, as it was given or as manifest.json of the private tree calls it; it need not be
there any more. A pattern like 2019-*/* is matched against the latter. Of files that lay
at one path month by month, the value of their column part names one; a small file that
shares a part with others is PART:ROW, with any of its rows. The options must be those of
the last run.

With --patient, the notes of one patient go. The files that the output was made of are
read again where they lay (or where --in says), and their units without these notes are
done again: the output is that of a run with the patient in --exclude, byte for byte unless
small files share parts.
No later run takes the patient up again, nor those who were in --exclude of an earlier run. The
audit log keeps keyed marks, not the ids. Where files write ids in several ways (1000, 0001000,
P1000), --patient is given once for each; while notes have ids that are so near and nobody has
said whose they are, nothing is written (exit code 15), and --other names those of others.

With --take-back, who was forgotten or objected may be in later runs again: it masks nothing.`,
		Example: `  velum run forget --out masked/ archive/2026-01
  velum run forget --out masked/ '2019-*/*' --dry-run
  velum run forget --out january/ --patient 463 --patient 000463 --set read.columns.patient=patient_id
  velum run forget --out january/ --take-back --patient 463`,
		Args: func(c *cobra.Command, args []string) error {
			if (len(args) == 0) == (len(f.Patients) == 0) || f.TakeBack && len(args) > 0 {
				return exit.Errorf(exit.Config, "see `velum run forget --help`", "name the files to forget, or --patient, and not both")
			}
			if len(args) > 0 && (len(f.In) > 0 || f.Save) {
				return exit.Errorf(exit.Config, "see `velum run forget --help`", "--in and --plan go with --patient")
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
	flags.StringArrayVar(&f.Patients, "patient", nil, "`ID` of the patient, as the archive has it; once for each way in which it is written")
	flags.BoolVar(&f.TakeBack, "take-back", false, "let the patient into later runs again, who was forgotten or objected")
	flags.BoolVar(&f.Save, "plan", false, "write a plan for --patient, and nothing else: velum run --plan and velum run finish do it, on several machines")
	flags.StringSliceVar(&f.In, "in", nil, "`ARCHIVE` for --patient, if the files lie elsewhere now")
	flags.StringVar(&f.Tagged, "tagged", "", "`DIR` of velum mask --tagged, if the output was made by it")
	flags.BoolVar(&f.Dry, "dry-run", false, "print what would be removed, write nothing")
	flags.StringVar(&f.Record.Audit, "audit-log", "", "`FILE` of the audit log (default: _audit/audit.jsonl in the private tree)")
	a.optionFlags(c, "model=tag.model", "recall=tag.recall", "policy=mask.policy", "people=people.table", "exclude=people.exclude", "other=people.others", "k=anonymity.k")
	return c
}
