package main

import (
	"github.com/spf13/cobra"

	"github.com/velum-health/velum/cmd/velum/internal/lab/learn"
)

func newLearnCommand(a *app) *cobra.Command {
	f := learn.Options{BackTo: -1}
	c := &cobra.Command{
		Use:   "learn --in ARCHIVE --gold PATH --out DIR",
		Short: "Learn from the archive: ask a person about 100 notes, take the surest others, train again",
		Long: `Teach a tagger from an archive. What pays most is to answer what it asks: --ask 100 writes
the notes that tell it most, --answers takes them back, corrected. Each turn also tags the
next slice of the archive, takes the notes whose spans are surest, of each category, in the
proportions of the archive, and trains again with them, until that brings nothing any more.

All labelled notes and answers teach and judge, in folds that have not seen them, unless
--dev names others. A model goes into use if it is better beyond chance (velum help learning).

DIR holds words of notes and is for its owner alone: a folder a turn (model, notes that
were taken, scores), report.html, report.json, and models/ with the promoted
model. The same command given again goes on where it stopped.`,
		Example: `  velum teach learn --in archive/ --gold labelled/ --out learned/
  velum teach learn --in archive/ --gold labelled/ --out learned/ --ask 100 --to brat --questions correct/
  velum teach learn --in archive/ --gold labelled/ --out learned/ --answers correct/
  velum teach learn --config learn.yaml --out learned/
  velum teach learn --in archive/ --start dictionary.velum --labels primary-care --out learned/
  velum teach learn --config learn.yaml --out learned/ --back-to 1   # forget what came after turn 1
  velum run --in archive/ --out masked/ --model learned/models`,
		Args: noArgs,
		RunE: call(a, learn.Learn, &f),
	}
	flags := c.Flags()
	flags.StringVar(&f.Out, "out", "", "`DIR` to learn in, private")
	flags.IntVar(&f.BackTo, "back-to", f.BackTo, "forget the turns after turn `N`, then go on")
	flags.IntVar(&f.Ask, "ask", 0, "write `N` notes for a person to correct, and stop")
	flags.StringVar(&f.To, "to", "jsonl", "`FORMAT` of --ask: brat, jsonl or another of velum teach convert")
	flags.StringVar(&f.Questions, "questions", "", "`PATH` for --ask (default: in DIR)")
	flags.StringSliceVar(&f.Answers, "answers", nil, "`PATHS` of corrected notes to learn from, in any format")
	a.noteFlags(c)
	a.optionFlags(c, "in=learn.in", "gold=learn.gold", "dev=learn.dev", "labels=learn.labels", "start=learn.start",
		"turns=learn.turns", "slice=learn.slice", "k=choose.k", "min-confidence=choose.min_confidence",
		"template=train.template", "seed=learn.seed",
		"lang=report.lang", "workers=run.workers", "memory-limit=run.memory_limit")
	return c
}
