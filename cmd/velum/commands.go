package main

import (
	"cmp"
	_ "embed"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
)

// verbsText has the verbs in the order of the help text: a section each, with usage, help, examples, the fields of its
// options that take the arguments, and flags. A line of flags is
//
//	name<VALUES>:Field...=default  usage
//
// of which all but name and usage may be missing. VALUES are what the flag takes and a shell completes: words, or a name
// of lists, with dots behind it where other values are good as well. Field is where the value goes, that of the flag's name
// by default. Of a list with dots after it each flag is one value, commas included. "@ name=key" are flags that set options,
// and "& group" stands for the flags of the section of that name. Behind the flags stand the marks of cobra, with names of
// flags: "! a b", all must be given; "| a b", one of them; "+ a b", all or none; "/ a b", at most one.
//
//go:embed verbs.txt
var verbsText string

// addVerbs adds the verbs to the root command. A verb without a function only groups the verbs below it.
func (a *app) addVerbs(root *cobra.Command, text string) {
	groups := map[string]string{}
	above := map[string]*cobra.Command{"": root}
	for section := range strings.SplitSeq(strings.TrimPrefix(text, "## "), "\n## ") {
		head, body, _ := strings.Cut(section, "\n")
		body, flags, _ := strings.Cut(body, "\nFlags:\n")
		if group, ok := strings.CutPrefix(head, "& "); ok {
			groups[group] = flags
			continue
		}
		body, arguments, _ := strings.Cut(body, "\nArguments: ")
		body, example, _ := strings.Cut(body, "\nExamples:\n")
		short, long, _ := strings.Cut(body, "\n")
		path, use, _ := strings.Cut(head, ":")
		words := strings.Fields(path)
		last := len(words) - 1
		c := &cobra.Command{Use: words[last] + use, Short: short, Long: strings.TrimSpace(long), Example: strings.TrimRight(example, "\n"),
			Args: unknownVerb, RunE: func(c *cobra.Command, _ []string) error { return c.Help() }}
		above[strings.Join(words[:last], " ")].AddCommand(c)
		above[path] = c
		if open := verbs[path]; open != nil {
			options, run := open(a)
			at := reflect.ValueOf(options).Elem()
			takeArguments(c, at, arguments, run)
			a.addFlags(c, at, flags, groups)
		}
	}
}

// takeArguments makes the command copy its arguments into the fields that line names: [Field] for an optional argument,
// Field... for several.
func takeArguments(c *cobra.Command, options reflect.Value, line string, run func(*cobra.Command) error) {
	least, most := 0, 0
	var places []reflect.Value
	for _, word := range strings.Fields(line) {
		if word[0] == '<' {
			c.ValidArgs = listed(word)
			continue
		}
		if field := strings.Trim(word, "[]."); field != "" {
			places = append(places, options.FieldByName(field))
		}
		if most++; word[0] != '[' {
			least++
		}
		if strings.Contains(word, "...") {
			most = math.MaxInt
		}
	}
	c.Args = arity(least, most)
	c.RunE = func(c *cobra.Command, args []string) error {
		for i, place := range places {
			if place.Kind() == reflect.Slice {
				place.Set(reflect.ValueOf(args[min(i, len(args)):]))
			} else if i < len(args) {
				place.SetString(args[i])
			}
		}
		return run(c)
	}
}

// flagForm matches the first word of a line that declares a flag.
var flagForm = regexp.MustCompile(`^([a-z-]+)(<.+>)?(?::(\w+(?:\.\w+)*))?(\.\.\.)?(?:=(.*))?$`)

// addFlags adds the flags of lines, which set fields of options.
func (a *app) addFlags(c *cobra.Command, options reflect.Value, lines string, groups map[string]string) {
	for line := range strings.Lines(lines) {
		first, usage, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch first {
		case "":
		case "&":
			a.addFlags(c, options, groups[usage], groups)
		case "@":
			for _, f := range strings.Fields(usage) {
				name, key, _ := strings.Cut(f, "=")
				a.options.AddFlag(c.Flags(), name, key)
			}
		case "!":
			for name := range strings.FieldsSeq(usage) {
				if err := c.MarkFlagRequired(name); err != nil {
					panic(err) // the text is ours
				}
			}
		case "|":
			c.MarkFlagsOneRequired(strings.Fields(usage)...)
		case "+":
			c.MarkFlagsRequiredTogether(strings.Fields(usage)...)
		case "/":
			c.MarkFlagsMutuallyExclusive(strings.Fields(usage)...)
		default:
			form := flagForm.FindStringSubmatch(first)
			at := options
			for part := range strings.SplitSeq(cmp.Or(form[3], strings.ReplaceAll(form[1], "-", "")), ".") {
				at = at.FieldByNameFunc(func(field string) bool { return strings.EqualFold(field, part) })
			}
			addFlag(c.Flags(), at.Addr().Interface(), form[1], strings.TrimSpace(usage), form[5], form[4] != "")
			if form[2] != "" {
				if !strings.Contains(form[2], "...") {
					c.Flags().Lookup(form[1]).Annotations = map[string][]string{closed: listed(form[2])}
				}
				completeWith(c, form[1], func(string) ([]string, cobra.ShellCompDirective) {
					return listed(form[2]), cobra.ShellCompDirectiveNoFileComp
				})
			}
		}
	}
}

// addFlag adds a flag that sets the value at a pointer; def is its default.
func addFlag(flags *pflag.FlagSet, at any, name, usage, def string, whole bool) {
	if def != "" {
		scratch := pflag.NewFlagSet("", pflag.PanicOnError)
		addFlag(scratch, at, name, usage, "", whole)
		if err := scratch.Set(name, def); err != nil {
			panic(err) // the text is ours
		}
	}
	switch p := at.(type) {
	case *string:
		flags.StringVar(p, name, *p, usage)
	case *bool:
		flags.BoolVar(p, name, *p, usage)
	case *int:
		flags.IntVar(p, name, *p, usage)
	case *int64:
		flags.Int64Var(p, name, *p, usage)
	case *uint64:
		flags.Uint64Var(p, name, *p, usage)
	case *float64:
		flags.Float64Var(p, name, *p, usage)
	case *time.Duration:
		flags.DurationVar(p, name, *p, usage)
	case *map[string]string:
		flags.StringToStringVar(p, name, *p, usage)
	case *[]int:
		flags.IntSliceVar(p, name, *p, usage)
	case *[]float64:
		flags.Float64SliceVar(p, name, *p, usage)
	case *[]string:
		if whole {
			flags.StringArrayVar(p, name, *p, usage)
		} else {
			flags.StringSliceVar(p, name, *p, usage)
		}
	default:
		panic("velum: no flag for the type of --" + name)
	}
}

// arity is cobra's RangeArgs with our exit code and a remedy.
func arity(least, most int) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		have := len(args)
		if have >= least && have <= most {
			return nil
		}
		if have > 0 && exit.DidYouMean(args[0], verbNames(c)) != "" {
			return unknownVerb(c, args)
		}
		want := strconv.Itoa(least)
		switch {
		case most == math.MaxInt:
			want = "at least " + want
		case most > least:
			want = "at most " + strconv.Itoa(most)
		}
		remedy := "see `" + c.CommandPath() + " --help`"
		switch _, use, _ := strings.Cut(c.Use, " "); {
		case most == 0 && strings.HasPrefix(use, "--"):
			remedy = "paths go with their flags: `" + c.CommandPath() + " " + use + "`"
		case have > most && most > 0:
			remedy = "put what has spaces in quotes; " + remedy
		}
		return exit.Misconfiguredf(remedy, "%s: arguments: want %s, have %d", c.CommandPath(), want, have)
	}
}

// closed is the annotation of a flag that takes these values and no others.
const closed = "values"

// flagMistakes maps cobra's error messages about flags to ours.
var flagMistakes = []struct {
	form *regexp.Regexp
	says string
}{
	{regexp.MustCompile(`^required flag\(s\) (.*) not set$`), "missing: %s"},
	{regexp.MustCompile(`^at least one of .* group \[(.*)\] is required$`), "missing: one of %s"},
	{regexp.MustCompile(`^if any .* group \[.*\] .* must all be set; missing \[(.*)\]$`), "missing beside the others: %s"},
	{regexp.MustCompile(`^if any .* none of the others can be; \[(.*)\] were all set$`), "one at a time of %s"},
}

// flagMistake rewrites cobra's error with the names of flags as users type them.
func flagMistake(err error) string {
	for _, m := range flagMistakes {
		if list := m.form.FindStringSubmatch(err.Error()); list != nil {
			names := strings.FieldsFunc(list[1], func(r rune) bool { return strings.ContainsRune(`", `, r) })
			return fmt.Sprintf(m.says, "--"+strings.Join(names, ", --"))
		}
	}
	return err.Error()
}

// rightFlags returns an error if required flags are missing, flags exclude each other, or a value is not allowed.
func rightFlags(c *cobra.Command) error {
	empty := ""
	c.Flags().Visit(func(f *pflag.Flag) { // one without a value, as of a variable that a script has not set, is none
		if f.Changed = f.Value.Type() == "key=value" || strings.Trim(f.Value.String(), "[]") != ""; !f.Changed {
			empty = f.Name
		}
	})
	err := cmp.Or(c.ValidateRequiredFlags(), c.ValidateFlagGroups())
	if err != nil {
		remedy := "see `" + c.CommandPath() + " --help`"
		if _, use, _ := strings.Cut(c.Use, " "); use != "" {
			remedy = "type `" + c.CommandPath() + " " + use + "`; " + remedy
		}
		return exit.Misconfiguredf(remedy, "%s: %s", c.CommandPath(), flagMistake(err))
	}
	if empty != "" {
		return exit.Misconfiguredf("give it one, or leave it out", "%s: --%s has no value", c.CommandPath(), empty)
	}
	c.Flags().Visit(func(f *pflag.Flag) {
		if known, value := f.Annotations[closed], f.Value.String(); err == nil && known != nil && !slices.Contains(known, value) {
			err = exit.Misconfiguredf(exit.Suggest(value, known), "%s: --%s takes no %q", c.CommandPath(), f.Name, value)
		}
	})
	return err
}
