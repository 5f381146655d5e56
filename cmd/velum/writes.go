package main

import (
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/pipeline/audit"
	"github.com/velum-health/velum/pipeline/commit"
)

// writingFlags name what a verb writes, whatever the verb is. The trees of run, mask
// and forget are looked at by package commit, which knows when they are its own.
var writingFlags = []string{"out", "errors", "list", "questions", "work", "metrics", "private-metrics", "audit-log", "models"}

// writesArgs marks a command whose arguments are what it writes.
const writesArgs = "writes arguments"

// mayWrite asks whose the places are that a command would write, before it does
// anything: nothing is put into the output of a run but by a run.
func mayWrite(c *cobra.Command, args []string) error {
	value := func(flag string) string {
		if f := c.Flags().Lookup(flag); f != nil {
			return f.Value.String()
		}
		return ""
	}
	out, private, runs := "", "", c.Flags().Lookup("audit-log") != nil || c.Flags().Lookup("replace") != nil
	if runs {
		out, private = value("out"), value("private")
		if c.Flags().Lookup("out") == nil { // finish
			out = args[0]
		}
		if private == "" && out != "" {
			private = commit.PrivateDir(out)
		}
	}
	ask := func(name, own string) error {
		if name == "" {
			return nil
		}
		if err := commit.Writable(name, own); err != nil || own != "" && commit.Within(name, own) {
			return err
		}
		if runs && out != "" && (commit.Within(name, out) || commit.Within(name, private)) {
			return exit.Misconfiguredf("name a place outside of it", "%s stands in the output", name)
		}
		return nil
	}
	var err error
	c.Flags().Visit(func(f *pflag.Flag) {
		if err != nil || !slices.Contains(writingFlags, f.Name) || runs && f.Name == "out" {
			return
		}
		own := ""
		if f.Name == "audit-log" {
			own = filepath.Join(private, filepath.Dir(filepath.FromSlash(audit.Name)))
		}
		err = ask(f.Value.String(), own)
	})
	for _, name := range args {
		if err == nil && c.Annotations[writesArgs] != "" {
			err = ask(name, "")
		}
	}
	return err
}
