package main

import (
	"io"
	"os"
	"slices"

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

// planned loads the configuration on top of the options saved in a plan.
func (a *app) planned(plan []byte) (*option.Config, error) {
	a.options.Plan = plan
	return a.config()
}

// unknownVerb returns the error for an unknown verb on the command line, with the nearest known one.
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
	return exit.Misconfiguredf(remedy, "unknown command %q", args[0])
}

// verbNames returns the names of the subcommands of c.
func verbNames(c *cobra.Command) (names []string) {
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	return names
}
