package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/velum-health/velum/configs"
	"github.com/velum-health/velum/pipeline"
)

// contradictions returns what is wrong between values that are right alone.
func (c *Config) contradictions() []mistake {
	k := checker{Config: c}
	k.columns()
	k.categories("mask.operators", sortedKeys(c.Mask.Operators))
	k.categories("choose.classes", sortedKeys(c.Choose.Classes))
	k.categories("resolve.min_score", sortedKeys(c.Resolve.MinScore))
	for _, from := range sortedKeys(c.Resolve.Categories) {
		k.categories("resolve.categories", []string{from, c.Resolve.Categories[from]})
	}
	for _, entry := range c.Resolve.Always {
		name, words, ok := strings.Cut(entry, ":")
		if !ok || strings.TrimSpace(words) == "" {
			k.note("resolve.always", "want CATEGORY:words", "")
			continue
		}
		k.categories("resolve.always", []string{name})
	}
	k.priority()
	k.shares()
	if c.Read.IDs == "keyed" && c.Key.File == "" {
		k.note("read.ids", "keyed ids need a key", "set key.file")
	}
	if _, wrong := c.policy(); len(wrong) > 0 {
		k.mistakes = append(k.mistakes, wrong...)
	}
	return k.mistakes
}

type checker struct {
	*Config
	mistakes []mistake
}

// note adds a mistake at the place where the value was set.
func (k *checker) note(key, message, hint string) {
	from := k.origins[key]
	k.mistakes = append(k.mistakes, mistake{from.from, from.at.line, from.at.column, key, message, hint})
}

func (k *checker) categories(key string, names []string) {
	for _, name := range names {
		if _, err := pipeline.ParseCategory(name); err != nil {
			k.note(key, fmt.Sprintf("unknown category %q", name), didYouMean(name, allCategories()))
		}
	}
}

func allCategories() []string {
	names := make([]string, 0, pipeline.Categories())
	for c := range pipeline.Categories() {
		if c > 0 {
			names = append(names, pipeline.Category(c).String())
		}
	}
	return names
}

// columns checks that every column has one use. A text column that passes
// through would undo the masking.
func (k *checker) columns() {
	used := map[string]string{}
	use := func(key, name string) {
		if used[name] != "" && name != "" {
			k.note(key, "the same column as "+used[name], "")
		}
		used[name] = key
	}
	cols := k.Read.Columns
	for _, name := range cols.ID {
		use("read.columns.id", name)
	}
	use("read.columns.text", cols.Text)
	use("read.columns.patient", cols.Patient)
	use("read.columns.date", cols.Date)
	use("read.columns.center", cols.Center)
	if len(cols.ID) == 0 || slices.Contains(cols.ID, "") {
		k.note("read.columns.id", "must name a column", "")
	}
	if cols.Text == "" {
		k.note("read.columns.text", "must name a column", "")
	}
	for _, name := range k.Read.Keep {
		switch {
		case name == cols.Text:
			k.note("read.keep", "the column of the note cannot pass through", "the masked text is always written")
		case k.Read.IDs != "keep" && slices.Contains(cols.ID, name):
			k.note("read.keep", "a column of the id cannot pass through when ids are "+k.Read.IDs, "")
		}
	}
}

// priority checks entries such as pattern and pattern:EMAIL.
func (k *checker) priority() {
	known := []string{"list", "checked", "pattern", "model", "rule"}
	for _, entry := range k.Resolve.Priority {
		source, category, one := strings.Cut(entry, ":")
		if !slices.Contains(known, source) {
			k.note("resolve.priority", fmt.Sprintf("%q is none of %s", source, strings.Join(known, ", ")), didYouMean(source, known))
		}
		if one {
			k.categories("resolve.priority", []string{category})
		}
	}
}

// shares checks that the shares of the classes make a whole.
func (k *checker) shares() {
	sum := 0.0
	for _, name := range sortedKeys(k.Choose.Classes) {
		sum += k.Choose.Classes[name]
	}
	if len(k.Choose.Classes) > 0 && (sum < 0.99 || sum > 1.01) {
		k.note("choose.classes", fmt.Sprintf("the shares add up to %.3g, not 1", sum), "")
	}
}

// operators returns the operator of every category, indexed by
// pipeline.Category, by name: the policy's, changed by mask.operators.
func (c *Config) operators() ([]string, error) {
	byCategory, wrong := c.policy()
	return byCategory, (&configError{wrong}).orNil()
}

// policy reads the masking policy.
func (c *Config) policy() ([]string, []mistake) {
	file, text, err := c.policyText()
	if err != nil {
		k := checker{Config: c}
		k.note("mask.policy", err.Error(), didYouMean(c.Mask.Policy, configs.Policies()))
		return nil, k.mistakes
	}
	fallback, named := "placeholder", map[string]string(nil)
	r := strictReader{file: file, options: []option{
		opt("default", &fallback, "", "", oneOf(operators...)),
		opt("categories", &named, nil, "", oneOf(operators...)),
	}}
	r.read(text)
	byCategory := slices.Repeat([]string{fallback}, pipeline.Categories())
	for _, name := range sortedKeys(named) {
		category, err := pipeline.ParseCategory(name)
		if err != nil {
			r.mistakes = append(r.mistakes, mistake{File: file, Key: "categories",
				Message: fmt.Sprintf("unknown category %q", name), Hint: didYouMean(name, allCategories())})
			continue
		}
		byCategory[category] = named[name]
	}
	for name, operator := range c.Mask.Operators {
		if category, err := pipeline.ParseCategory(name); err == nil { // contradictions reports it otherwise
			byCategory[category] = operator
		}
	}
	return byCategory, r.mistakes
}

func (c *Config) policyText() (file string, text []byte, err error) {
	name := c.Mask.Policy
	if o := (option{nameOr: true}); o.isPath(name) {
		text, err = os.ReadFile(name)
		if err != nil {
			return name, nil, fmt.Errorf("cannot read the policy file: %w", err)
		}
		return name, text, nil
	}
	text, err = configs.Policy(name)
	if err != nil {
		return "", nil, fmt.Errorf("%q is none of the policies %s", name, strings.Join(configs.Policies(), ", "))
	}
	return "policy " + name, text, nil
}

// hash names what the configuration does to the output: equal hashes, model
// and input give equal bytes. Only options that shape the output count;
// workers, memory and limits do not, so that changing them repeats no work.
// Files that options name count by content. The model's own digest is the
// caller's to add.
func (c *Config) hash() (string, error) {
	h := sha256.New()
	for _, o := range c.options() {
		if !o.shapes {
			continue
		}
		text := o.text()
		if at, ok := o.at.(*string); ok && o.isPath(*at) {
			content, err := os.ReadFile(*at)
			if err != nil {
				return "", exitf(exitConfig, "correct "+o.key, "%s: %w", o.key, err)
			}
			text = fmt.Sprintf("%x", sha256.Sum256(content))
		}
		if at, ok := o.at.(*[]string); ok && o.file {
			text = ""
			for _, path := range *at {
				content, err := os.ReadFile(path)
				if err != nil {
					return "", exitf(exitConfig, "correct "+o.key, "%s: %w", o.key, err)
				}
				text += fmt.Sprintf(" %x", sha256.Sum256(content))
			}
		}
		fmt.Fprintf(h, "%s=%s\n", o.key, text)
	}
	byCategory, err := c.operators()
	if err != nil {
		return "", err
	}
	for i, operator := range byCategory {
		fmt.Fprintf(h, "%v=%s\n", pipeline.Category(i), operator)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
