package main

import (
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
)

var (
	pathFlag = regexp.MustCompile(`--([a-z-]+) (ARCHIVE|DIR|EXTRACT|FILE|IN|NOTES|OUT|PATH)\b`) // in a usage line
	optional = regexp.MustCompile(`\[[^]]*\]|\|.*`)                                             // what such a line can do without
)

// withFlags returns a command as it should have been typed: arguments without a
// flag stand behind those that the usage line wants and nobody gave, in its order.
// Those left over go to the first flag that takes several, since a shell makes
// many files of `--in *.parquet`. "" if no flag wants them.
func withFlags(c *cobra.Command, args []string) string {
	paths := pathFlags(c, len(args))
	over := len(args)
	for _, p := range paths {
		if !p.flag.Changed {
			over--
		}
	}
	more := map[string][]string{} // by flag
	for _, p := range paths {
		take := 1
		if p.flag.Changed {
			take = 0
		}
		if over > 0 && takesMany(p.flag) {
			take, over = take+over, 0
		}
		if take > len(args) {
			more[p.flag.Name] = []string{p.value}
			continue
		}
		more[p.flag.Name], args = args[:take], args[take:]
	}
	if len(args) > 0 {
		return ""
	}
	typed := []string{c.CommandPath()}
	for _, p := range paths {
		typed = append(typed, flagged(p.flag, more[p.flag.Name])...)
	}
	c.Flags().Visit(func(f *pflag.Flag) {
		if !slices.ContainsFunc(paths, func(p wanted) bool { return p.flag == f }) {
			typed = append(typed, flagged(f, nil)...)
		}
	})
	return strings.Join(typed, " ")
}

// wanted is a flag that takes a path, and what stands for it in the usage line.
type wanted struct {
	flag  *pflag.Flag
	value string
}

// pathFlags are those that a command cannot do without by its usage line, the
// first of those in brackets too where there are more arguments; of one that has
// none there, --in and --out.
func pathFlags(c *cobra.Command, args int) (all []wanted) {
	use, choice, _ := strings.Cut(optional.ReplaceAllString(c.Use, ""), "(")
	if !strings.Contains(use, "--") && c.Flags().Lookup("in") != nil && c.Flags().Lookup("out") != nil {
		use = "--in IN --out OUT"
	}
	for i, part := range []string{use, choice} {
		for _, m := range pathFlag.FindAllStringSubmatch(part, -1) {
			if f := c.Flags().Lookup(m[1]); f != nil && (i == 0 || args > len(all)) {
				all = append(all, wanted{f, m[2]})
			}
		}
	}
	return all
}

func takesMany(f *pflag.Flag) bool {
	_, repeats := f.Value.(pflag.SliceValue)
	return repeats || f.Value.Type() == "a,b"
}

// flagged returns a flag as it was given, and with more values, as it may be typed again.
func flagged(f *pflag.Flag, more []string) (typed []string) {
	var values []string
	if s, ok := f.Value.(pflag.SliceValue); ok {
		values = s.GetSlice()
	} else if f.Changed {
		values = []string{f.Value.String()}
	}
	values = append(values, more...)
	if f.Value.Type() == "a,b" {
		values = []string{strings.Join(values, ",")}
	}
	for _, v := range values {
		switch {
		case f.NoOptDefVal == "":
			typed = append(typed, "--"+f.Name, exit.Quoted(v))
		case v == f.NoOptDefVal:
			typed = append(typed, "--"+f.Name)
		default:
			typed = append(typed, "--"+f.Name+"="+exit.Quoted(v))
		}
	}
	return typed
}
