package flow

import (
	"bufio"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/cmd/velum/internal/rulefile"
	"github.com/velum-health/velum/models/rules"
	"github.com/velum-health/velum/stages/resolve"
)

// resolveOptions changes the defaults of a label set as the configuration
// says. What the configuration leaves empty stays.
func (f *Flow) resolveOptions(o *resolve.Options) error {
	r := &f.Resolve
	for from, to := range r.Categories {
		o.Categories[from] = to
	}
	for category, score := range r.MinScore {
		o.MinScore[category] = float32(score)
	}
	if len(r.Priority) > 0 {
		o.Priority = r.Priority
	}
	o.Overlap = r.Overlap
	if !r.Repeats {
		o.Repeat, o.RepeatPart = nil, nil
	}
	for _, name := range r.SkipRules {
		if !slices.Contains(resolve.RuleNames(), name) {
			return fmt.Errorf("resolve.skip_rules: no rule %q; known: %s", name, strings.Join(resolve.RuleNames(), ", "))
		}
		o.Rules[name] = false
	}
	if !r.Rules {
		clear(o.Rules)
	}
	var err error
	if o.Packs, err = packsOf(f.Config); err != nil {
		return err
	}
	lists, err := resolveLists(f.Config)
	if err != nil {
		return err
	}
	if o.Networks, err = rulefile.Rules(o.Words, lists); err != nil {
		return err
	}
	for _, path := range f.Patterns.Files {
		s, err := rulefile.Recognizers(path)
		if err != nil {
			return fmt.Errorf("patterns.files: %w", err)
		}
		o.Recognizers = append(o.Recognizers, s)
	}
	always, err := WithLines(r.Always, r.AlwaysFile)
	if err != nil {
		return fmt.Errorf("resolve.always_file: %w", err)
	}
	for _, entry := range always {
		category, phrase, ok := strings.Cut(entry, ":")
		if !ok {
			return fmt.Errorf("resolve.always: %q is not CATEGORY:PHRASE", entry)
		}
		o.Always = append(o.Always, resolve.Entry{Category: strings.TrimSpace(category), Phrase: strings.TrimSpace(phrase)})
	}
	o.Never, err = WithLines(r.Never, r.NeverFile)
	if err != nil {
		return fmt.Errorf("resolve.never_file: %w", err)
	}
	return nil
}

// packsOf compiles the rules that people write, with the lists of resolve.
func packsOf(c *option.Config) ([]*rules.Pack, error) {
	lists, err := resolveLists(c)
	if err != nil {
		return nil, err
	}
	return rulefile.Packs(c.Resolve.Packs, lists)
}

// WithLines returns the list and the lines of a file, if there is one. Empty
// lines and lines that begin with # do not count.
func WithLines(list []string, path string) ([]string, error) {
	if path == "" {
		return list, nil
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	out := slices.Clone(list)
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		if line := strings.TrimSpace(lines.Text()); line != "" && line[0] != '#' {
			out = append(out, line)
		}
	}
	return out, lines.Err()
}
