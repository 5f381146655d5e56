package flow

import (
	"fmt"
	"slices"
	"strings"

	"github.com/velum-health/velum/cmd/velum/internal/files"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/stages/resolve"
)

// resolveOptions applies the configuration to the default options of a label set. Empty options leave the default.
func (f *Flow) resolveOptions(o *resolve.Options) error {
	r := &f.Resolve
	for _, name := range r.SkipRules {
		if !slices.Contains(resolve.RuleNames(), name) {
			return fmt.Errorf("resolve.skip_rules: no rule %q; known: %s", name, strings.Join(resolve.RuleNames(), ", "))
		}
		o.Rules[name] = false
	}
	if !r.Rules {
		clear(o.Rules)
	}
	lists, err := ResolveLists(f.Config)
	if err == nil {
		o.Packs, err = files.Packs("resolve.packs", r.Packs, lists)
	}
	if err != nil {
		return err
	}
	always, err := files.WithLines(r.Always, r.AlwaysFile)
	if err != nil {
		return fmt.Errorf("resolve.always_file: %w", err)
	}
	for _, entry := range always {
		category, words, wrong, hint := option.AlwaysEntry(entry)
		if wrong != "" {
			return fmt.Errorf("resolve.always: an entry %s; %s", wrong, hint)
		}
		o.Always = append(o.Always, resolve.Entry{Category: category, Phrase: words})
	}
	o.Never, err = files.WithLines(r.Never, r.NeverFile)
	if err != nil {
		return fmt.Errorf("resolve.never_file: %w", err)
	}
	return nil
}
