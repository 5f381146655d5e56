package main

import (
	"github.com/spf13/cobra"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/run"
	"github.com/velum-health/velum/cmd/velum/internal/stream"
)

func newMaskCommand(a *app) *cobra.Command {
	var f run.Options
	c := &cobra.Command{
		Use:   "mask --tagged DIR --in ARCHIVE --out EXTRACT | mask - -",
		Short: "Mask what comes through a pipe; or make an extract with another policy from notes that were tagged before",
		Long: `velum mask - - masks rows as they come: JSON, an object a line, or the IPC stream of Arrow, and the same
comes out. Each row that goes in comes out, in its place, with note_id, text, status and the columns of
read.keep. What others have found in a row, a curator or another program, may stand in its field spans, as
[{"start": 0, "end": 3, "label": "PERSON"}] with offsets in code points: it is masked beside what velum finds.
The status is masked, or the reason for which its text is missing. It is the row of velum run:
columns, model, policy, key and people are named as there. Nothing is logged of it but with --audit-log.

With --tagged: tag once, derive many. Make an extract of an archive that velum run has tagged: the spans come
from DIR.private, the text from the archive, and policy, key and purpose are this extract's own. Nothing is
tagged again. Notes that the run put into quarantine stay there. velum run plan --tagged DIR shares an extract of a
large archive out among machines, unless its policy shuffles.`,
		Example: `  velum mask - - < notes.jsonl > masked.jsonl
  velum run --in archive/ --out masked/
  velum mask --tagged masked/ --in archive/ --out study/ --policy research --set key.file=study.key --set read.columns.patient=patient_id`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 1 && f.Tagged == "" {
				return exit.Errorf(exit.Config, "type `velum run --in "+exit.Quoted(args[0])+" --out masked/`", "velum mask takes a pipe, or what was tagged; files are masked by velum run")
			}
			return noArgsOrTwo(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case len(args) == 0 && f.Tagged == "":
				return exit.Errorf(exit.Config, "see `velum mask --help`", "--tagged is needed: the output of velum run; or - - for a pipe")
			case len(args) > 0 && (args[0]+args[1] != "--" || f.Tagged+f.Out+f.Private != "" || f.In != nil):
				return exit.Errorf(exit.Config, "type `velum mask - - < notes.jsonl > masked.jsonl`", "a stream goes from - to -, without --tagged, --in and --out")
			case len(args) > 0:
				return stream.Run(c.Context(), a.Console, a.config, &stream.Options{Audit: f.Record.Audit})
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
	a.optionFlags(c, "id-column=read.columns.id", "text-column=read.columns.text", "keep=read.keep", "model=tag.model", "recall=tag.recall", "fast=tag.fast",
		"policy=mask.policy", "without-patient=mask.without_patient", "people=people.table", "exclude=people.exclude", "spans=resolve.spans", "k=anonymity.k", "lang=report.lang", "workers=run.workers")
	return c
}

// noArgsOrTwo takes nothing, or what comes in and what goes out.
func noArgsOrTwo(c *cobra.Command, args []string) error {
	if len(args) == 2 {
		return nil
	}
	return noArgs(c, args)
}
