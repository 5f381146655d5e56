package main

import (
	"embed"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/velum-health/velum/cmd/velum/internal/console"
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
	c := &cobra.Command{
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
	c.AddCommand(newManCommand())
	return c
}

// helpTopic prints the page of that name.
func helpTopic(c *cobra.Command, name string) error {
	page, err := topics.ReadFile("topics/" + name + ".md")
	if err == nil {
		_, err := fmt.Fprintln(c.OutOrStdout(), console.Markdown(string(page)))
		return err
	}
	remedy := exit.DidYouMean(name, append(verbNames(c.Root()), topicNames()...))
	if remedy == "" {
		remedy = "`velum help` lists all commands and topics"
	}
	return exit.Misconfiguredf(remedy, "no command and no topic %q", name)
}
