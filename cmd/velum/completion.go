package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/velum-health/velum/cmd/velum/internal/lab/study"
	"github.com/velum-health/velum/cmd/velum/internal/lab/train"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/cmd/velum/internal/review"
	"github.com/velum-health/velum/configs"
	"github.com/velum-health/velum/stages/read"
)

// lists maps the names of lists in verbs.txt to their values, for shell completion.
var lists = map[string]func() []string{
	"formats": read.Formats, "kinds": train.Kinds, "methods": train.VectorMethods, "questions": review.Questions, "schemes": configs.Schemes,
	"studies": study.Names,
}

// listed returns the values of <NAME>, <NAME...> or <WORD,WORD>.
func listed(values string) []string {
	values = strings.Trim(values, "<>.")
	if of := lists[values]; of != nil {
		return of()
	}
	return strings.Split(values, ",")
}

// values completes a word that somebody types.
type values func(typed string) ([]string, cobra.ShellCompDirective)

func completeWith(c *cobra.Command, flag string, with values) {
	err := c.RegisterFlagCompletionFunc(flag, func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		return with(typed)
	})
	if err != nil {
		panic(err) // the flag is there, and has none yet
	}
}

// completeValues makes the shell complete the values of flags that set an option, and of --set both keys and values.
// Names of files are completed where a value may be one.
func completeValues(c *cobra.Command) {
	complete := func(f *pflag.Flag) {
		_, known := c.GetFlagCompletionFunc(f.Name)
		key := option.KeyOf(f)
		switch {
		case known:
		case f.Name == "set":
			completeWith(c, f.Name, completeSet)
		case key != "":
			completeWith(c, f.Name, func(string) ([]string, cobra.ShellCompDirective) { return option.Values(key), directive(key) })
		}
	}
	c.Flags().VisitAll(complete)
	c.PersistentFlags().VisitAll(complete)
	for _, sub := range c.Commands() {
		completeValues(sub)
	}
}

// directive returns whether the shell should also complete file names.
func directive(key string) cobra.ShellCompDirective {
	if option.TakesFile(key) {
		return cobra.ShellCompDirectiveDefault
	}
	return cobra.ShellCompDirectiveNoFileComp
}

// completeSet completes KEY=VALUE.
func completeSet(typed string) ([]string, cobra.ShellCompDirective) {
	key, _, valued := strings.Cut(typed, "=")
	if !valued {
		var keys []string
		for _, k := range option.Keys() {
			keys = append(keys, k+"=")
		}
		return keys, cobra.ShellCompDirectiveNoSpace | cobra.ShellCompDirectiveNoFileComp
	}
	values := slices.Clone(option.Values(key))
	for i, v := range values {
		values[i] = key + "=" + v
	}
	return values, directive(key)
}
