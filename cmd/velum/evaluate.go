package main

import (
	"github.com/spf13/cobra"

	"github.com/velum-health/velum/cmd/velum/internal/score"
)

func newEvaluateCommand(a *app) *cobra.Command {
	var f score.Options
	c := &cobra.Command{
		Use:   "evaluate --gold PATH (--system PATH | --model FILE)",
		Short: "Score spans against gold: precision, recall, F1, masking recall, intervals",
		Example: `  velum prove evaluate --gold dev/ --model meddocan              # tag dev with a model, then score
  velum prove evaluate --gold dev/ --system tagged/ --json       # score what another system wrote
  velum prove evaluate --gold dev/ --model meddocan --against old/  # is the difference more than chance?`,
		Args: noArgs,
		RunE: call(a, score.Evaluate, &f),
	}
	flags := c.Flags()
	flags.StringVar(&f.Gold, "gold", "", "`PATH` of the gold spans, with texts")
	flags.StringVar(&f.GoldFrom, "from", "", "its `FORMAT`; told from the files if left out")
	flags.StringVar(&f.System, "system", "", "`PATH` of the spans to score, matched by id; without it --model tags the gold texts")
	flags.StringVar(&f.SystemFrom, "system-from", "", "its `FORMAT`")
	flags.StringVar(&f.Other, "against", "", "`PATH` of another system's spans: approximate randomization test")
	flags.StringVar(&f.Labels, "categories", "", "compare in another label `SET`: both sides are mapped (meddocan, i2b2, hipaa, primary-care...)")
	flags.Float64Var(&f.AtLeast, "at-least", 0, "end with exit code 15 if masking recall by entity is below this")
	flags.StringVar(&f.Errors, "errors", "", "write all errors, gold and system side by side, to a `FILE`, a line of JSON each: it holds words of the notes")
	flags.BoolVar(&f.Brief, "brief", false, "print one line a category and masking recall, nothing else")
	flags.BoolVar(&f.Dial, "dial", false, "measure words: those of identifiers that are masked, and safe ones that are lost (--set inverse.dial of an inverse model)")
	flags.Float64Var(&f.Beta, "beta", 1, "weight of recall in F_beta")
	flags.IntVar(&f.Draws, "draws", 1000, "bootstrap draws for the 95 % intervals; -1 for none")
	flags.Uint64Var(&f.Seed, "seed", 1, "seed of the draws")
	a.optionFlags(c, "model=tag.model", "recall=tag.recall", "fast=tag.fast")
	a.noteFlags(c)
	return c
}
