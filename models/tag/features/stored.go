package features

import (
	"fmt"
	"slices"
)

// Stored is a slot that a model file can hold, so that a model is
// one file. Kind names what reads the data back (Resources.Open); resources
// that share their data, as part of speech and lemma of one lexicon do, give
// the same bytes and are kept once.
type Stored interface {
	Kind() string
	Data() []byte
}

// Opener reads back what a Stored wrote. The data lies in
// the model file and stays as long as the model. It must refuse what it cannot
// read, and never trust a size in it.
type Opener func(kind string, data []byte) (Stored, error)

// Slotted tells whether the group looks forms up in a slot.
func (g Group) Slotted() bool { return g.kind.slotted }

// Fill puts s where the group looks its forms up. r's map is made if there
// is none.
func (r *Resources) Fill(g Group, s Stored) error {
	slot, ok := s.(Slot)
	if !ok || !g.Slotted() {
		return fmt.Errorf("group %s cannot use a resource of kind %q", g.Name, s.Kind())
	}
	if r.Slots == nil {
		r.Slots = map[string]Slot{}
	}
	r.Slots[g.Name] = slot
	return nil
}

// Missing lists the groups of the template that look forms up in a slot that
// is empty: they would add nothing.
func (t *Template) Missing(r Resources) []string {
	var names []string
	for _, g := range t.Groups {
		if g.Slotted() && r.Slots[g.Name] == nil {
			names = append(names, g.Name)
		}
	}
	slices.Sort(names)
	return names
}
