package main

import (
	"bytes"
	"math"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// Flags of options go through the same checks as every other source.
func TestOptionFlags(t *testing.T) {
	run := func(args ...string) (*Config, error) {
		a := &app{out: &bytes.Buffer{}, errs: &bytes.Buffer{}}
		var cfg *Config
		planted := &cobra.Command{Use: "planted", RunE: func(*cobra.Command, []string) (err error) {
			cfg, err = a.config()
			return err
		}}
		a.optionFlag(planted, "k", "choose.k")
		a.optionFlag(planted, "spans", "write.spans")
		a.optionFlag(planted, "rules", "resolve.rules")
		a.optionFlag(planted, "deadline", "run.deadline")
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
	if _, err = run("--k", "many", "--deadline", "2"); exitCodeOf(err) != exitConfig || !strings.HasPrefix(err.Error(), "2 mistakes") {
		t.Errorf("got %v", err)
	}
}

func TestSetMemory(t *testing.T) {
	limit, percent := debug.SetMemoryLimit(-1), debug.SetGCPercent(100)
	defer func() { debug.SetMemoryLimit(limit); debug.SetGCPercent(percent) }()
	(&app{}).setMemory(3 << 30)
	if got := debug.SetMemoryLimit(-1); got != 3<<30 {
		t.Errorf("limit %d", got)
	}
	(&app{}).steadyMemory()
	if got := debug.SetGCPercent(100); got != gcPercent {
		t.Errorf("GC percent %d", got)
	}
	debug.SetMemoryLimit(math.MaxInt64)
	(&app{env: []string{"GOMEMLIMIT=1GiB", "GOGC=50"}}).setMemory(0) // the runtime has read both already
	if got := debug.SetMemoryLimit(-1); got != math.MaxInt64 {
		t.Errorf("limit %d beside GOMEMLIMIT", got)
	}
	(&app{env: []string{"GOGC=50"}}).steadyMemory()
	if got := debug.SetGCPercent(100); got != 100 {
		t.Errorf("GC percent %d beside GOGC", got)
	}
}
