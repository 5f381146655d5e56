package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/velum-health/velum/cmd/velum/internal/lab/study"
)

func newStudyCommand(a *app) *cobra.Command {
	o := new(study.Options)
	c := &cobra.Command{
		Use:   "study " + strings.Join(study.Names(), "|") + " --gold PATHS --out FOLDER",
		Short: "Compare kinds of taggers on labelled notes: folds, learning curves, ablation",
		Long: `Train and score kinds of taggers again and again, and say which differ by more than chance. --kinds names kinds of
velum teach train, each with options of its own (lean=bilstm:train.template=network-lean), or models that there are.

folds: cross-validation. curve: more and more notes (--shares), in --times draws. ablate: each group of features left out;
--forward adds one after the other and keeps those that do not lower the score. rank: what features add, by category.
grid: all combinations of --vary, the best F_beta taken. mix: more and more notes of --with among as many. confidence:
the notes alone that reach --thresholds.

Groups of notes (--by) are never split between what is learned and what is scored; intervals and tests draw whole groups,
or notes where a group is a source. Each trial is done once: a study that was stopped, even by a kill, goes on with the same
command and ends with the same bytes. Studies in one folder share trials and study.json; it keeps counts, no text and no model.`,
		Example: `  velum teach study folds --gold labelled/ --kinds crf,primary-care --by document --out study/
  velum teach study curve --gold labelled/ --kinds crf,enet=crf:train.l1=0.5 --shares 20,100 --times 2 --out study/
  velum teach study grid --gold labelled/ --template boot --vary train.clusters=wc=words.velum:128,wc=words.velum:1024 --out study/
  velum teach study grid --gold labelled/ --vary train.l1=0,0.1 --vary train.l2=0.1,1 --k 2 --beta 2 --out study/`,
		ValidArgs: study.Names(), Args: exactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return study.Run(c.Context(), a.Console, a.options, args[0], o)
		},
	}
	flags := c.Flags()
	flags.StringSliceVar(&o.Gold, "gold", nil, "`PATHS` of labelled notes")
	flags.StringSliceVar(&o.Dev, "dev", nil, "`PATHS` of notes to score on, in place of folds")
	flags.StringSliceVar(&o.With, "with", nil, "mix: `PATHS` of the second corpus")
	flags.StringSliceVar(&o.Kinds, "kinds", []string{"crf"}, "`KINDS` that are compared, [NAME=]KIND[:KEY=VALUE]...; or models that there are")
	flags.StringVar(&o.By, "by", "note", "what is never split: "+strings.Join(study.Groupings, ", ")+"; notes of a document have one id but for its last number, a source is a path of --gold")
	flags.StringVar(&o.Group, "group", "", "`EXPRESSION` whose groups name the document, patient or source of a note by its id")
	flags.IntVar(&o.K, "k", 5, "`N` folds; 0: each group one")
	flags.StringVar(&o.Labels, "labels", "", "label `SET` of learning and scores; gold of other schemes is mapped (default: that of the profile)")
	flags.StringVar(&o.Out, "out", "", "`FOLDER` of the study")
	flags.IntVar(&o.Seed, "seed", 1, "`SEED` of folds and draws")
	flags.Float64Var(&o.Beta, "beta", 1, "weight of recall in F_beta")
	flags.IntVar(&o.Draws, "draws", 1000, "bootstrap `N` draws for the intervals of 95 %")
	flags.Float64SliceVar(&o.Shares, "shares", nil, "`SHARES` in per cent (default: curve 10,20,40,60,80,100; mix 0,25,50,75,100)")
	flags.IntVar(&o.Times, "times", 3, "curve, mix: `N` draws of each share")
	flags.BoolVar(&o.Forward, "forward", false, "ablate: begin without features and add group after group, in the order of the template")
	flags.StringArrayVar(&o.Vary, "vary", nil, "grid: `KEY=VALUE,VALUE` of an option; may be repeated")
	flags.Float64SliceVar(&o.Thresholds, "thresholds", nil, "`CONFIDENCES` of notes, see tag.confidence (default: 0,0.5,0.7,0.85,0.95,0.99)")
	for flag, key := range map[string]string{"template": "train.template", "iterations": "train.iterations", "workers": "run.workers"} {
		a.optionFlag(c, flag, key)
	}
	a.noteFlags(c)
	return c
}
