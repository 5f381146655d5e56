package main

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/option"
)

// A toy verb. toyFlags and greet would be its room, newToyCommand its file, and
// its name in verbs the one line elsewhere.

type toyFlags struct{ name string }

func greet(_ context.Context, c *console.Console, cfg *option.Config, f *toyFlags) error {
	if f.name == "" {
		return exit.Errorf(exit.Config, "name somebody", "--name is needed")
	}
	_, err := fmt.Fprintf(c.Out, "%s has %d workers\n", f.name, cfg.Run.Workers)
	return err
}

func newToyCommand(a *app) *cobra.Command {
	var f toyFlags
	c := &cobra.Command{
		Use:     "toy --name NAME",
		Short:   "Say how many workers somebody has",
		Example: `  velum toy --name Ada --workers 3`,
		Args:    noArgs,
		RunE:    call(a, greet, &f),
	}
	c.Flags().StringVar(&f.name, "name", "", "`NAME` of somebody")
	a.optionFlag(c, "workers", "run.workers")
	return c
}

// TestToyVerb: a verb that is in the list has its help, its flags and options,
// its place among the others, a manual page and exit codes.
func TestToyVerb(t *testing.T) {
	verbs = append(slices.Clip(verbs), verb{"", newToyCommand})
	defer func() { verbs = verbs[:len(verbs)-1] }()
	for _, c := range []struct {
		args string
		code exit.Code
		want string
	}{
		{"toy --name Ada --workers 3", 0, "Ada has 3 workers"},
		{"toy", exit.Config, "--name is needed"},
		{"toy --name Ada --workers many", exit.Config, "--workers: want a whole number"},
		{"toy Ada", exit.Config, "want 0, have 1"},
		{"help toy", 0, "NAME of somebody"},
		{"help", 0, "Say how many workers"},
		{"toi", exit.Config, "toy"},
		{"__complete to", 0, "toy"},
	} {
		var out, errs bytes.Buffer
		code := start(strings.Fields(c.args), &out, &errs, nil)
		if code != c.code || !strings.Contains(out.String()+errs.String(), c.want) {
			t.Errorf("velum %s: exit code %d, want %d and %q:\n%s%s", c.args, code, c.code, c.want, out.String(), errs.String())
		}
	}
}
