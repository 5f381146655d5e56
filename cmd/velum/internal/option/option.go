// Package option is the configuration: one table of all options (table.go), from
// which reading, checking, printing, hashing, help and the JSON Schema are made.
// Flags go before the environment, that before the file, that before the profile,
// that before the built-in values. Every mistake is reported, at once, with its
// place.
package option

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
)

// An option is one key of a YAML file and the place of its value.
type option struct {
	key     string // as in read.columns.id
	at      any    // pointer to the value, see kindOf
	def     string // the built-in value
	why     string // what it does and the reason for its default
	allowed []string
	names   []string // built-in ones
	min     float64
	max     float64
	shapes  bool // changes what is written, so it belongs in the hash
	file    bool // a path
	nameOr  bool // a built-in name or a path
	large   bool // the file may be of any size: nobody reads it whole, or it is notes
	any     bool // a text that may be written as a number, or not at all
	valid   func(string) (problem, hint string)
}

// kindOf says in words what an option wants.
func (o *option) kindOf() string {
	switch o.at.(type) {
	case *string:
		switch {
		case len(o.allowed) > 0 && len(o.allowed) <= 8:
			return "one of " + strings.Join(o.allowed, ", ")
		case o.nameOr:
			return "a name or a path"
		case o.file:
			return "a path"
		}
		return "text"
	case *int:
		return "a whole number"
	case *float64:
		return "a number"
	case *bool:
		return "true or false"
	case *size:
		return "a size such as 64MiB"
	case *time.Duration:
		return "a duration such as 30s or 8h"
	case *[]string:
		return "a list such as [a, b]"
	case *map[string]string:
		return "pairs such as {A: b}"
	}
	return "pairs of a name and a number"
}

// setText sets the option from a flag or an environment variable, and returns
// what is wrong with the text, "" if nothing.
func (o *option) setText(s string) (problem, hint string) {
	switch at := o.at.(type) {
	case *string:
		*at = s
	case *int:
		n, err := strconv.Atoi(s)
		if err != nil {
			return o.mismatch(strconv.Quote(s))
		}
		*at = n
	case *float64:
		f, err := strconv.ParseFloat(s, 64)
		if err != nil {
			return o.mismatch(strconv.Quote(s))
		}
		*at = f
	case *bool:
		if s != "true" && s != "false" {
			return o.mismatch(strconv.Quote(s))
		}
		*at = s == "true"
	case *size:
		n, ok := parseSize(s)
		if !ok {
			return o.mismatch(strconv.Quote(s))
		}
		*at = n
	case *time.Duration:
		d, err := time.ParseDuration(s)
		if err != nil || d < 0 {
			return o.mismatch(strconv.Quote(s))
		}
		*at = d
	case *[]string:
		*at = splitList(s)
	default:
		return o.setPairs(splitList(s))
	}
	return o.check()
}

// reset sets the built-in value.
func (o *option) reset() {
	if problem, _ := o.setText(o.def); problem != "" {
		panic("velum: " + o.key + ": " + problem) // a bug: the text is ours
	}
}

// splitList reads "a, b" or "[a, b]".
func splitList(s string) []string {
	if in, ok := strings.CutPrefix(s, "["); ok {
		s = strings.TrimSuffix(in, "]")
	}
	var list []string
	for part := range strings.SplitSeq(s, ",") {
		if part = strings.TrimSpace(part); part != "" {
			list = append(list, part)
		}
	}
	return list
}

// setPairs reads "A=b", "C=d".
func (o *option) setPairs(parts []string) (problem, hint string) {
	texts := map[string]string{}
	for _, p := range parts {
		k, v, ok := strings.Cut(p, "=")
		if !ok {
			return "want pairs such as A=b,C=d", ""
		}
		texts[k] = v
	}
	return o.setTexts(texts)
}

// setTexts sets a map, of numbers too.
func (o *option) setTexts(texts map[string]string) (problem, hint string) {
	switch at := o.at.(type) {
	case *map[string]string:
		*at = texts
	case *map[string]float64:
		*at = map[string]float64{}
		for k, text := range texts {
			f, err := strconv.ParseFloat(text, 64)
			if err != nil {
				return "want pairs such as A=0.5,B=0.5", ""
			}
			(*at)[k] = f
		}
	}
	return o.check()
}

func (o *option) mismatch(have string) (problem, hint string) {
	return fmt.Sprintf("want %s, have %s", o.kindOf(), have), ""
}

// check tells whether the value is one that the option allows.
func (o *option) check() (problem, hint string) {
	switch at := o.at.(type) {
	case *string:
		return o.checkWord(*at)
	case *[]string:
		for _, s := range *at {
			if p, h := o.checkWord(s); p != "" {
				return p, h
			}
		}
	case *map[string]string:
		for _, k := range sortedKeys(*at) {
			if p, h := o.checkWord((*at)[k]); p != "" {
				return k + ": " + p, h
			}
		}
	case *map[string]float64:
		for _, k := range sortedKeys(*at) {
			if p := o.checkNumber((*at)[k]); p != "" {
				return k + ": " + p, ""
			}
		}
	case *int:
		return o.checkNumber(float64(*at)), ""
	case *float64:
		return o.checkNumber(*at), ""
	case *size:
		return o.checkNumber(float64(*at)), ""
	}
	return "", ""
}

func (o *option) checkWord(s string) (problem, hint string) {
	if o.valid != nil {
		return o.valid(s)
	}
	if len(o.allowed) == 0 || slices.Contains(o.allowed, s) {
		return "", ""
	}
	return fmt.Sprintf("%q is none of %s", s, strings.Join(o.allowed, ", ")), exit.DidYouMean(s, o.allowed)
}

func (o *option) checkNumber(f float64) string {
	switch {
	case f >= o.min && f <= o.max:
		return ""
	case math.IsInf(o.max, 1):
		return fmt.Sprintf("must be at least %v", o.number(o.min))
	}
	return fmt.Sprintf("must lie between %v and %v", o.number(o.min), o.number(o.max))
}

func (o *option) number(f float64) any {
	if _, bytes := o.at.(*size); bytes {
		return size(f)
	}
	return f
}

func find(options []option, key string) *option {
	for i := range options {
		if options[i].key == key {
			return &options[i]
		}
	}
	return nil
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// KeyNamed returns the key whose full name or last component is name; "" if no option or more than one matches.
func KeyNamed(name string) string {
	var found []string
	for _, o := range table() {
		if o.key == name || o.key[strings.LastIndexByte(o.key, '.')+1:] == name {
			found = append(found, o.key)
		}
	}
	if len(found) != 1 {
		return ""
	}
	return found[0]
}
