package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

func newConfigCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "config",
		Short: "Print, check and describe the configuration",
		Example: `  velum config print                      # every value and where it came from
  velum config print --profile meddocan   # a starting point for a file of your own
  velum config check night.yaml           # all mistakes at once
  velum config schema > velum.schema.json # completion and checks in an editor`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newConfigPrintCommand(a), newConfigCheckCommand(a), newConfigSchemaCommand(a))
	return c
}

func newConfigPrintCommand(a *app) *cobra.Command {
	reasons := false
	c := &cobra.Command{
		Use:   "print",
		Short: "Print the effective configuration with the origin of each value",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			cfg, err := a.config()
			if err != nil {
				return err
			}
			if a.json {
				return cfg.printJSON(a.out)
			}
			return cfg.print(a.out, reasons)
		},
	}
	c.Flags().BoolVar(&reasons, "reasons", false, "print what each option does and why its default is what it is")
	return c
}

func newConfigCheckCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "check FILE",
		Short: "Check a configuration file and list every mistake",
		Args:  exactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			a.configFile = args[0]
			cfg, err := a.config()
			if err != nil {
				return err
			}
			hash, err := cfg.hash()
			if err != nil {
				return err
			}
			if a.json {
				return json.NewEncoder(a.out).Encode(map[string]string{"file": args[0], "hash": hash})
			}
			_, err = fmt.Fprintf(a.out, "%s: no mistakes (options that shape the output: %s)\n", args[0], hash[:16])
			return err
		},
	}
}

func newConfigSchemaCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of the configuration",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := a.out.Write(configSchema())
			return err
		},
	}
}

// print writes the configuration as YAML that velum reads back, with the
// origin of each value, and with reasons if asked.
func (c *Config) print(w io.Writer, reasons bool) error {
	var b bytes.Buffer
	var open []string // sections that the last key stood in
	for _, o := range c.options() {
		path := strings.Split(o.key, ".")
		sections, name := path[:len(path)-1], path[len(path)-1]
		for depth, s := range sections {
			if depth < len(open) && open[depth] == s {
				continue
			}
			open = open[:depth]
			if depth == 0 {
				b.WriteByte('\n')
			}
			fmt.Fprintf(&b, "%s%s:\n", indent(depth), s)
			open = append(open, s)
		}
		open = open[:len(sections)]
		if reasons {
			for _, line := range wrap(o.why, 96) {
				fmt.Fprintf(&b, "%s# %s\n", indent(len(sections)), line)
			}
		}
		fmt.Fprintf(&b, "%-40s # %v\n", indent(len(sections))+name+": "+o.text(), c.origins[o.key])
	}
	_, err := w.Write(b.Bytes())
	return err
}

func indent(depth int) string { return strings.Repeat("  ", depth) }

// wrap breaks a sentence into lines of at most width bytes.
func wrap(s string, width int) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(s) {
		if line != "" && len(line)+1+len(word) > width {
			lines, line = append(lines, line), ""
		}
		line = strings.TrimPrefix(line+" "+word, " ")
	}
	return append(lines, line)
}

func (c *Config) printJSON(w io.Writer) error {
	type entry struct {
		Key    string `json:"key"`
		Value  any    `json:"value"`
		Origin string `json:"origin"`
		Shapes bool   `json:"shapes_output"`
	}
	var all []entry
	for _, o := range c.options() {
		all = append(all, entry{o.key, o.plain(), c.origins[o.key].String(), o.shapes})
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(all)
}

// text returns the value as YAML on one line.
func (o *option) text() string {
	switch at := o.at.(type) {
	case *string:
		return quoteYAML(*at)
	case *int:
		return strconv.Itoa(*at)
	case *float64:
		return strconv.FormatFloat(*at, 'g', -1, 64)
	case *bool:
		return strconv.FormatBool(*at)
	case *size:
		return at.String()
	case *time.Duration:
		return at.String()
	case *[]string:
		items := make([]string, len(*at))
		for i, s := range *at {
			items[i] = quoteYAML(s)
		}
		return "[" + strings.Join(items, ", ") + "]"
	case *map[string]string:
		return pairs(*at, quoteYAML)
	case *map[string]float64:
		return pairs(*at, func(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) })
	}
	panic("config: option of unknown kind") // a bug: opt takes no other
}

func pairs[V any](m map[string]V, text func(V) string) string {
	items := make([]string, 0, len(m))
	for _, k := range sortedKeys(m) {
		items = append(items, quoteYAML(k)+": "+text(m[k]))
	}
	return "{" + strings.Join(items, ", ") + "}"
}

// quoteYAML quotes what YAML might take for something else than text.
func quoteYAML(s string) string {
	if isWord(s) {
		return s
	}
	b := &bytes.Buffer{}
	e := json.NewEncoder(b) // a JSON string is a YAML string
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // cannot fail: a string, into memory
	return strings.TrimSpace(b.String())
}

func isWord(s string) bool {
	switch strings.ToLower(s) {
	case "", "true", "false", "null", "yes", "no", "on", "off", "y", "n", "nan", "inf", "infinity":
		return false
	}
	for i, r := range s {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '/' || r == '_'
		if !letter && (i == 0 || !(r >= '0' && r <= '9' || r == '.' || r == '-')) {
			return false
		}
	}
	return true
}

// plain returns the value as JSON knows it. Sizes and durations stay text.
func (o *option) plain() any {
	switch at := o.at.(type) {
	case *string:
		return *at
	case *int:
		return *at
	case *float64:
		return *at
	case *bool:
		return *at
	case *[]string:
		return append([]string{}, *at...)
	case *map[string]string:
		return *at
	case *map[string]float64:
		return *at
	}
	return o.text()
}

// object is a JSON object whose keys keep their order.
type object []field

type field struct {
	key   string
	value any
}

func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, f := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		key, err := json.Marshal(f.key)
		if err != nil {
			return nil, err
		}
		b.Write(append(key, ':'))
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		if err := e.Encode(f.value); err != nil {
			return nil, err
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// configSchema returns the JSON Schema of the configuration, made from the
// table of options.
func configSchema() []byte {
	c := new(Config)
	options := c.options()
	for _, o := range options {
		o.reset()
	}
	schema := append(object{
		{"$schema", "https://json-schema.org/draft/2020-12/schema"},
		{"title", "velum configuration"},
	}, sectionSchema(options, "")...)
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	_ = e.Encode(schema) // cannot fail: strings and numbers, into memory
	return b.Bytes()
}

func sectionSchema(options []option, prefix string) object {
	var properties object
	last := ""
	for _, o := range options {
		rest, ok := strings.CutPrefix(o.key, prefix)
		if !ok {
			continue
		}
		name, _, nested := strings.Cut(rest, ".")
		switch {
		case nested && name != last:
			properties = append(properties, field{name, sectionSchema(options, prefix+name+".")})
		case !nested:
			properties = append(properties, field{name, o.schema()})
		}
		last = name
	}
	return object{{"type", "object"}, {"additionalProperties", false}, {"properties", properties}}
}

func (o *option) schema() object {
	s := object{{"description", o.why}}
	add := func(key string, value any) { s = append(s, field{key, value}) }
	words := object{{"type", "string"}}
	if len(o.allowed) > 0 {
		words = append(words, field{"enum", o.allowed})
	}
	switch o.at.(type) {
	case *string:
		s = append(s, words...)
	case *int:
		add("type", "integer")
		s = append(s, o.bounds()...)
	case *float64:
		add("type", "number")
		s = append(s, o.bounds()...)
	case *bool:
		add("type", "boolean")
	case *size:
		add("type", []string{"string", "integer"})
		add("pattern", `^[0-9]+(\.[0-9]+)? ?([KMGT]iB|[kKMGT]B|B)?$`)
	case *time.Duration:
		add("type", []string{"string", "integer"})
		add("pattern", `^([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$`)
	case *[]string:
		add("type", "array")
		add("items", words)
	case *map[string]string:
		add("type", "object")
		add("additionalProperties", words)
	case *map[string]float64:
		add("type", "object")
		add("additionalProperties", append(object{{"type", "number"}}, o.bounds()...))
	}
	add("default", o.plain())
	return s
}

func (o *option) bounds() (b object) {
	if !math.IsInf(o.min, -1) {
		b = append(b, field{"minimum", o.min})
	}
	if !math.IsInf(o.max, 1) {
		b = append(b, field{"maximum", o.max})
	}
	return b
}
