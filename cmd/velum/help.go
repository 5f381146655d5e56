package main

import (
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/option"
)

// helpWidth is the width of all help: that of a terminal that nobody has made
// wider.
const helpWidth = 80

func init() {
	cobra.AddTemplateFuncs(map[string]any{"prose": prose, "examples": examples, "hang": wrapFrom, "flags": flagTable, "topics": func() string { return strings.Join(topicNames(), ", ") }})
}

// prose wraps paragraphs. Lines that begin with a blank, such as tables, stay
// as they are.
func prose(text string) string {
	var out, paragraph []string
	end := func() {
		if len(paragraph) > 0 {
			out, paragraph = append(out, wrapFrom(0, strings.Join(paragraph, " "))), nil
		}
	}
	for line := range strings.Lines(strings.TrimRight(text, "\n ")) {
		line = strings.TrimRight(line, "\n")
		if line != "" && line[0] != ' ' && line[0] != '\t' {
			paragraph = append(paragraph, line)
			continue
		}
		end()
		out = append(out, line)
	}
	end()
	return strings.Join(out, "\n")
}

// wrapFrom wraps text of which the first line begins at column indent, and indents
// the lines that follow as far.
func wrapFrom(indent int, text string) string {
	var b strings.Builder
	column := indent
	for word := range strings.FieldsSeq(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case column == indent:
		case column+1+n > helpWidth:
			b.WriteString("\n" + strings.Repeat(" ", indent))
			column = indent
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += n
	}
	return b.String()
}

// examples puts the remark of a line that is too long above it, and breaks the
// command before a flag, so that it can be copied as it stands.
func examples(text string) string {
	var out []string
	for line := range strings.SplitSeq(text, "\n") {
		if utf8.RuneCountInString(line) <= helpWidth {
			out = append(out, line)
			continue
		}
		command, remark, _ := strings.Cut(line, "   #")
		if command, remark = strings.TrimRight(command, " "), strings.TrimSpace(remark); remark != "" {
			out = append(out, wrapFrom(4, "  # "+remark))
			out[len(out)-1] = "  " + out[len(out)-1]
		}
		out = append(out, breakCommand(command))
	}
	return strings.Join(out, "\n")
}

// breakCommand breaks a line of shell before its flags and arguments.
func breakCommand(line string) string {
	const room = len(` \`)
	var b strings.Builder
	column := 0
	for i, part := range commandParts(line) {
		n := utf8.RuneCountInString(part)
		switch {
		case i == 0:
			b.WriteString("  ")
			column = 2
		case column+1+n+room > helpWidth:
			b.WriteString(" \\\n      ")
			column = 6
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(part)
		column += n
	}
	return b.String()
}

// commandParts cuts a line of shell before its flags, each with its value, and
// its quoted arguments.
func commandParts(line string) []string {
	var parts []string
	for word := range strings.FieldsSeq(line) {
		if len(parts) > 0 && word[0] != '-' && word[0] != '\'' {
			parts[len(parts)-1] += " " + word
			continue
		}
		parts = append(parts, word)
	}
	return parts
}

// flagTable is the flags with what they do.
func flagTable(f *pflag.FlagSet) string {
	return strings.TrimRight(f.FlagUsagesWrapped(helpWidth), "\n")
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
	if remedy == "" {
		remedy = "see `" + c.CommandPath() + " --help`"
	}
	return exit.Errorf(exit.Config, remedy, "%s: %w", c.CommandPath(), err)
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
