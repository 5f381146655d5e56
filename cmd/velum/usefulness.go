package main

import (
	"github.com/spf13/cobra"

	"github.com/velum-health/velum/cmd/velum/internal/score"
)

func newUsefulnessCommand(a *app) *cobra.Command {
	var o score.UsefulnessOptions
	c := &cobra.Command{
		Use:   "usefulness [EXTRACT] --in NOTES",
		Short: "What masking costs the reader: terms that survive, words masked in vain",
		Long: `Count which doses, drugs, values of the laboratory and of signs, symptoms, diagnoses, parts
of the body and procedures survive the masking, whole; how many notes keep all, some or
nothing of these; and what was masked in vain: by list, by category, with the commonest
forms. Forms are shown only if a list that velum ships has them as safe.

EXTRACT is an output of velum run, or notes with spans; without it the model masks the
notes. In vain is what is masked and stands in a safe list or, with --gold, outside the
gold spans of the notes. --sample draws notes for an expert, who is asked by the curators'
page whether each is as useful as before: velum review --ask usefulness.`,
		Example: `  velum prove usefulness --in notes.jsonl --model primary-care
  velum prove usefulness tagged/ --in dev/ --gold          # what another system masked in vain
  velum prove usefulness --in notes.jsonl --sample 10 --out expert.jsonl`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				o.Extract, args = args[0], args[1:]
			}
			return noArgs(c, args)
		},
		RunE: call(a, score.Usefulness, &o),
	}
	flags := c.Flags()
	flags.StringVar(&o.In, "in", "", "`PATH` of the notes as they were")
	flags.StringVar(&o.From, "from", "", "their `FORMAT`; told from the files if left out")
	flags.BoolVar(&o.Gold, "gold", false, "the notes have gold spans")
	flags.IntVar(&o.Forms, "forms", 20, "commonest `N` forms that are shown")
	flags.IntVar(&o.Sample, "sample", 0, "draw `N` notes for an expert")
	flags.StringVar(&o.Out, "out", "", "`FILE` of the sample, notes with spans")
	flags.Uint64Var(&o.Seed, "seed", 1, "seed of the sample")
	a.optionFlags(c, "model=tag.model", "recall=tag.recall")
	a.noteFlags(c)
	return c
}
