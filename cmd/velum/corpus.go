package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/lab/pack"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/configs"
)

func newCorpusCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "corpus",
		Short: "Grow a labelled corpus where nothing is labelled: rules ask, a person corrects",
		Long: `Grow a corpus turn by turn: "next" asks about the notes that are worth most, a person corrects them
(velum review), "take" adds them and scores the rules, "try" tells whether changed rules are worth it,
"report" draws the turns. The folder holds words of notes: its mode is 0700.`,
		Example: `  velum corpus next --out grown --in notes.jsonl --query dra,hospital,vive
  velum review --in corpus/turn-001/questions.jsonl --out answered.jsonl
  velum corpus take --out corpus --answers answers.jsonl
  velum corpus try --out corpus --rules ours.atn --with old.atn`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(
		newCorpusPart(a, "next", "Ask about the notes of an archive that are worth most", "velum corpus next --out grown --in notes.jsonl --query dra,hospital", pack.Next,
			func(c *cobra.Command, o *pack.CorpusOptions) {
				c.Flags().StringVar(&o.Archive, "in", "", "`PATH` of the archive")
				c.Flags().StringSliceVar(&o.Query, "query", nil, "`WORDS` that the first notes hold")
				c.Flags().IntVar(&o.Notes, "notes", 100, "how many notes at most")
				validationFlag(c, o)
			}),
		newCorpusPart(a, "take", "Add what a person has corrected, and score the rules", "velum corpus take --out corpus --answers answers.jsonl", pack.Take,
			func(c *cobra.Command, o *pack.CorpusOptions) {
				c.Flags().StringVar(&o.Answers, "answers", "", "`PATH` of the corrected notes")
				validationFlag(c, o)
			}),
		newCorpusPart(a, "try", "Tell whether changed rules mend more than one error without lowering F1", "velum corpus try --out corpus --rules ours.atn --with old.atn", pack.Try,
			func(c *cobra.Command, o *pack.CorpusOptions) {
				c.Flags().StringVar(&o.Old, "with", "", "`FILE` of the rules as they were")
				validationFlag(c, o)
			}),
		newCorpusReport(a),
	)
	return c
}

func newCorpusReport(a *app) *cobra.Command {
	var out string
	var two []int
	c := &cobra.Command{
		Use: "report", Short: "Write the curves of the turns, and which errors came and went between two", Example: "  velum corpus report --out corpus", Args: noArgs,
		RunE: heeds(a, func(_ context.Context, cfg *option.Config, _ []string) error {
			return pack.Report(a.Console, cfg, out, two)
		}),
	}
	c.Flags().StringVar(&out, "out", "", "`FOLDER` of the corpus")
	c.Flags().IntSliceVar(&two, "turns", nil, "`TWO` turns to compare, the last two if not given")
	return c
}

func validationFlag(c *cobra.Command, o *pack.CorpusOptions) {
	c.Flags().StringVar(&o.Validation, "validation", "", "`PATH` of labelled notes that are never asked about: F1 on them decides")
}

// newCorpusPart is one of the parts of the verb: they have the folder and the
// rules in common.
func newCorpusPart(a *app, name, short, example string, do func(context.Context, *console.Console, *option.Config, *pack.CorpusOptions) error, flags func(*cobra.Command, *pack.CorpusOptions)) *cobra.Command {
	var o pack.CorpusOptions
	c := &cobra.Command{
		Use: name, Short: short, Example: "  " + example, Args: noArgs,
		RunE: call(a, do, &o),
	}
	c.Flags().StringVar(&o.Out, "out", "", "`FOLDER` of the corpus")
	c.Flags().StringVar(&o.Rules, "rules", configs.ShippedPack, "`FILE` of the rules")
	flags(c, &o)
	a.noteFlags(c)
	return c
}
