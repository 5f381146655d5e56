package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/flow"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/stages/score"
)

type evaluateFlags struct {
	gold, goldFrom     string
	system, systemFrom string
	other              string
	atLeast            float64
	brief              bool
	scheme             string
	beta               float64
	draws              int
	seed               uint64
}

func newEvaluateCommand(a *app) *cobra.Command {
	var f evaluateFlags
	c := &cobra.Command{
		Use:   "evaluate --gold PATH (--system PATH | --model FILE)",
		Short: "Score spans against gold: precision, recall, F1, masking recall, intervals",
		Example: `  velum evaluate --gold dev/ --model meddocan              # tag dev with a model, then score
  velum evaluate --gold dev/ --system tagged/ --json       # score what another system wrote
  velum evaluate --gold dev/ --model meddocan --against old/  # is the difference more than chance?`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.evaluate(c.Context(), &f) },
	}
	flags := c.Flags()
	flags.StringVar(&f.gold, "gold", "", "`PATH` of the gold spans, with texts")
	flags.StringVar(&f.goldFrom, "from", "", "its `FORMAT`; told from the files if left out")
	flags.StringVar(&f.system, "system", "", "`PATH` of the spans to score, matched by id; without it --model tags the gold texts")
	flags.StringVar(&f.systemFrom, "system-from", "", "its `FORMAT`")
	flags.StringVar(&f.other, "against", "", "`PATH` of another system's spans: approximate randomization test")
	flags.StringVar(&f.scheme, "categories", "", "compare in another label `SET`: both sides are mapped (meddocan, i2b2, hipaa, primary-care...)")
	flags.Float64Var(&f.atLeast, "at-least", 0, "end with exit code 15 if masking recall by entity is below this")
	flags.BoolVar(&f.brief, "brief", false, "print one line a category and masking recall, nothing else")
	flags.Float64Var(&f.beta, "beta", 1, "weight of recall in F_beta")
	flags.IntVar(&f.draws, "draws", 1000, "bootstrap draws for the 95 % intervals; -1 for none")
	flags.Uint64Var(&f.seed, "seed", 1, "seed of the draws")
	a.optionFlag(c, "model", "tag.model")
	a.optionFlag(c, "recall", "tag.recall")
	a.noteFlags(c)
	return c
}

func (a *app) evaluate(ctx context.Context, f *evaluateFlags) error {
	if f.gold == "" {
		return exit.Errorf(exit.Config, "name the gold spans", "--gold is needed")
	}
	cfg, err := a.config()
	if err != nil {
		return err
	}
	s, err := f.score(ctx, a, cfg, f.system, f.systemFrom)
	if err != nil {
		return err
	}
	report := s.Report()
	if report.Notes == 0 {
		return exit.Errorf(exit.Nothing, "look at --gold and --from", "%s: no notes", f.gold)
	}
	if err := f.comparable(report); err != nil {
		return err
	}
	var test *score.Significance
	if f.other != "" {
		other, err := f.score(ctx, a, cfg, f.other, f.systemFrom)
		if err != nil {
			return err
		}
		t, err := s.Compare(other, score.Strict, 0, f.seed)
		if err != nil {
			return err
		}
		test = &t
	}
	if err := a.printScores(report, test, f.brief); err != nil {
		return err
	}
	if m, _ := report.Measure(score.MaskedEntities); m.Recall < f.atLeast {
		return exit.Errorf(exit.Privacy, "do not release what this model masked", "masking recall by entity is %.4f, below %.4f", m.Recall, f.atLeast)
	}
	return nil
}

// comparable refuses a gold and a system set that have no label in common: an
// F1 of 0 would say nothing of the system.
func (f *evaluateFlags) comparable(r *score.Report) error {
	var gold, system []string
	for _, c := range r.Categories {
		if c.Gold > 0 && c.System > 0 {
			return nil
		}
		if c.Gold > 0 {
			gold = append(gold, c.Category)
		}
		if c.System > 0 {
			system = append(system, c.Category)
		}
	}
	if len(gold) == 0 || len(system) == 0 {
		return nil
	}
	return exit.Errorf(exit.Config, "map both into one label set with --categories primary-care (or meddocan, i2b2, hipaa), or single labels with --map A=B",
		"gold and system have no label in common: gold has %s, the system %s", strings.Join(gold, " "), strings.Join(system, " "))
}

func (a *app) printScores(report *score.Report, test *score.Significance, brief bool) error {
	if a.JSON {
		return json.NewEncoder(a.Out).Encode(struct {
			*score.Report
			Test *score.Significance `json:"test,omitempty"`
		}{report, test})
	}
	if brief {
		return printBrief(a.Out, report)
	}
	if err := report.WriteTable(a.Out); err != nil || test == nil {
		return err
	}
	_, err := fmt.Fprintf(a.Out, "\nagainst the other system: strict F1 %+.4f, probability of chance %.4f (%d shuffles)\n",
		test.Difference.F1, test.Alpha.F1, test.Shuffles)
	return err
}

// printBrief prints what somebody who tries velum out wants to know.
func printBrief(w io.Writer, r *score.Report) error {
	if _, err := fmt.Fprintf(w, "%-34s %6s %7s %9s %7s %7s\n", "category", "gold", "masked", "precision", "recall", "F1"); err != nil {
		return err
	}
	for _, c := range r.Categories {
		if _, err := fmt.Fprintf(w, "%-34s %6d %7d %9.4f %7.4f %7.4f\n", c.Category, c.Gold, c.Masked, c.Precision, c.Recall, c.F1); err != nil {
			return err
		}
	}
	entities, _ := r.Measure(score.MaskedEntities)
	_, err := fmt.Fprintf(w, "masking recall by entity %.4f (%d of %d), notes without a leak %.4f\n", entities.Recall, entities.Found, entities.Gold, r.CleanNotes.Share)
	return err
}

// score scores the spans at path, or the model's where path is empty.
func (f *evaluateFlags) score(ctx context.Context, a *app, cfg *option.Config, path, from string) (*score.Scorer, error) {
	o := score.Options{Beta: f.beta, Draws: f.draws, Seed: f.seed}
	if f.scheme != "" {
		to, err := flow.IntoLabels(f.scheme)
		if err != nil {
			return nil, exit.With(exit.Config, err, "")
		}
		o.Map = to
	}
	s := score.New(o)
	notes, err := flow.TextOptions(cfg)
	if err != nil {
		return nil, err
	}
	gold, err := flow.OpenNotes("from", f.goldFrom, f.gold, notes)
	if err != nil {
		return nil, err
	}
	defer gold.Close()
	progress := a.NewProgress("evaluate", "notes", 0)
	defer progress.End()
	var steps []pipeline.Step
	if path == "" {
		p, err := flow.New(cfg)
		if err != nil {
			return nil, err
		}
		if steps, err = p.TagSteps(); err != nil {
			return nil, err
		}
	} else {
		notes.TextDir = f.texts()
		g, err := flow.LoadGiven("system-from", from, path, notes)
		if err != nil {
			return nil, err
		}
		steps = flow.GivenSteps(g)
	}
	return s, flow.InputError(pipeline.Run(ctx, gold, steps, flow.Watched{Sink: s, Progress: progress}, nil))
}

// texts returns the folder of the gold's texts: a system of brat files may
// hold the .ann files alone.
func (f *evaluateFlags) texts() string {
	if info, err := os.Stat(f.gold); err == nil && info.IsDir() {
		return f.gold
	}
	return ""
}
