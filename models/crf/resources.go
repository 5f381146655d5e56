package crf

import (
	"bytes"
	"fmt"
	"maps"
	"strconv"

	"github.com/velum-health/velum/models/features"
	"github.com/velum-health/velum/models/modelfile"
	"github.com/zeebo/xxh3"
)

// Resource is a slot of the template that the model file holds the content of:
// clusters, parts of speech, lemmas.
type Resource struct {
	Group   string `json:"group"`   // of the template
	Kind    string `json:"kind"`    // see features.Stored
	Section string `json:"section"` // of the file; groups of the same content share one
}

// resourceSection is the name of the i-th section of a resource.
func resourceSection(i int) string { return "resource" + strconv.Itoa(i) }

// withResources lists the filled slots of the template in the header, with
// their fingerprints. A slot that cannot be stored would make a model that
// nobody can load, and is an error.
func (m *Model) withResources() error {
	m.header.Resources, m.stored = nil, nil
	m.header.Fingerprints = maps.Clone(m.header.Fingerprints)
	for _, g := range m.template.Groups {
		filled := m.res.Filled(g)
		if filled == nil {
			continue
		}
		s, ok := filled.(features.Stored)
		if !ok {
			return fmt.Errorf("group %s: its resource cannot be stored in a model", g.Name)
		}
		at := m.section(s.Data())
		m.header.Resources = append(m.header.Resources, Resource{g.Name, s.Kind(), resourceSection(at)})
		m.header.Fingerprints[g.Name] = digest(s.Data())
	}
	return nil
}

// section returns the number of the section with this content, a new one if
// there is none yet.
func (m *Model) section(data []byte) int {
	for i, have := range m.stored {
		if bytes.Equal(have, data) {
			return i
		}
	}
	m.stored = append(m.stored, data)
	return len(m.stored) - 1
}

func digest(data []byte) string { return strconv.FormatUint(xxh3.Hash(data), 16) }

// openResources fills the slots of the template from the file. Those of r are
// left aside: what the model was trained with is in the file, or was empty.
func (m *Model) openResources(f *modelfile.File, r features.Resources) (features.Resources, error) {
	r.Slots, r.Vectors = nil, nil
	template, err := features.Parse(m.header.Template)
	if err != nil {
		return r, fmt.Errorf("%w: header: %w", modelfile.ErrDamaged, err)
	}
	groups := map[string]features.Group{}
	for _, g := range template.Groups {
		groups[g.Name] = g
	}
	for _, res := range m.header.Resources {
		g, ok := groups[res.Group]
		if !ok {
			return r, fmt.Errorf("%w: header: resource of a group that is not in the template", modelfile.ErrDamaged)
		}
		s, err := m.openResource(f, res, r.Open)
		if err != nil {
			return r, fmt.Errorf("group %s: %w", g.Name, err)
		}
		if err := r.Fill(g, s); err != nil {
			return r, fmt.Errorf("%w: %w", modelfile.ErrDamaged, err)
		}
	}
	return r, nil
}

func (m *Model) openResource(f *modelfile.File, res Resource, open features.Opener) (features.Stored, error) {
	data, err := f.Section(res.Section)
	if err != nil {
		return nil, err
	}
	if digest(data) != m.header.Fingerprints[res.Group] {
		return nil, damaged(res.Section)
	}
	if open == nil {
		return nil, fmt.Errorf("this program reads no resources of models, and the model needs one of kind %q", res.Kind)
	}
	m.section(data)
	return open(res.Kind, data)
}

// Resources returns the slots and lists that the model looks forms up in, for
// training another like it.
func (m *Model) Resources() features.Resources { return m.res }
