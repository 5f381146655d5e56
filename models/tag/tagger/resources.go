package tagger

import (
	"bytes"
	"fmt"
	"maps"
	"strconv"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/velum-health/velum/models/number/modelfile"
	"github.com/velum-health/velum/models/tag/features"
)

// ListsPrint is the key in Header.Fingerprints for the word lists used in training.
const ListsPrint = "gazetteer"

// fingerprinted is a list that knows its own content.
type fingerprinted interface{ Fingerprint() uint64 }

// listsOf returns the fingerprint of the lists that the template uses.
func listsOf(t *features.Template, r features.Resources) string {
	for _, g := range t.Groups {
		var list any
		switch base, _, _ := strings.Cut(g.Name, "/"); base {
		case "gazetteer", "listcode", "term":
			list = r.Lexicon
		case "phrase":
			list = r.Phrases
		}
		if f, ok := list.(fingerprinted); ok {
			return strconv.FormatUint(f.Fingerprint(), 16)
		}
	}
	return ""
}

// Keep records in the header the resources that a template looks forms up in: fingerprints of the word lists, which are
// not part of the file, and the filled slots, which it returns as sections to store. A slot that cannot be stored is an
// error, since the model could not be loaded again.
func (h *Header) Keep(t *features.Template, r features.Resources) (sections []modelfile.Section, err error) {
	h.Resources, h.Fingerprints = nil, maps.Clone(h.Fingerprints)
	if h.Fingerprints == nil {
		h.Fingerprints = map[string]string{}
	}
	if print := listsOf(t, r); print != "" {
		h.Fingerprints[ListsPrint] = print
	}
	for _, g := range t.Groups {
		filled := r.Slots[g.Name]
		if filled == nil {
			continue
		}
		s, ok := filled.(features.Stored)
		if !ok {
			return nil, fmt.Errorf("group %s: its resource cannot be stored in a model", g.Name)
		}
		var name string
		sections, name = withSection(sections, s.Data())
		h.Resources = append(h.Resources, Resource{Group: g.Name, Kind: s.Kind(), Section: name})
		h.Fingerprints[g.Name] = digest(s.Data())
	}
	return sections, nil
}

// withSection returns the sections with one of this content, a new one if
// there is none yet, and its name.
func withSection(sections []modelfile.Section, data []byte) ([]modelfile.Section, string) {
	for _, have := range sections {
		if bytes.Equal(have.Data, data) {
			return sections, have.Name
		}
	}
	name := "resource" + strconv.Itoa(len(sections))
	return append(sections, modelfile.Section{Name: name, Data: data}), name
}

func digest(data []byte) string { return strconv.FormatUint(xxh3.Hash(data), 16) }

// OpenResources is the inverse of Keep: it fills the slots of the template from the file. The slots in r are ignored.
// If the word lists differ from those of the training, the error is ErrLists, since the model would silently miss
// names.
func (h *Header) OpenResources(f *modelfile.File, t *features.Template, r features.Resources) (filled features.Resources,
	sections []modelfile.Section, err error) {
	r.Slots = nil
	if want, got := h.Fingerprints[ListsPrint], listsOf(t, r); want != "" && got != want {
		return r, nil, fmt.Errorf("%w %s, there are %q", ErrLists, want, got)
	}
	groups := map[string]features.Group{}
	for _, g := range t.Groups {
		groups[g.Name] = g
	}
	for _, res := range h.Resources {
		g, ok := groups[res.Group]
		if !ok {
			return r, nil, fmt.Errorf("%w: header: resource of a group that is not in the template", modelfile.ErrDamaged)
		}
		data, err := f.Section(res.Section)
		if err != nil {
			return r, nil, fmt.Errorf("group %s: %w", g.Name, err)
		}
		sections, _ = withSection(sections, data)
		s, err := h.open(res, data, r.Open)
		if err != nil {
			return r, nil, fmt.Errorf("group %s: %w", g.Name, err)
		}
		if err := r.Fill(g, s); err != nil {
			return r, nil, fmt.Errorf("%w: %w", modelfile.ErrDamaged, err)
		}
	}
	return r, sections, nil
}

func (h *Header) open(res Resource, data []byte, open features.Opener) (features.Stored, error) {
	if digest(data) != h.Fingerprints[res.Group] {
		return nil, fmt.Errorf("%w: section %q does not fit its fingerprint", modelfile.ErrDamaged, res.Section)
	}
	if open == nil {
		return nil, fmt.Errorf("this program reads no resources of models, and the model needs one of kind %q", res.Kind)
	}
	return open(res.Kind, data)
}
