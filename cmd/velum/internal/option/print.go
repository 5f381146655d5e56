package option

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"reflect"
	"strings"
	"time"

	"github.com/velum-health/velum/cmd/velum/internal/console"
)

// Print writes the configuration as YAML that velum can read back, with the origin of each value; with reasons, also
// why each default was chosen.
func (c *Config) Print(w io.Writer, reasons bool) error {
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
			margin := indent(len(sections)) + "# "
			b.WriteString(margin + strings.ReplaceAll(console.Wrap(0, o.why), "\n", "\n"+margin) + "\n")
		}
		fmt.Fprintf(&b, "%-40s # %v\n", indent(len(sections))+name+": "+o.text(), c.origins[o.key])
	}
	_, err := w.Write(b.Bytes())
	return err
}

func indent(depth int) string { return strings.Repeat("  ", depth) }

// PrintJSON writes the configuration as JSON.
func (c *Config) PrintJSON(w io.Writer) error {
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

// Portable returns the options that are not built-in defaults as JSON in the structure of the YAML file. A process on
// another machine that passes it as Sources.Plan gets the same configuration.
func (c *Config) Portable() ([]byte, error) {
	all := map[string]any{}
	for _, o := range c.options() {
		if !c.Given(o.key) {
			continue
		}
		path := strings.Split(o.key, ".")
		at := all
		for _, section := range path[:len(path)-1] {
			if at[section] == nil {
				at[section] = map[string]any{}
			}
			at = at[section].(map[string]any)
		}
		at[path[len(path)-1]] = o.anywhere()
	}
	return json.Marshal(all)
}

// anywhere is plain, with paths that do not count from a folder.
func (o *option) anywhere() any {
	full := func(name string) string {
		if abs, err := filepath.Abs(name); err == nil && o.isPath(name) {
			return abs
		}
		return name
	}
	switch at := o.at.(type) {
	case *string:
		return full(*at)
	case *[]string:
		all := []string{}
		for _, name := range *at {
			all = append(all, full(name))
		}
		return all
	}
	return o.plain()
}

// text returns the value as YAML on one line.
func (o *option) text() string {
	switch at := o.at.(type) {
	case *string:
		return QuoteYAML(*at)
	case *[]string:
		items := make([]string, len(*at))
		for i, s := range *at {
			items[i] = QuoteYAML(s)
		}
		return "[" + strings.Join(items, ", ") + "]"
	case *map[string]string:
		return pairs(*at, QuoteYAML)
	case *map[string]float64:
		return pairs(*at, func(f float64) string { return fmt.Sprint(f) })
	}
	return fmt.Sprint(reflect.ValueOf(o.at).Elem())
}

func pairs[V any](m map[string]V, text func(V) string) string {
	items := make([]string, 0, len(m))
	for _, k := range sortedKeys(m) {
		items = append(items, QuoteYAML(k)+": "+text(m[k]))
	}
	return "{" + strings.Join(items, ", ") + "}"
}

// QuoteYAML quotes a text that YAML might take for another type.
func QuoteYAML(s string) string {
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
	case *size, *time.Duration:
		return o.text()
	case *[]string:
		return append([]string{}, *at...)
	}
	return reflect.ValueOf(o.at).Elem().Interface()
}
