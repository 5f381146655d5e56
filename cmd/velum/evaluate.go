package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"github.com/velum-health/velum/configs"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/stages/read"
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
	return c
}

func (a *app) evaluate(ctx context.Context, f *evaluateFlags) error {
	if f.gold == "" {
		return exitf(exitConfig, "name the gold spans", "--gold is needed")
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
		return exitf(exitNothing, "look at --gold and --from", "%s: no notes", f.gold)
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
		return exitf(exitPrivacy, "do not release what this model masked", "masking recall by entity is %.4f, below %.4f", m.Recall, f.atLeast)
	}
	return nil
}

func (a *app) printScores(report *score.Report, test *score.Significance, brief bool) error {
	if a.json {
		return json.NewEncoder(a.out).Encode(struct {
			*score.Report
			Test *score.Significance `json:"test,omitempty"`
		}{report, test})
	}
	if brief {
		return printBrief(a.out, report)
	}
	if err := report.WriteTable(a.out); err != nil || test == nil {
		return err
	}
	_, err := fmt.Fprintf(a.out, "\nagainst the other system: strict F1 %+.4f, probability of chance %.4f (%d shuffles)\n",
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
func (f *evaluateFlags) score(ctx context.Context, a *app, cfg *Config, path, from string) (*score.Scorer, error) {
	o := score.Options{Beta: f.beta, Draws: f.draws, Seed: f.seed}
	if f.scheme != "" {
		to, err := intoScheme(f.scheme)
		if err != nil {
			return nil, exit(exitConfig, err, "")
		}
		o.Map = to
	}
	s := score.New(o)
	gold, err := openNotes("from", f.goldFrom, f.gold, read.TextOptions{})
	if err != nil {
		return nil, err
	}
	defer gold.Close()
	progress := a.newProgress("evaluate", "notes", 0)
	defer progress.End()
	var steps []pipeline.Step
	if path == "" {
		p, err := newPlan(cfg)
		if err != nil {
			return nil, err
		}
		if steps, err = p.tagSteps(); err != nil {
			return nil, err
		}
	} else {
		g, err := loadGiven("system-from", from, path, f.texts())
		if err != nil {
			return nil, err
		}
		steps = givenPlan(g)
	}
	return s, inputError(pipeline.Run(ctx, gold, steps, watched{s, progress}, nil))
}

// watched is a sink with progress.
type watched struct {
	pipeline.Sink
	*progress
}

func (w watched) Put(b *pipeline.Batch) error {
	w.progress.Add(int64(b.Len()))
	return w.Sink.Put(b)
}

// intoScheme returns the map of every category into a label set.
func intoScheme(scheme string) (func(pipeline.Category) pipeline.Category, error) {
	to := map[pipeline.Category]pipeline.Category{}
	for _, from := range configs.Schemes() {
		if from == scheme {
			continue
		}
		m, err := configs.CategoryMap(from, scheme)
		if err != nil {
			return nil, err
		}
		for k, v := range m {
			to[k] = v
		}
	}
	set, err := pipeline.Labels(scheme)
	if err == nil {
		for _, c := range set.Categories {
			to[c] = c
		}
	}
	return func(c pipeline.Category) pipeline.Category { return to[c] }, nil
}

// loadGiven reads what a system said of all notes: an output tree of
// `velum run`, or labelled notes in any format.
func loadGiven(flag, format, path, texts string) (*given, error) {
	if format == "" && isTree(path) {
		return loadTree(path)
	}
	src, err := openNotes(flag, format, path, read.TextOptions{TextDir: texts})
	if err != nil {
		return nil, err
	}
	defer src.Close()
	g := &given{spans: map[string][]pipeline.Span{}}
	b := new(pipeline.Batch)
	for {
		b.Reset()
		if err := src.Next(b); errors.Is(err, io.EOF) {
			return g, nil
		} else if err != nil {
			return nil, exit(exitConfig, err, "")
		}
		for i := range b.Len() {
			g.spans[string(b.ID.At(i))] = append([]pipeline.Span(nil), b.Gold.At(i)...)
		}
	}
}

// texts returns the folder of the gold's texts: a system of brat files may
// hold the .ann files alone.
func (f *evaluateFlags) texts() string {
	if info, err := os.Stat(f.gold); err == nil && info.IsDir() {
		return f.gold
	}
	return ""
}
