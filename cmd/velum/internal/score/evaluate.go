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
	Labels             string  // label set to compare in
	Errors             string  // file of the errors, a page or JSONL
	Beta               float64
	Draws              int
	Seed               uint64
}

// Evaluate scores spans against gold and prints the measures.
func Evaluate(ctx context.Context, c *console.Console, cfg *option.Config, f *Options) error {
	aside := &console.Aside{Log: c.Log}
	s, wrong, err := f.score(ctx, c, cfg, f.System, f.SystemFrom, aside)
	if err != nil {
		return err
	}
	report := s.Report()
	if report.Notes == 0 {
		return exit.Errorf(exit.Nothing, "look at --gold and --from", "%s: no notes", f.Gold)
	}
	if report.GoldSpans == 0 {
		c.Log.Warn("gold has no span, so recall and F1 say nothing; look at the columns or the format of --gold", "gold", f.Gold)
	}
	if err := f.comparable(report); err != nil {
		return err
	}
	shown := struct {
		*score.Report
		Test *score.Significance `json:"test,omitempty"`
	}{Report: report}
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
		shown.Test = &t
	}
	if err := c.Tell(shown, scoresText); err != nil {
		return err
	}
	if f.Errors != "" {
		if err := wrong.write(f.Errors); err != nil {
			return err
		}
	}
	if m, _ := report.Measure(score.MaskedEntities); m.Recall < f.AtLeast {
		return exit.Errorf(exit.Privacy, "do not release what this model masked", "masking recall by entity is %.4f, below %.4f", m.Recall,
			f.AtLeast)
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

// scoresText is a template of the report for people. The last sentences are what somebody who tries velum out wants to know.
const scoresText = `{{.notes}} notes ({{.notes_with_phi}} with PHI, {{.quarantined}} in quarantine not scored), {{.gold_spans}} gold spans, {{.system_spans}} system spans

{{$beta := ne (figure "%g" .beta) "1" -}}
measure	P	R	F1	{{if $beta}}{{figure "F%.3g" .beta}}	{{end}}95 % of R	95 % of F1	macro P	R	F1
{{range .measures}}{{if and (ne .name "clean_notes") (ne .name "direct_notes") -}}
{{.name}}	{{template "ratios" .}}	{{if $beta}}{{figure "%.4f" .f_beta}}	{{end}}{{with .interval}}{{template "ends" .recall}}	{{template "ends" .f1}}{{else}}	{{end}}	{{template "ratios" .macro}}
{{end}}{{end}}strict, mean of categories	{{template "ratios" .macro_categories}}{{if $beta}}	{{figure "%.4f" .macro_categories.f_beta}}{{end}}

category	gold	system	right	P	R	F1	masked	masked R	type	short	long	both	spurious	missing
{{range .categories}}{{.category}}	{{.gold}}	{{.system}}	{{.right}}	{{template "ratios" .}}	{{.masked}}	{{figure "%.4f" .masked_recall}}	{{with .errors -}}
{{.type}}	{{.short}}	{{.long}}	{{.short_and_long}}	{{.spurious}}	{{.missing}}{{end}}
{{end}}{{with .errors}}
errors: {{.type}} type, {{.short}} short, {{.long}} long, {{.short_and_long}} short and long ({{.extent_and_type}} of these with another type too), {{.spurious}} spurious, {{.missing}} missing
{{end}}{{range .confusion}}{{if and .gold .system (ne .gold .system)}}  {{.count}} gold {{.gold}} found as {{.system}}
{{end}}{{end}}
{{with .clean_notes}}clean notes {{template "share" .}}{{end}}, of those with PHI {{template "share" .clean_notes_with_phi}}
{{range .measures}}{{if eq .name "clean_notes"}}{{with .interval}}95 % of clean notes with PHI {{template "ends" .recall}}
{{end}}{{end}}{{end}}{{with .leaks}}leaks {{.spans}} spans, {{figure "%.5f" .per_line}} a line{{if .sentences}}, {{figure "%.5f" .per_sentence}} a sentence{{end}}
{{end}}{{range .measures}}{{if eq .name "direct_notes" -}}
direct identifiers masked in {{figure "%.4f" .recall}} of the notes that have some ({{.found}} of {{.gold}}){{with .interval}}, 95 % {{template "ends" .recall}}{{end}}
{{end}}{{end}}{{range .measures}}{{if eq .name "masked_entities" -}}
masking recall by entity {{figure "%.4f" .recall}} ({{.found}} of {{.gold}}), notes without a leak {{figure "%.4f" $.clean_notes.share}}
{{end}}{{end}}{{with .test}}
against the other system: strict F1 {{figure "%+.4f" .difference.f1}}, probability of chance {{figure "%.4f" .alpha.f1}} ({{.shuffles}} shuffles)
{{end}}{{define "ratios"}}{{figure "%.4f" .precision}}	{{figure "%.4f" .recall}}	{{figure "%.4f" .f1}}{{end -}}
{{define "ends"}}{{figure "%.4f" (index . 0)}}-{{figure "%.4f" (index . 1)}}{{end -}}
{{define "share"}}{{figure "%.4f" .share}} ({{.part}} of {{.whole}}){{end -}}
`

// score scores the spans at path, or the model's where path is empty.
func (f *Options) score(ctx context.Context, c *console.Console, cfg *option.Config, path, from string,
	aside *console.Aside) (*score.Scorer, *mistakes, error) {
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
	gold := &flow.Labelled{Paths: []string{f.Gold}, Format: f.GoldFrom, Config: cfg}
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
