package train

import (
	"fmt"
	"slices"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/flow"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/models/tag/features"
)

// narrow takes the groups out of a template that a study leaves out.
func (l *Lookups) narrow(t *features.Template) (*features.Template, error) {
	if len(l.Without) == 0 {
		return t, nil
	}
	n := *t
	n.Groups = slices.DeleteFunc(slices.Clone(t.Groups), func(g features.Group) bool { return slices.Contains(l.Without, g.Name) })
	return features.Parse(n.String()) // the window may be smaller
}

// Groups returns the names of the feature groups of the template that these options select, in the order of the
// template; none for a kind without a template.
func Groups(cfg *option.Config, o *Options) (names []string, err error) {
	t := New(nil, cfg, o)
	var ok bool
	if t.kind, ok = flow.KindNamed(o.Kind); !ok || !t.kind.Template {
		return nil, nil
	}
	text, err := t.templateText()
	if err != nil {
		return nil, exit.Misconfigured(err, "")
	}
	parsed, err := features.Parse(text)
	if err != nil {
		return nil, exit.Misconfigured(fmt.Errorf("template: %w", err), "")
	}
	for _, g := range parsed.Groups {
		names = append(names, g.Name)
	}
	return names, nil
}
