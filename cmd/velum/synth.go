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
Parquet without the gold, and the gold beside it in DIR.gold.

With --contexts NOTES the sentences are real and the values invented: notes of
any format are tagged as the model is and again at a high recall (--recall; if
none is given 0.99, or the most that the precision floor allows). Lines on which both agree and that hold no other number of
five digits or address get another value for every name, place, date and age.
Lines without any get some in place of "la paciente", "su hija", "este centro",
"hace 3 días", or stay as they are. A line that still holds a word of three
letters or more of any value that was found is left out. What the model missed
both times is still there: the output is made for training where the notes lie,
in a new folder that its owner alone may open (mode 0700).`,
		Example: `  velum synth --notes 3000 --seed 1 --out sample --to archive
  velum synth --notes 20000 --seed 2 --split train --density 3 --out train.jsonl
  velum synth --contexts notes.jsonl --notes 20000 --out contexts`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if f.Contexts == "" {
				return notes.Synth(c.Context(), a.Console, &f)
			}
			return call(a, notes.Contexts, &f)(c, nil)
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
	flags.StringVar(&f.To, "to", "", "`FORMAT`: archive, or one of velum convert; told from the name if left out")
	flags.IntVar(&f.Months, "months", 2, "months of --to archive")
	flags.StringVar(&f.Contexts, "contexts", "", "take the sentences of the notes at `PATH`, in a new private folder --out")
	flags.StringVar(&f.From, "from", "", "`FORMAT` of --contexts; told from the files if left out")
	a.optionFlags(c, "model=tag.model", "recall=tag.recall", "workers=run.workers")
	return c
}
