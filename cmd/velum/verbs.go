package main

import (
	"cmp"
	"context"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/evidence"
	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/explain"
	"github.com/velum-health/velum/cmd/velum/internal/flow"
	"github.com/velum-health/velum/cmd/velum/internal/lab/attack"
	"github.com/velum-health/velum/cmd/velum/internal/lab/learn"
	"github.com/velum-health/velum/cmd/velum/internal/lab/pack"
	evenings "github.com/velum-health/velum/cmd/velum/internal/lab/start"
	"github.com/velum-health/velum/cmd/velum/internal/lab/study"
	"github.com/velum-health/velum/cmd/velum/internal/lab/train"
	"github.com/velum-health/velum/cmd/velum/internal/look"
	"github.com/velum-health/velum/cmd/velum/internal/night"
	"github.com/velum-health/velum/cmd/velum/internal/notes"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/cmd/velum/internal/proof"
	"github.com/velum-health/velum/cmd/velum/internal/propose"
	"github.com/velum-health/velum/cmd/velum/internal/review"
	"github.com/velum-health/velum/cmd/velum/internal/run"
	"github.com/velum-health/velum/cmd/velum/internal/score"
	"github.com/velum-health/velum/cmd/velum/internal/stream"
	"github.com/velum-health/velum/pipeline/offset"
	"github.com/velum-health/velum/stages/mask"
)

// A verb makes its options, whose fields verbs.txt gives flags and arguments, and what runs when
// they are set.
type verb func(*app) (options any, run func(*cobra.Command) error)

// verbs maps every verb to its function. To add a verb, write its section in verbs.txt and add it here.
var verbs = map[string]verb{
	"init":                  configured(propose.Run),
	"run":                   masking(masksOrShards),
	"run plan":              masking(saves),
	"run finish":            masking(finishes),
	"run forget":            masking(forgets),
	"run options":           loading(prints),
	"mask":                  masking(masksAgain),
	"mask reveal":           configured(notes.Reveal),
	"mask operators":        plain(operators),
	"night":                 nights,
	"check":                 checks,
	"check machine":         plain(look.Machine),
	"review":                configured(review.Run),
	"evidence":              dossiers,
	"start":                 starts,
	"model list":            plain(look.Models),
	"model tag":             tags,
	"model explain":         configured(explain.Run),
	"model inspect":         configured(look.Model),
	"model promote":         configured(look.Promote),
	"model rollback":        plain(look.Rollback),
	"model measure":         configured(train.Measure),
	"teach learn":           configured(learn.Learn),
	"teach train":           configured(train.Train),
	"teach study":           studies,
	"teach embed":           configured(train.LearnVectors),
	"teach rules check":     configured(pack.Check),
	"teach rules trace":     configured(pack.Trace),
	"teach rules test":      configured(pack.Test),
	"teach rules build":     configured(pack.Build),
	"teach rules words":     configured(pack.Words),
	"teach gazetteer build": plain(look.BuildList),
	"teach gazetteer show":  plain(look.List),
	"teach convert":         configured(notes.Convert),
	"teach synth":           plain(notes.Synth),
	"prove evaluate":        configured(score.Evaluate),
	"prove sample":          proves,
	"prove adjudicate":      plain(proof.Adjudicate),
	"prove log":             plain(proof.Log),
	"prove releases":        plain(proof.Releases),
	"prove diff":            plain(proof.Diff),
	"prove attack":          configured(attack.Run),
	"prove usefulness":      configured(score.Usefulness),
}

// loading makes a verb that loads the configuration itself.
func loading[F any](do func(context.Context, *console.Console, func() (*option.Config, error), *F) error) verb {
	return func(a *app) (any, func(*cobra.Command) error) {
		f := new(F)
		return f, func(c *cobra.Command) error { return do(c.Context(), a.Console, a.config, f) }
	}
}

// configured makes a verb that receives the loaded configuration.
func configured[F any](do func(context.Context, *console.Console, *option.Config, *F) error) verb {
	return loading(func(ctx context.Context, c *console.Console, load func() (*option.Config, error), f *F) error {
		cfg, err := load()
		if err != nil {
			return err
		}
		return do(ctx, c, cfg, f)
	})
}

// plain makes a verb that needs no configuration.
func plain[F any](do func(context.Context, *console.Console, *F) error) verb {
	return loading(func(ctx context.Context, c *console.Console, _ func() (*option.Config, error), f *F) error {
		return do(ctx, c, f)
	})
}

// masking makes a verb that writes an output tree.
func masking(do func(a *app, c *cobra.Command, f *run.Options) error) verb {
	return func(a *app) (any, func(*cobra.Command) error) {
		f := &run.Options{Spoil: a.spoil, Disk: a.disk}
		return f, func(c *cobra.Command) error { return do(a, c, f) }
	}
}

func masksOrShards(a *app, c *cobra.Command, f *run.Options) error {
	if f.Plan != "" {
		return run.Shard(c.Context(), a.Console, a.planned, f)
	}
	return run.Mask(c.Context(), a.Console, a.config, f)
}

func saves(a *app, c *cobra.Command, f *run.Options) error {
	f.Save = true
	return run.Mask(c.Context(), a.Console, a.config, f)
}

func finishes(a *app, c *cobra.Command, f *run.Options) error {
	return run.Finish(c.Context(), a.Console, a.planned, f)
}

func forgets(a *app, c *cobra.Command, f *run.Options) error {
	return run.Forget(c.Context(), a.Console, a.config, f)
}

func masksAgain(a *app, c *cobra.Command, f *run.Options) error {
	const typed = "type `velum mask - - < notes.jsonl > masked.jsonl`"
	switch args := c.Flags().Args(); {
	case len(args) == 0 && f.Tagged != "":
		return run.Mask(c.Context(), a.Console, a.config, f)
	case len(args) == 0:
		return exit.Misconfiguredf("see `velum mask --help`", "--tagged is needed: the output of velum run; or - - for a pipe")
	case len(args) == 1 && f.Tagged == "":
		return exit.Misconfiguredf("type `velum run --in "+exit.Quoted(args[0])+" --out masked/`", "velum mask takes a pipe, or what was tagged; files are masked by velum run")
	case len(args) != 2:
		return arity(0, 0)(c, args)
	case args[0]+args[1] != "--" || f.Tagged+f.Out+f.Private != "" || f.In != nil:
		return exit.Misconfiguredf(typed, "a stream goes from - to -, without --tagged, --in and --out")
	}
	return stream.Run(c.Context(), a.Console, a.config, &stream.Options{Audit: f.Record.Audit})
}

func tags(a *app) (any, func(*cobra.Command) error) {
	f := new(notes.Options)
	return f, func(c *cobra.Command) error {
		args := c.Flags().Args()
		if len(args) == 2 {
			f.In, f.Out = args[0], args[1]
		} else if len(args) > 0 || f.In == "" || f.Out == "" {
			return arity(2, 2)(c, args)
		}
		if f.In+f.Out+f.From+f.To == "--" {
			unit, err := offset.ParseUnit(f.UnitOut)
			if err != nil {
				return exit.Misconfigured(err, "")
			}
			return stream.Run(c.Context(), a.Console, a.config, &stream.Options{Tag: true, Unit: unit})
		}
		cfg, err := a.config()
		if err != nil {
			return err
		}
		return notes.Tag(c.Context(), a.Console, cfg, f)
	}
}

func nights(a *app) (any, func(*cobra.Command) error) {
	f := &night.Options{Options: run.Options{Spoil: a.spoil, Disk: a.disk}}
	return f, func(c *cobra.Command) error {
		f.Config = a.options.File
		return night.Run(c.Context(), a.Console, a.config, f)
	}
}

func dossiers(a *app) (any, func(*cobra.Command) error) {
	f := &evidence.Options{Known: attack.Names(), Build: look.NewBuild(version, revision), Config: a.config}
	return f, func(c *cobra.Command) error { return evidence.Run(c.Context(), a.Console, f) }
}

func starts(a *app) (any, func(*cobra.Command) error) {
	f := &evenings.Options{Typed: os.Args[1:]}
	return f, func(c *cobra.Command) error {
		f.Own = a.options.File != "" || slices.ContainsFunc(a.Env, func(e string) bool { return strings.HasPrefix(e, "VELUM_CONFIG=") && e != "VELUM_CONFIG=" })
		f.Load = func(file string) (*option.Config, error) {
			sources := a.options
			sources.File = cmp.Or(sources.File, file)
			return option.Load(sources)
		}
		return evenings.Run(c.Context(), a.Console, f)
	}
}

func studies(a *app) (any, func(*cobra.Command) error) {
	f := new(study.Options)
	return f, func(c *cobra.Command) error { return study.Run(c.Context(), a.Console, a.options, f) }
}

func checks(a *app) (any, func(*cobra.Command) error) {
	f := new(proof.Options)
	return f, func(c *cobra.Command) error {
		if info, err := os.Stat(f.Path); err == nil && !info.IsDir() || strings.HasSuffix(f.Path, ".yaml") {
			return checkConfig(a, f.Path)
		}
		if err := proof.Trees(c.Context(), a.Console, f); err != nil || !c.Flags().Changed("exclude") && len(f.In) == 0 {
			return err
		}
		return proof.Absent(c.Context(), a.Console, a.config, f)
	}
}

// checkConfig lists every mistake of a configuration file.
func checkConfig(a *app, file string) error {
	a.options.File = file
	cfg, err := a.config()
	if err := flow.Check(cfg, err); err != nil {
		return err
	}
	hash, err := cfg.Hash()
	if err != nil {
		return err
	}
	return a.Tell(map[string]string{"file": file, "hash": hash}, "{{.file}}: no mistakes (options that shape the output: {{printf `%.16s` .hash}})\n")
}

func operators(_ context.Context, c *console.Console, _ *struct{}) error {
	return c.Tell(mask.Describe(), "{{range .}}{{index . 0}}\n    {{index . 1}}\n{{end}}")
}

type printing struct{ Reasons, Schema bool }

func prints(_ context.Context, c *console.Console, load func() (*option.Config, error), f *printing) error {
	if f.Schema {
		_, err := c.Out.Write(option.Schema())
		return err
	}
	cfg, err := load()
	if err != nil {
		return err
	}
	if c.JSON {
		return cfg.PrintJSON(c.Out)
	}
	return cfg.Print(c.Out, f.Reasons)
}

// sample implements `velum prove sample`: what reading a sample proves, and its record in the audit log.
type sample struct {
	proof.Leaks
	Dir     string
	Reading []string
}

func proves(a *app) (any, func(*cobra.Command) error) {
	f := new(sample)
	return f, func(c *cobra.Command) error {
		if (f.Dir != "") != (len(f.Reading) > 0) {
			return exit.Misconfiguredf("velum prove sample DIR --reading FILE; numbers alone go without DIR", "a reading of an output comes from the journal of velum review --ask audit")
		}
		err := error(nil)
		if f.Dir == "" {
			err = f.Solve()
		} else {
			err = f.record(a)
		}
		if err != nil {
			return err
		}
		return a.Tell(&f.Leaks, proof.LeaksText)
	}
}

// record takes what journals say into the audit log of an output.
func (f *sample) record(a *app) error {
	cfg, err := a.config()
	if err != nil {
		return err
	}
	key, err := review.HouseKey(cfg)
	if err != nil {
		return err
	}
	read, sums, err := review.Reading(f.Reading, key)
	if err != nil {
		return err
	}
	f.Read, f.Leaks.Leaks = read.Read, read.Leaks
	if err := f.Solve(); err != nil {
		return err
	}
	return f.Record(f.Dir, read, sums)
}
