package train

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/flow"
	"github.com/velum-health/velum/models/embedded"
	"github.com/velum-health/velum/models/tag/features"
	"github.com/velum-health/velum/models/word/embed"
	"github.com/velum-health/velum/models/word/morph"
)

// Lookups names the resources that the feature template looks words up in: word clusters (train.clusters) and
// morphology (--morph).
type Lookups struct {
	Morph    string
	clusters []string // of the configuration
	Without  []string // groups that are taken out of the template, where a study leaves some out
}

// fill fills the slots that the template asks for: from the flags, then from
// the model that training begins with, then from what the binary brings.
func (l *Lookups) fill(r *features.Resources, t *features.Template, from ...features.Resources) error {
	given, err := l.given(t)
	if err != nil {
		return err
	}
	for _, g := range t.Groups {
		if !g.Slotted() {
			continue
		}
		for _, have := range append([]features.Resources{given}, from...) {
			s, ok := have.Slots[g.Name].(features.Stored)
			if !ok {
				continue
			}
			if err := r.Fill(g, s); err != nil {
				return exit.Misconfigured(err, "")
			}
			break
		}
	}
	if missing := t.Missing(*r); len(missing) > 0 {
		return exit.Misconfiguredf("give what they look up, or take them out of the template", "template: nothing to look up for %s",
			strings.Join(missing, ", "))
	}
	return nil
}

// given are the slots that the flags fill.
func (l *Lookups) given(t *features.Template) (r features.Resources, err error) {
	for _, text := range l.clusters {
		if err := openClusters(&r, t, text); err != nil {
			return r, err
		}
	}
	for _, g := range t.Groups {
		if g.Name != "pos" && g.Name != "lemma" && g.Name != "chunk" {
			continue
		}
		m, err := l.openMorph()
		if err != nil {
			return r, err
		}
		var s features.Stored = morph.POS{Model: m}
		if g.Name == "lemma" {
			s = morph.Lemma{Model: m}
		}
		if err := r.Fill(g, s); err != nil {
			return r, err
		}
	}
	return r, nil
}

// openClusters fills the group cluster/NAME of NAME=FILE:K.
func openClusters(r *features.Resources, t *features.Template, text string) error {
	name, file, k := flow.CutClusters(text)
	if k < 0 {
		return exit.Misconfiguredf("write NAME=FILE:K, as in lower=words.velum:1024", "--clusters: %q is not NAME=FILE:K", text)
	}
	i := slices.IndexFunc(t.Groups, func(g features.Group) bool { return g.Name == "cluster/"+name })
	if i < 0 {
		return exit.Misconfiguredf("add the group, or leave the clusters out", "--clusters: the template has no group cluster/%s", name)
	}
	f, err := embed.Open(file)
	if err != nil {
		return exit.Misconfigured(fmt.Errorf("--clusters: %w", err), "`velum teach embed` makes one")
	}
	c := f.Clusters(k) // a copy: the file may go
	if err := f.Close(); err != nil {
		return err
	}
	if c == nil {
		return exit.Misconfiguredf("make them: velum teach embed --clusters", "--clusters: %s has no %d clusters", file, k)
	}
	return r.Fill(t.Groups[i], c)
}

func (l *Lookups) openMorph() (*morph.Model, error) {
	data := embedded.Morph()
	if l.Morph != "" {
		var err error
		if data, err = os.ReadFile(l.Morph); err != nil {
			return nil, exit.Misconfigured(err, "")
		}
	}
	m, err := morph.Open(data)
	if err != nil {
		return nil, exit.With(exit.Integrity, fmt.Errorf("--morph: %w", err), "train one with `velum teach train --kind morph`")
	}
	return m, nil
}
