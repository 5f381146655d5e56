package main

import (
	"github.com/spf13/cobra"

	"github.com/velum-health/velum/cmd/velum/internal/learn"
)

func newLearnCommand(a *app) *cobra.Command {
	f := learn.Options{BackTo: -1}
	c := &cobra.Command{
		Use:   "learn --in ARCHIVE --gold PATH --out DIR",
		Short: "Learn from the unlabelled archive: tag, take the surest notes, train again",
		Long: `Teach a tagger from few labelled notes and a large archive without labels. Each turn
tags the next slice of the archive with the whole pipeline, takes the notes whose spans
are surest, of each category, in the proportions of the archive, trains again with them,
and measures the model on the validation notes. Learning stops when that brings nothing
any more. With --start and no labelled notes nothing is measured.

DIR holds words of notes and is for its owner alone: a folder a turn (model, notes that
were taken and why, scores), report.html, report.json, and models/ with the promoted
model. Learning that was stopped goes on where it stopped when the same command is
given again. --ask writes notes that a person should correct; --answers takes them back.`,
		Example: `  velum learn --in archive/ --gold labelled/ --out learned/
  velum learn --config learn.yaml --out learned/
  velum learn --in archive/ --start dictionary.velum --labels primary-care --turns 1 --out learned/
  velum learn --config learn.yaml --out learned/ --ask 100 --to brat --questions correct/
  velum learn --config learn.yaml --out learned/ --answers correct/
  velum learn --config learn.yaml --out learned/ --back-to 1   # forget what came after turn 1
  velum run --in archive/ --out masked/ --model learned/models`,
		Args: noArgs,
		RunE: call(a, learn.Learn, &f),
	}
	flags := c.Flags()
	flags.StringVar(&f.Out, "out", "", "`DIR` to learn in, private")
	flags.IntVar(&f.BackTo, "back-to", f.BackTo, "forget the turns after turn `N`, then go on")
	flags.IntVar(&f.Ask, "ask", 0, "write `N` notes for a person to correct, and stop")
	flags.StringVar(&f.To, "to", "jsonl", "`FORMAT` of --ask: brat, jsonl or another of velum convert")
	flags.StringVar(&f.Questions, "questions", "", "`PATH` for --ask (default: in DIR)")
	flags.StringSliceVar(&f.Answers, "answers", nil, "`PATHS` of corrected notes to learn from, in any format")
	a.noteFlags(c)
	for _, o := range []struct{ flag, key string }{
		{"in", "learn.in"}, {"gold", "learn.gold"}, {"dev", "learn.dev"}, {"gate", "learn.gate"}, {"oracle", "learn.oracle"},
		{"labels", "learn.labels"}, {"start", "learn.start"}, {"turns", "learn.turns"}, {"slice", "learn.slice"},
		{"patience", "learn.patience"}, {"unit", "learn.unit"}, {"k", "choose.k"}, {"min-confidence", "choose.min_confidence"},
		{"calibrate", "learn.calibrate"}, {"template", "train.template"}, {"agree", "learn.agree"}, {"labelled", "learn.labelled"},
		{"seed", "learn.seed"}, {"draws", "learn.draws"}, {"lang", "report.lang"}, {"workers", "run.workers"}, {"memory-limit", "run.memory_limit"},
	} {
		a.optionFlag(c, o.flag, o.key)
	}
	return c
}
