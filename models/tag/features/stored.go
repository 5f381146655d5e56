package features

import (
	"fmt"
	"slices"
)

// Stored is a slot that a model file can hold, so that a model is a single file. Kind names the function that decodes
// the data (see Resources.Open). Slots that share their data, such as part of speech and lemma of one lexicon, return
// the same bytes, which are stored once.
type Stored interface {
	Kind() string
	Data() []byte
}

// Opener decodes the data of a Stored. The data lies in the model file and stays valid as long as the model. An Opener
// must reject invalid data and must not trust a size in it.
type Opener func(kind string, data []byte) (Stored, error)

// Slotted reports whether the group looks forms up in a slot.
func (g Group) Slotted() bool { return g.kind.slotted }

// Fill sets s as the slot of the group, creating r's map if needed.
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

// Missing lists the groups of the template whose slot is empty, and which would add no features.
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
