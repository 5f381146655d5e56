package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// eachCommand calls do with every command that help lists, the root first.
func eachCommand(c *cobra.Command, do func(*cobra.Command)) {
	do(c)
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			eachCommand(sub, do)
		}
	}
}

func TestHelpIsNarrow(t *testing.T) {
	var out bytes.Buffer
	root := newRootCommand(newApp(&out, &out, nil))
	commands := 0
	eachCommand(root, func(c *cobra.Command) {
		commands++
		out.Reset()
		if err := c.Help(); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(out.String()) {
			line = strings.TrimSuffix(line, "\n")
			if n := utf8.RuneCountInString(line); n > console.Width {
				t.Errorf("%s: %d columns: %q", c.CommandPath(), n, line)
			}
			if i := strings.IndexAny(line, "`§"); i >= 0 {
				t.Errorf("%s: a backtick or a section sign: %q", c.CommandPath(), line)
			}
		}
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if kind, _ := pflag.UnquoteUsage(f); strings.Contains(kind, " ") {
				t.Errorf("%s: --%s wants %q", c.CommandPath(), f.Name, kind)
			}
		})
	})
	if commands < 30 {
		t.Errorf("%d commands", commands)
	}
}

func TestWrapFrom(t *testing.T) {
	words := strings.Repeat("word ", 20)
	for _, line := range strings.Split(console.Wrap(14, words), "\n")[1:] {
		if !strings.HasPrefix(line, strings.Repeat(" ", 14)+"word") || len(line) > console.Width {
			t.Errorf("%q", line)
		}
	}
	if got := console.Wrap(0, "a  b\nc"); got != "a b c" {
		t.Errorf("%q", got)
	}
}

func TestProseKeepsTables(t *testing.T) {
	const want = "one two\n\n  x=1   a table\n  y=2   of two lines\n\nthree"
	if got := console.Markdown("one\ntwo\n\n  x=1   a table\n  y=2   of two lines\n\nthree"); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
