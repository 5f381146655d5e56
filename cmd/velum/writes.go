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

// writingFlags lists the flags that name output files of any verb. The trees of run, mask and forget are checked by
// package commit, which recognizes its own.
var writingFlags = []string{"out", "errors", "list", "questions", "work", "metrics", "audit-log", "models"}

// writesArgs marks a command whose arguments are what it writes.
const writesArgs = "writes arguments"

// mayWrite checks, before a command does anything, that it would not write into the output of a run.
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
			own = filepath.Join(private, filepath.Dir(audit.Name))
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
