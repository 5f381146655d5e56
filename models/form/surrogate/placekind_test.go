package surrogate

import "testing"

// TestPlaceKind: places that may stand for each other are of one kind, others are not.
func TestPlaceKind(t *testing.T) {
	kinds := [][]string{
		{"Hospital Vall d'Hebron", "hosp. del Mar", "Hospital General Universitario de Elche"},
		{"CAP Sant Martí", "centro de salud La Milagrosa"},
		{"calle Mayor 3", "c/ de la Luna, 12", "Avda. Diagonal"},
		{"08025", "28 040"},
		{"España", "Marruecos"},
		{"Reus", "Sant Boi de Llobregat", "Tarragona"},
	}
	var w Writer
	seen := map[uint8]string{}
	for _, of := range kinds {
		kind := w.PlaceKind([]byte(of[0]))
		if other, twice := seen[kind]; twice {
			t.Errorf("%s is of the kind of %s", of[0], other)
		}
		seen[kind] = of[0]
		for _, value := range of[1:] {
			if got := w.PlaceKind([]byte(value)); got != kind {
				t.Errorf("%s is of kind %d, %s of %d", value, got, of[0], kind)
			}
		}
	}
}
