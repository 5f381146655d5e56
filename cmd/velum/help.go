package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/option"
)

func init() {
	cobra.AddTemplateFuncs(map[string]any{
		"prose": console.Markdown, "hang": console.Wrap,
		"flags":  func(f *pflag.FlagSet) string { return strings.TrimRight(f.FlagUsagesWrapped(console.Width), "\n") },
		"topics": func() string { return strings.Join(topicNames(), ", ") },
	})
}

// wrongFlag says what is wrong with the flags of a command, and names the one
// that was meant.
func wrongFlag(c *cobra.Command, err error) error {
	if words := c.Flags().Args(); c.HasSubCommands() && len(words) > 0 {
		return unknownVerb(c, words) // whose flags are of course unknown
	}
	remedy := ""
	if unknown := new(pflag.NotExistError); errors.As(err, &unknown) {
		name := unknown.GetSpecifiedName()
		if group := unknown.GetSpecifiedShortnames(); group != "" {
			name = group // -in, where --in was meant
		}
		remedy = nearestFlag(c, name)
	}
	if value := new(pflag.InvalidValueError); errors.As(err, &value) && errors.As(err, new(*strconv.NumError)) {
		err = fmt.Errorf("--%s %s is no number that it takes", value.GetFlag().Name, value.GetValue())
	}
	if remedy == "" {
		remedy = "see `" + c.CommandPath() + " --help`"
	}
	return exit.Misconfiguredf(remedy, "%s: %w", c.CommandPath(), err)
}

// nearestFlag suggests a flag of c, or the option of that name, which --set
// sets.
func nearestFlag(c *cobra.Command, name string) string {
	var names []string
	c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	c.InheritedFlags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	if near := exit.Nearest(name, names); near != "" {
		return "did you mean --" + near + "?"
	}
	if key := option.KeyNamed(strings.ReplaceAll(name, "-", "_")); key != "" {
		return "it is an option: --set " + key + "=..."
	}
	return ""
}
