package main

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/option"
)

// A toy verb. toyFlags and greet would be its room, toyText its section of verbs.txt, and its name in verbs the one
// line elsewhere.

type toyFlags struct{ Name string }

func greet(_ context.Context, c *console.Console, cfg *option.Config, f *toyFlags) error {
	if f.Name == "" {
		return exit.Errorf(exit.Config, "name somebody", "--name is needed")
	}
	_, err := fmt.Fprintf(c.Out, "%s has %d workers\n", f.Name, cfg.Run.Workers)
	return err
}

const toyText = `
## toy: --name NAME
Say how many workers somebody has

Examples:
  velum toy --name Ada --workers 3

Flags:
  name  ` + "`NAME`" + ` of somebody
  @ workers=run.workers
`

// TestToyVerb: a verb that is in the text has its help, its flags and options,
// its place among the others, a manual page and exit codes.
func TestToyVerb(t *testing.T) {
	before := verbsText
	verbsText += toyText
	verbs["toy"] = configured(greet)
	defer func() {
		verbsText = before
		delete(verbs, "toy")
	}()
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
