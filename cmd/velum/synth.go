package main

import (
	"github.com/spf13/cobra"

	"github.com/velum-health/velum/cmd/velum/internal/notes"
	"github.com/velum-health/velum/stages/synth"
)

func newSynthCommand(a *app) *cobra.Command {
	f := notes.SynthOptions{Notes: synth.Options{Notes: 3000, Seed: 1, Columns: true}}
	c := &cobra.Command{
		Use:   "synth --notes N --seed S --out DIR",
		Short: "Generate notes with gold spans, all invented",
		Long: `Generate short primary-care notes in Spanish, Catalan and both, and reports, all
invented, with gold spans: for training, for tests, for trying velum out. The
same seed gives the same notes. Templates and names of --split train and
--split test are disjoint.

An archive for velum run is written with --to archive: a folder of months in
Parquet without the gold, and the gold beside it in DIR.gold.`,
		Example: `  velum teach synth --notes 3000 --seed 1 --out sample --to archive
  velum teach synth --notes 20000 --seed 2 --split train --density 3 --out train.jsonl`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return notes.Synth(c.Context(), a.Console, &f)
		},
	}
	flags := c.Flags()
	flags.Int64Var(&f.Notes.Notes, "notes", f.Notes.Notes, "how many")
	flags.Uint64Var(&f.Notes.Seed, "seed", f.Notes.Seed, "seed")
	flags.StringVar(&f.Split, "split", "test", "which templates and names: train or test")
	flags.StringVar(&f.Language, "language", "", "notes in one language only: es, ca or mixed (default: 0.50, 0.39 and 0.11 of each)")
	flags.Float64Var(&f.Notes.Density, "density", 1, "PHI in multiples of a primary-care archive's (PERSON 0.28 % of tokens, LOCATION 1.12 %)")
	flags.Float64Var(&f.Notes.Reports, "reports", 0, "share of notes that are reports of some 3 kB")
	flags.StringVar(&f.Out, "out", "", "`PATH` to write")
	flags.StringVar(&f.To, "to", "", "`FORMAT`: archive, or one of velum teach convert; told from the name if left out")
	flags.IntVar(&f.Months, "months", 2, "months of --to archive")
	return c
}
