package main

import (
	"embed"
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
)

// topics holds the pages of `velum help TOPIC`, a file each, readable on a forge too. None has the name of a verb.
//
//go:embed topics/*.md
var topics embed.FS

// topicNames are the names of the pages, sorted.
func topicNames() (names []string) {
	entries, _ := topics.ReadDir("topics") // embedded: it is there
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".md"))
	}
	return names
}

// newHelpCommand stands in place of cobra's, which ends with exit code 0 and the whole help when it does not know a word.
func newHelpCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "help [COMMAND | TOPIC]",
		Short:   "Help on a command, or on a topic",
		Example: "  velum help run\n  velum help formats    # what velum reads, and what it writes",
		ValidArgsFunction: func(c *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
			return append(verbNames(c.Root()), topicNames()...), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(c *cobra.Command, args []string) error {
			found, rest, err := c.Root().Find(args)
			if err != nil {
				return err
			}
			if len(rest) == 0 {
				found.InitDefaultHelpFlag()
				return found.Help()
			}
			if found != c.Root() {
				return unknownVerb(found, rest)
			}
			return helpTopic(c, rest[0])
		},
	}
}

// helpTopic prints the page of that name.
func helpTopic(c *cobra.Command, name string) error {
	page, err := topics.ReadFile("topics/" + name + ".md")
	if err == nil {
		_, err := fmt.Fprintln(c.OutOrStdout(), plain(string(page)))
		return err
	}
	remedy := exit.DidYouMean(name, append(verbNames(c.Root()), topicNames()...))
	if remedy == "" {
		remedy = "`velum help` lists all commands and topics"
	}
	return exit.Errorf(exit.Config, remedy, "no command and no topic %q", name)
}

// link is a link of Markdown, of which a terminal shows the text alone.
var link = regexp.MustCompile(`\[([^\]]+)\]\([^)]+\)`)

// plain is Markdown for a terminal: paragraphs and tables are wrapped, what is fenced stays as it is, two columns in.
func plain(markdown string) string {
	var out, paragraph []string
	end := func() {
		if len(paragraph) > 0 {
			out, paragraph = append(out, wrapFrom(0, link.ReplaceAllString(strings.Join(paragraph, " "), "$1"))), nil
		}
	}
	fenced, row := false, 0
	for line := range strings.SplitSeq(markdown, "\n") {
		bullet := strings.HasPrefix(line, "* ")
		if !strings.HasPrefix(line, "|") {
			row = 0
		}
		switch {
		case strings.HasPrefix(line, "```"):
			end()
			fenced = !fenced
		case fenced:
			out = append(out, strings.TrimRight("  "+line, " "))
		case strings.HasPrefix(line, "|"):
			end()
			if row++; row != 2 { // the line under the names of columns
				out = append(out, tableRow(line))
			}
		case line == "":
			end()
			out = append(out, "")
		case strings.HasPrefix(line, "#"):
			end()
			out = append(out, strings.ToUpper(strings.TrimLeft(line, "# ")))
		default:
			if bullet {
				end()
			}
			paragraph = append(paragraph, line)
		}
	}
	end()
	return strings.Join(out, "\n")
}

// tableRow is a row of a table: its first cell, and the others below it.
func tableRow(line string) string {
	cells := strings.Split(strings.TrimSuffix(strings.TrimPrefix(line, "| "), "|"), " |")
	var others []string
	for _, cell := range cells[1:] {
		if cell = strings.TrimSpace(cell); cell != "" {
			others = append(others, cell)
		}
	}
	return "  " + wrapFrom(2, cells[0]) + "\n      " + wrapFrom(6, link.ReplaceAllString(strings.Join(others, " · "), "$1"))
}
