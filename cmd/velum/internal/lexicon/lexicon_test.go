package lexicon

import (
	"strings"
	"testing"

	"github.com/velum-health/velum/models/gazetteer"
)

// TestPlaceHeads wants a head for every place of several words in all lists:
// without it resolve would not look for the place.
func TestPlaceHeads(t *testing.T) {
	h := placeHeads()
	places := 0
	for e, err := range gazetteer.Entries(gazetteer.Shipped()) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Class&(gazetteer.Country|gazetteer.Province) == 0 {
			continue
		}
		for _, first := range []string{strings.Fields(e.Form)[0], strings.FieldsFunc(e.Form, func(r rune) bool { return strings.ContainsRune(" -'’/", r) })[0]} {
			if len(first) == len(e.Form) {
				continue
			}
			places++
			for _, word := range []string{first, strings.ToUpper(first)} {
				if !h.Contains([]byte(word)) {
					t.Errorf("%s of %s is no head", word, e.Form)
				}
			}
		}
	}
	if places < 100 || h.Contains([]byte("Albacete")) || h.Contains([]byte(strings.Repeat("a", 200))) {
		t.Errorf("%d places of several words; Albacete is a head: %v", places, h.Contains([]byte("Albacete")))
	}
}
