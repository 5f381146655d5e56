package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/option"
)

// Flags of options go through the same checks as every other source.
func TestOptionFlags(t *testing.T) {
	run := func(args ...string) (*option.Config, error) {
		a := newApp(&bytes.Buffer{}, &bytes.Buffer{}, nil)
		var cfg *option.Config
		planted := &cobra.Command{Use: "planted", RunE: func(*cobra.Command, []string) (err error) {
			cfg, err = a.config()
			return err
		}}
		a.options.AddFlag(planted.Flags(), "k", "choose.k")
		a.options.AddFlag(planted.Flags(), "spans", "write.spans")
		a.options.AddFlag(planted.Flags(), "rules", "resolve.rules")
		a.options.AddFlag(planted.Flags(), "deadline", "run.deadline")
		root := newRootCommand(a)
		root.AddCommand(planted)
		root.SetArgs(append([]string{"planted"}, args...))
		err := a.execute(t.Context(), root)
		if usage := planted.Flags().FlagUsages(); !strings.Contains(usage, "--deadline duration") || !strings.Contains(usage, "(choose.k)") {
			t.Errorf("usage:\n%s", usage)
		}
		return cfg, err
	}
	c, err := run("--k", "5", "--spans=false", "--rules", "--deadline=2h", "--set", "choose.k=6")
	if err != nil {
		t.Fatal(err)
	}
	if c.Choose.K != 6 || c.Write.Spans || !c.Resolve.Rules || c.Run.Deadline.Hours() != 2 {
		t.Errorf("got %+v %+v %+v", c.Choose, c.Write, c.Run)
	}
	if _, err = run("--k", "many", "--deadline", "2"); exit.CodeOf(err) != exit.Config || !strings.HasPrefix(err.Error(), "2 mistakes") {
		t.Errorf("got %v", err)
	}
}
