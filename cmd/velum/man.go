package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

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
	name := strings.ReplaceAll(c.CommandPath(), " ", "-")
	// A manual is for everybody, unlike everything else that velum writes.
	file := filepath.Join(dir, name+".1")
	if err := durable.WriteFile(nil, file, manPage(c, name)); err != nil {
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

// manPage returns the page in the man(7) macros. cobra has a generator too; it
// drags in a Markdown parser for what is forty lines here.
func manPage(c *cobra.Command, name string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, ".TH %q 1 \"\" \"velum %s\" \"velum manual\"\n", strings.ToUpper(name), roff(version))
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roff(name), roff(c.Short))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n.B %s\n", roff(c.UseLine()))
	if c.Long != "" {
		fmt.Fprintf(&b, ".SH DESCRIPTION\n%s\n", roff(c.Long))
	}
	if c.Example != "" {
		fmt.Fprintf(&b, ".SH EXAMPLES\n.nf\n%s\n.fi\n", roff(c.Example))
	}
	manFlags(&b, "OPTIONS", c.LocalFlags())
	manFlags(&b, "OPTIONS OF EVERY COMMAND", c.InheritedFlags())
	if subs := c.Commands(); len(subs) > 0 {
		b.WriteString(".SH COMMANDS\n")
		for _, sub := range subs {
			if sub.IsAvailableCommand() {
				fmt.Fprintf(&b, ".TP\n.BR %s (1)\n%s\n", roff(name+"-"+sub.Name()), roff(sub.Short))
			}
		}
	}
	b.WriteString(".SH EXIT STATUS\n")
	for _, code := range exit.Codes {
		fmt.Fprintf(&b, ".TP\n.B %d\n%s\n", code, roff(strings.ReplaceAll(code.String(), "_", " ")))
	}
	return b.Bytes()
}

func manFlags(b *bytes.Buffer, title string, flags *pflag.FlagSet) {
	if !flags.HasAvailableFlags() {
		return
	}
	fmt.Fprintf(b, ".SH %s\n", title)
	flags.VisitAll(func(f *pflag.Flag) {
		kind, usage := pflag.UnquoteUsage(f)
		short := ""
		if f.Shorthand != "" {
			short = `\-` + f.Shorthand + ", "
		}
		fmt.Fprintf(b, ".TP\n.B %s\\-\\-%s %s\n%s\n", short, roff(f.Name), roff(kind), roff(usage))
	})
}

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
