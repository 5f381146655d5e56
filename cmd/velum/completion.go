package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/velum-health/velum/cmd/velum/internal/lab/train"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/configs"
	"github.com/velum-health/velum/stages/read"
)

// valuesOf are the values of flags that set no option, by the flag's name, for
// completion in a shell.
var valuesOf = map[string]func() []string{
	"to":            read.Formats,
	"from":          read.Formats,
	"system-from":   read.Formats,
	"kind":          train.Kinds,
	"labels":        configs.Schemes,
	"categories":    configs.Schemes,
	"normalization": func() []string { return []string{"form", "lower", "fold"} },
	"offsets-in":    offsetUnits,
	"offsets-out":   offsetUnits,
	"scheme":        func() []string { return []string{"BIO", "BIOESU"} },
	"split":         func() []string { return []string{"train", "test"} },
	"language":      func() []string { return []string{"es", "ca", "mixed"} },
}

// methodsOf are those of --method, which means another thing to each verb.
var methodsOf = map[string]func() []string{
	"embed": train.VectorMethods,
	"train": func() []string { return []string{"divergence", "binary"} },
}

func offsetUnits() []string { return []string{"bytes", "codepoints", "utf16"} }

// completeValues makes the shell complete the values of flags: those of the
// option that a flag sets, of --set both keys and values, else what valuesOf
// says. Names of files are completed where a value may be one.
func completeValues(c *cobra.Command) {
	c.Flags().VisitAll(func(f *pflag.Flag) { completeFlag(c, f) })
	c.PersistentFlags().VisitAll(func(f *pflag.Flag) { completeFlag(c, f) })
	for _, sub := range c.Commands() {
		completeValues(sub)
	}
}

func completeFlag(c *cobra.Command, f *pflag.Flag) {
	if _, known := c.GetFlagCompletionFunc(f.Name); known {
		return
	}
	of := valuesOf[f.Name]
	if f.Name == "method" {
		of = methodsOf[c.Name()]
	}
	complete := func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return of(), cobra.ShellCompDirectiveNoFileComp
	}
	key := option.KeyOf(f)
	switch {
	case f.Name == "set":
		complete = completeSet
	case key != "":
		complete = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return option.Values(key), directive(key)
		}
	case of == nil:
		return // a file, a number, a word
	}
	if err := c.RegisterFlagCompletionFunc(f.Name, complete); err != nil {
		panic(err) // the flag is there, and has none yet
	}
}

// directive says whether a value may also be a file.
func directive(key string) cobra.ShellCompDirective {
	if option.TakesFile(key) {
		return cobra.ShellCompDirectiveDefault
	}
	return cobra.ShellCompDirectiveNoFileComp
}

// completeSet completes KEY=VALUE.
func completeSet(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
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
