package main

import (
	"context"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/pipeline/durable"
)

// app holds the state that all verbs share: streams, global flags and what is made from
// them. Verbs read it when they run, not when they are built.
type app struct {
	*console.Console
	options option.Sources

	spoil func(*commit.Line) // tests put faults into the line of a run here
	disk  durable.FS         // and below its output here; nil: the machine's
}

func newApp(out, errs io.Writer, env []string) *app {
	return &app{Console: &console.Console{In: os.Stdin, Out: out, Errs: errs, Env: env, Version: version}, options: option.Sources{Env: env}}
}

// config loads the effective configuration.
func (a *app) config() (*option.Config, error) {
	return option.Load(a.options)
}

// planned loads it over the options of a plan.
func (a *app) planned(plan []byte) (*option.Config, error) {
	a.options.Plan = plan
	return a.config()
}

// call returns what a command runs that takes the configuration and flags.
func call[F any](a *app, do func(context.Context, *console.Console, *option.Config, F) error, flags F) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, _ []string) error {
		cfg, err := a.config()
		if err != nil {
			return err
		}
		return do(c.Context(), a.Console, cfg, flags)
	}
}

// heeds is call for a command with arguments.
func heeds(a *app, do func(ctx context.Context, cfg *option.Config, args []string) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		return call(a, func(ctx context.Context, _ *console.Console, cfg *option.Config, args []string) error {
			return do(ctx, cfg, args)
		}, args)(c, nil)
	}
}

// optionFlag adds a flag that sets the option key. What is wrong with its
// value is reported with all other mistakes when the configuration is loaded.
func (a *app) optionFlag(c *cobra.Command, name, key string) {
	a.options.AddFlag(c.Flags(), name, key)
}

// optionFlags adds several, each as name=key.
func (a *app) optionFlags(c *cobra.Command, flags ...string) {
	for _, f := range flags {
		name, key, _ := strings.Cut(f, "=")
		a.optionFlag(c, name, key)
	}
}

func noArgs(c *cobra.Command, args []string) error { return exactArgs(0)(c, args) }

// exactArgs is cobra's ExactArgs with our exit code.
func exactArgs(n int) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) == n {
			return nil
		}
		if len(args) > 0 && exit.DidYouMean(args[0], verbNames(c)) != "" {
			return unknownVerb(c, args)
		}
		if typed := withFlags(c, args); n == 0 && typed != "" {
			return exit.Errorf(exit.Config, "type `"+typed+"`", "%s: no flag before %s", c.CommandPath(), strings.Join(args[:min(len(args), 5)], ", "))
		}
		return exit.Errorf(exit.Config, "see `"+c.CommandPath()+" --help`", "%s: arguments: want %d, have %d", c.CommandPath(), n, len(args))
	}
}

// mostArgs is cobra's MaximumNArgs with our exit code.
func mostArgs(n int) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) > n {
			return exit.Errorf(exit.Config, "put what has spaces in quotes; see `"+c.CommandPath()+" --help`", "%s: arguments: want at most %d, have %d", c.CommandPath(), n, len(args))
		}
		return nil
	}
}

// unknownVerb refuses arguments of the root command and names the verb that
// was meant.
func unknownVerb(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	names := verbNames(c)
	remedy := exit.DidYouMean(args[0], names)
	for _, parent := range c.Root().Commands() { // one that stands below another
		if slices.Contains(verbNames(parent), args[0]) {
			remedy = "type `" + parent.CommandPath() + " " + args[0] + "`"
		}
	}
	if remedy == "" {
		remedy = "`velum help` lists all commands"
	}
	return exit.Errorf(exit.Config, remedy, "unknown command %q", args[0])
}

// verbNames are the names of the commands below c.
func verbNames(c *cobra.Command) (names []string) {
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	return names
}
