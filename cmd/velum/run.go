package main

import (
	"github.com/spf13/cobra"

	"github.com/velum-health/velum/cmd/velum/internal/run"
)

func newRunCommand(a *app) *cobra.Command {
	var f run.Options
	c := &cobra.Command{
		Use:   "run --in ARCHIVE --out DIR",
		Short: "Mask an archive: months of Parquet in, masked Parquet out",
		Long: `Mask every note of an archive. The archive is files of Parquet, CSV or JSONL (packed
or not, in any usual encoding), dumps of a|b|c ids and text, .txt files of a note each,
or folders of them. DIR gets masked/, spans/, report.html, report.json and
manifest.json; what holds words of notes (candidates, the selection set, quarantine)
goes to a tree of its own, DIR.private.

A run that was stopped goes on where it stopped when the same command is given again.
DIR grows: notes of earlier runs stay, whether their files are given again or not; a file
that is given again and has changed replaces its notes. --replace, or velum run forget,
removes.`,
		Example: `  velum run --in archive/ --out masked/
  velum run --in 2026-01.parquet --out masked/ --model meddocan --recall 0.99
  velum run --in export.csv --out masked/ --id-column codigo --text-column nota
  velum run --in archive/ --out masked/ --dry-run     # what would be done, and how long it takes
  velum run --in 2026-02.parquet --out masked/        # February joins January
  velum run --plan masked/ --shard 3/12               # one of twelve processes: see velum run plan`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			f.Spoil, f.Disk = a.spoil, a.disk
			if f.Plan != "" || f.Shard != "" {
				return run.Shard(c.Context(), a.Console, a.planned, &f)
			}
			return run.Mask(c.Context(), a.Console, a.config, &f)
		},
	}
	flags := c.Flags()
	flags.StringSliceVar(&f.In, "in", nil, "`ARCHIVE`: file or folder, may be repeated")
	flags.StringVar(&f.Out, "out", "", "`DIR` to write")
	flags.StringVar(&f.Private, "private", "", "`DIR` for what holds words of notes (default: --out with .private)")
	flags.BoolVar(&f.Fresh, "fresh", false, "do everything again, whatever is done already")
	flags.BoolVar(&f.Replace, "replace", false, "the output gets what --in has and nothing else: what earlier runs put there goes")
	flags.BoolVar(&f.Dry, "dry-run", false, "print what is done already, what would be added, replaced and removed, and how long it takes; write nothing")
	flags.StringVar(&f.Plan, "plan", "", "`DIR` with a plan of velum run plan, of which one share is done; or the plan itself, plan.json of the private tree")
	flags.StringVar(&f.Shard, "shard", "", "`I/N`: which share of how many, with --plan")
	a.recordFlags(c, &f)
	a.maskFlags(c)
	return c
}

// recordFlags adds the flags for the records that a run leaves of itself.
func (a *app) recordFlags(c *cobra.Command, f *run.Options) {
	flags := c.Flags()
	flags.StringVar(&f.Record.Metrics, "metrics", "", "`FILE` for Prometheus' textfile collector; its name must end in .prom")
	flags.StringVar(&f.Record.Private, "private-metrics", "", "`FILE` like that of --metrics for its owner alone: with reasons, sources and languages, which depend on hidden words")
	flags.BoolVar(&f.Record.EmptyOK, "empty-ok", false, "end with exit code 0, not 4, when there is nothing to do; for Kubernetes, which knows no other success")
	flags.StringVar(&f.Record.Sample, "audit", "", "draw `N` masked notes at random for a person to read; or, for a share as 0.5%, as many as show that at most so many keep something, by strata of certainty: ids and offsets, in audit/ of the private tree")
	flags.StringVar(&f.Record.Audit, "audit-log", "", "`FILE` of the audit log (default: _audit/audit.jsonl in the private tree)")
}

// maskFlags are the options that are often given for an archive.
func (a *app) maskFlags(c *cobra.Command) {
	a.optionFlags(c, "from=read.format", "encoding=read.encoding", "delimiter=read.delimiter", "id-column=read.columns.id", "text-column=read.columns.text",
		"model=tag.model", "recall=tag.recall", "fast=tag.fast", "policy=mask.policy", "without-patient=mask.without_patient", "people=people.table", "exclude=people.exclude", "spans=resolve.spans",
		"k=anonymity.k", "lang=report.lang", "workers=run.workers", "units=run.units", "memory-limit=run.memory_limit", "deadline=run.deadline")
}
