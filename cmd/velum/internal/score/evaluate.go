// Package score implements `velum prove evaluate`, which scores the spans of a system or model against gold spans, and
// `velum prove usefulness`, which measures how many clinical terms masking destroys.
package score

import (
	"context"
	"log/slog"
	"os"
	"strings"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/flow"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/stages/score"
)

// Options holds the arguments of `velum prove evaluate`.
type Options struct {
	Gold, GoldFrom     string
	System, SystemFrom string
	Other              string  // another system to compare with
	AtLeast            float64 // masking recall by entity; below it is exit code 15
	Brief              bool
	Dial               bool   // measure all positions of inverse.dial
	Labels             string // label set to compare in
	Errors             string // file of the errors, a page or JSONL
	Beta               float64
	Draws              int
	Seed               uint64
}

// Evaluate scores spans against gold and prints the measures.
func Evaluate(ctx context.Context, c *console.Console, cfg *option.Config, f *Options) error {
	if f.Dial {
		return f.dial(ctx, c, cfg)
	}
	aside := &console.Aside{Log: c.Log}
	s, wrong, err := f.score(ctx, c, cfg, f.System, f.SystemFrom, aside)
	if err != nil {
		return err
	}
	report := s.Report()
	if report.Notes == 0 {
		return exit.Errorf(exit.Nothing, "look at --gold and --from", "%s: no notes", f.Gold)
	}
	if err := f.comparable(report); err != nil {
		return err
	}
	var test *score.Significance
	if f.Other != "" {
		second := *f
		second.Errors = ""
		other, _, err := second.score(ctx, c, cfg, f.Other, f.SystemFrom, &console.Aside{Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			return err
		}
		t, err := s.Compare(other, score.Strict, 0, f.Seed)
		if err != nil {
			return err
		}
		test = &t
	}
	if err := printScores(c, report, test, f.Brief); err != nil {
		return err
	}
	if f.Errors != "" {
		if err := wrong.write(f.Errors); err != nil {
			return err
		}
	}
	if m, _ := report.Measure(score.MaskedEntities); m.Recall < f.AtLeast {
		return exit.Errorf(exit.Privacy, "do not release what this model masked", "masking recall by entity is %.4f, below %.4f", m.Recall, f.AtLeast)
	}
	if aside.Rows > 0 {
		return exit.Errorf(exit.Quarantined, "mend these rows and run again", "%d rows could not be read and are not scored", aside.Rows)
	}
	return nil
}

// comparable returns an error if gold and system have no label in common, because an F1 of 0 would be meaningless.
func (f *Options) comparable(r *score.Report) error {
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
	return exit.Misconfiguredf("map both into one label set with --categories primary-care (or meddocan, i2b2, hipaa), or single labels with --map A=B",
		"gold and system have no label in common: gold has %s, the system %s", strings.Join(gold, " "), strings.Join(system, " "))
}

func printScores(c *console.Console, report *score.Report, test *score.Significance, brief bool) error {
	if c.JSON {
		return c.WriteJSON(struct {
			*score.Report
			Test *score.Significance `json:"test,omitempty"`
		}{report, test})
	}
	if brief {
		_, err := c.Out.Write(briefly(report))
		return err
	}
	if err := report.WriteTable(c.Out); err != nil || test == nil {
		return err
	}
	_, err := c.Printf("\nagainst the other system: strict F1 %+.4f, probability of chance %.4f (%d shuffles)\n",
		test.Difference.F1, test.Alpha.F1, test.Shuffles)
	return err
}

// briefly is what somebody who tries velum out wants to know.
func briefly(r *score.Report) (w console.Words) {
	w.Say("%-34s %6s %7s %9s %7s %7s\n", "category", "gold", "masked", "precision", "recall", "F1")
	for _, c := range r.Categories {
		w.Say("%-34s %6d %7d %9.4f %7.4f %7.4f\n", c.Category, c.Gold, c.Masked, c.Precision, c.Recall, c.F1)
	}
	entities, _ := r.Measure(score.MaskedEntities)
	w.Say("masking recall by entity %.4f (%d of %d), notes without a leak %.4f\n", entities.Recall, entities.Found, entities.Gold, r.CleanNotes.Share)
	return w
}

// score scores the spans at path, or the model's where path is empty.
func (f *Options) score(ctx context.Context, c *console.Console, cfg *option.Config, path, from string, aside *console.Aside) (*score.Scorer, *mistakes, error) {
	o := score.Options{Beta: f.Beta, Draws: f.Draws, Seed: f.Seed}
	if f.Labels != "" {
		to, err := flow.IntoLabels(f.Labels)
		if err != nil {
			return nil, nil, exit.Misconfigured(err, "")
		}
		o.Map = to
	}
	var err error
	if o.Direct, err = direct(); err != nil {
		return nil, nil, err
	}
	wrong := &mistakes{}
	if f.Errors != "" {
		o.Error = wrong.add
	}
	s := score.New(o)
	gold := f.gold(cfg)
	gold.SetAside = aside.Row
	progress := c.NewProgress("evaluate", "notes", 0)
	defer progress.End()
	var steps []pipeline.Step
	if path == "" {
		p, err := flow.New(cfg)
		if err != nil {
			return nil, nil, err
		}
		wrong.knows = knownForms(p.Model.Model)
		if steps, err = p.TagSteps(); err != nil {
			return nil, nil, err
		}
	} else {
		// What a system said of a row that cannot be read is not nothing.
		said := flow.Labelled{Flag: "system-from", Format: from, Paths: []string{path}, Config: cfg, TextDir: f.texts()}
		g, err := said.Given()
		if err != nil {
			return nil, nil, err
		}
		steps = flow.GivenSteps(g)
	}
	err = gold.Run(ctx, steps, flow.Watched{Sink: s, Progress: progress})
	flow.WarnUnknown(c, f.Gold, gold.Unknown)
	return s, wrong, err
}

// direct reports which categories are direct identifiers in any label set: those on HIPAA's list (45 CFR 164.514)
// except places and dates.
func direct() (func(pipeline.Category) bool, error) {
	toHIPAA, err := flow.IntoLabels("hipaa")
	if err != nil {
		return nil, err
	}
	return func(c pipeline.Category) bool {
		name := toHIPAA(c)
		return name != pipeline.None && name.String() != "GEOGRAPHIC" && name.String() != "DATE"
	}, nil
}

// texts returns the folder of the gold's texts: a system of brat files may
// hold the .ann files alone.
func (f *Options) texts() string {
	if info, err := os.Stat(f.Gold); err == nil && info.IsDir() {
		return f.Gold
	}
	return ""
}
