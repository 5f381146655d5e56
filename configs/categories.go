package configs

import (
	"fmt"
	"slices"
	"sync"

	"github.com/goccy/go-yaml"

	"github.com/velum-health/velum/pipeline"
)

// Schemes returns the annotation schemes that categories.yaml, and files of
// categories of a house, relate to each other.
func Schemes() []string { return append(builtIn(), own.schemes...) }

func builtIn() []string {
	return []string{"meddocan", "i2b2", "hipaa", "primary-care", "pattern", "names"}
}

// A row is one thing and what each scheme calls it.
type row map[string]pipeline.Category

var rows = sync.OnceValues(readRows)

func readRows() ([]row, error) {
	text, err := FS.ReadFile("categories.yaml")
	if err != nil {
		return nil, fmt.Errorf("category map: %w", err)
	}
	var file struct {
		Rows []map[string]string `yaml:"rows"`
	}
	if err := yaml.UnmarshalWithOptions(text, &file, yaml.Strict()); err != nil {
		return nil, fmt.Errorf("category map: %w", err)
	}
	all := make([]row, len(file.Rows))
	for i, r := range file.Rows {
		if all[i], err = parseRow(r, builtIn()); err != nil {
			return nil, fmt.Errorf("category map, row %d: %w", i+1, err)
		}
	}
	return all, nil
}

func parseRow(names map[string]string, schemes []string) (row, error) {
	r := row{}
	for scheme, name := range names {
		if !slices.Contains(schemes, scheme) {
			return nil, fmt.Errorf("unknown scheme %q", scheme)
		}
		c, err := pipeline.ParseCategory(name)
		if err != nil {
			return nil, err
		}
		r[scheme] = c
	}
	return r, nil
}

// CategoryMap returns what the categories of one scheme are called in another.
// A category without a counterpart maps to pipeline.None. To "untyped" every
// category is PHI.
func CategoryMap(from, to string) (map[pipeline.Category]pipeline.Category, error) {
	all, err := rows()
	if err != nil {
		return nil, err
	}
	all = slices.Concat(all, own.rows)
	for _, scheme := range []string{from, to} {
		if !slices.Contains(Schemes(), scheme) && (scheme != to || to != "untyped") {
			return nil, fmt.Errorf("category map: unknown scheme %q", scheme)
		}
	}
	m := map[pipeline.Category]pipeline.Category{}
	for _, r := range all {
		c, ok := r[from]
		if _, known := m[c]; ok && !known {
			m[c] = r[to]
		}
	}
	if to == "untyped" {
		set, err := pipeline.Labels(to)
		if err != nil {
			return nil, err
		}
		for c := range m {
			m[c] = set.Categories[0]
		}
	}
	return m, nil
}
