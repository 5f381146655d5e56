package main

import (
	"bytes"
	_ "embed"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/pipeline/durable"
)

func newManCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "man DIR",
		Short:   "Write a manual page for every command",
		Example: "  velum help man ~/.local/share/man/man1   # then: man velum-run",
		Args:    arity(1, 1),

		Annotations: map[string]string{writesArgs: "yes"},
		RunE: func(c *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return err
			}
			return writeManPages(c.Root(), args[0])
		},
	}
}

// writeManPages writes a page for c and every command below it. The pages hold
// no date, so that a package built twice is the same.
func writeManPages(c *cobra.Command, dir string) error {
	var page bytes.Buffer
	if err := manPage.Execute(&page, c); err != nil {
		return err
	}
	// A manual is for everybody, unlike everything else that velum writes.
	file := filepath.Join(dir, pageName(c)+".1")
	if err := durable.WriteFile(nil, file, page.Bytes()); err != nil {
		return err
	}
	if err := os.Chmod(file, 0o644); err != nil {
		return err
	}
	for _, sub := range c.Commands() {
		if !sub.IsAvailableCommand() {
			continue
		}
		if err := writeManPages(sub, dir); err != nil {
			return err
		}
	}
	return nil
}

// manText is a page in the man(7) macros. cobra has a generator too; it drags in a Markdown parser for what is a template here.
//
//go:embed man.txt
var manText string

var manPage = template.Must(template.New("man").Funcs(template.FuncMap{
	"roff": roff, "upper": strings.ToUpper, "page": pageName,
	"version": func() string { return version },
	"codes":   func() []exit.Code { return exit.Codes },
	"words":   func(c exit.Code) string { return strings.ReplaceAll(c.String(), "_", " ") },
	"each": func(f *pflag.FlagSet) (all []*pflag.Flag) {
		f.VisitAll(func(flag *pflag.Flag) { all = append(all, flag) })
		return all
	},
	"unquoted": func(f *pflag.Flag) []string {
		kind, usage := pflag.UnquoteUsage(f)
		return []string{kind, usage}
	},
}).Parse(manText))

func pageName(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

// roff escapes text: a backslash, a hyphen, and a dot or quote at the start
// of a line mean something to the formatter.
func roff(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(s)
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, ".") || strings.HasPrefix(l, "'") {
			lines[i] = `\&` + l
		}
	}
	return strings.Join(lines, "\n")
}
