package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/lab/pack"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/configs"
)

func newRulesCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "rules",
		Short: "Check and try networks of rules that find names and places; make a tagger of them",
		Example: `  velum teach rules check ours.atn
  velum teach rules trace shipped "Visto por la Dra. Puig en Sants"`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newRulesCheckCommand(a), newRulesTraceCommand(a), newRulesTestCommand(a), newRulesBuildCommand(a), newRulesWordsCommand(a))
	return c
}

// packArgument says what the first argument of every verb on rules is.
const packArgument = `FILE is a file of rules; "` + configs.ShippedPack + `" names the rules that velum ships.`

func needPack(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return exit.Errorf(exit.Config, "see `"+c.CommandPath()+" --help`", "%s: name a file of rules", c.CommandPath())
	}
	return nil
}

func newRulesCheckCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "check FILE...",
		Short: "Compile files of rules: every mistake with line, column and what is expected",
		Long: "Compile files of rules and print what they hold. " + packArgument + `
Files of words alone (resolve.words) are checked, too.`,
		Example: `  velum teach rules check ours.atn shipped`,
		Args:    needPack,
		RunE: heeds(a, func(_ context.Context, cfg *option.Config, args []string) error {
			return pack.Check(a.Console, cfg, args)
		}),
	}
}

func newRulesTraceCommand(a *app) *cobra.Command {
	var o pack.TraceOptions
	c := &cobra.Command{
		Use:   "trace FILE [SENTENCE...]",
		Short: "Show the path through a network for a sentence, or for a note by its id",
		Long: `Show what the rules find and on which path: state by state, with the line of the file.
` + packArgument + ` With --in and --id the note's words are printed: to a terminal
of somebody who may read it.`,
		Example: `  velum teach rules trace shipped "Vive con su hija Teresa en Reus"
  velum teach rules trace shipped --in notes.jsonl --id 7`,
		Args: needPack,
		RunE: heeds(a, func(ctx context.Context, cfg *option.Config, args []string) error {
			o.Sentence = strings.Join(args[1:], " ")
			return pack.Trace(ctx, a.Console, cfg, args[0], &o)
		}),
	}
	c.Flags().StringVar(&o.In, "in", "", "`PATH` of notes")
	c.Flags().StringVar(&o.ID, "id", "", "`ID` of a note in them")
	a.noteFlags(c)
	return c
}

func newRulesTestCommand(a *app) *cobra.Command {
	var gold, with string
	c := &cobra.Command{
		Use:   "test FILE --gold PATH",
		Short: "Score rules on labelled notes, network by network",
		Long: `Run each network over labelled notes and print how many of its finds share a word with a gold span of
its category, how many do not, and what no network found. With the rules as they were (--with) it counts the errors that
went and those that came: a rule is worth it if it mends more than one and F1 does not fall. --json lists the errors,
by note and byte. ` + packArgument,
		Example: `  velum teach rules test shipped --gold dev.jsonl
  velum teach rules test ours.atn --gold dev.jsonl --with old.atn`,
		Args: needPack,
		RunE: heeds(a, func(ctx context.Context, cfg *option.Config, args []string) error {
			return pack.Test(ctx, a.Console, cfg, args[0], with, gold)
		}),
	}
	c.Flags().StringVar(&gold, "gold", "", "`PATH` of labelled notes")
	c.Flags().StringVar(&with, "with", "", "`FILE` of the rules as they were")
	a.noteFlags(c)
	return c
}

func newRulesWordsCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "words [LIST...]",
		Short: "Print the lists of words that the rules of velum go by",
		Long: `Print the lists of words that the rules of velum go by (titles, kin, weekdays, fields of
reports...), as resolve.words changes them, or those named. What is printed is a file for resolve.words.`,
		Example: `  velum teach rules words title kin
  velum teach rules words --set resolve.words=words.atn > all.atn`,
		RunE: heeds(a, func(_ context.Context, cfg *option.Config, args []string) error {
			return pack.Words(a.Console, cfg, args)
		}),
	}
}

func newRulesBuildCommand(a *app) *cobra.Command {
	var out string
	c := &cobra.Command{
		Use:   "build FILE --out FILE",
		Short: "Make a tagger of a file of rules, for --model",
		Long:  "Make a model file of rules: a tagger by itself, for --model and for ensembles. " + packArgument,
		Example: `  velum teach rules build shipped --out rules.velum
  velum prove evaluate --gold gold.jsonl --model rules.velum`,
		Args: needPack,
		RunE: heeds(a, func(_ context.Context, cfg *option.Config, args []string) error {
			return pack.Build(a.Console, cfg, args[0], out)
		}),
	}
	c.Flags().StringVar(&out, "out", "", "`FILE` to write")
	return c
}
