package pipeline

import (
	"slices"
	"strings"
	"testing"
)

// TestKinds: every category of every scheme stands in the table of kinds, once,
// and the table has no other name.
func TestKinds(t *testing.T) {
	var names []string
	for _, row := range kindRows {
		if row.name == "" {
			t.Errorf("a kind without a name: %+v", row)
		}
		names = append(names, strings.Fields(row.categories)...)
	}
	slices.Sort(names)
	if unique := slices.Compact(slices.Clone(names)); len(unique) != len(names) {
		t.Errorf("a category stands twice: %q", names)
	}
	for _, name := range names {
		if _, err := ParseCategory(name); err != nil {
			t.Error(err)
		}
	}
	for c := 1; c < Categories(); c++ {
		if !slices.Contains(names, Category(c).String()) {
			t.Errorf("%v has no kind", Category(c))
		}
	}
	person, _ := ParseCategory("PERSON")
	phone, _ := ParseCategory("NUMERO_TELEFONO")
	if person.Kind() != NameKind || phone.Kind() != ContactKind || None.Kind() != UntypedKind {
		t.Errorf("PERSON %v, NUMERO_TELEFONO %v, none %v", person.Kind(), phone.Kind(), None.Kind())
	}
}
