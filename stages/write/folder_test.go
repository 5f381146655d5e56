package write

import "testing"

// TestOneName: of ids whose files some system takes for one, the second is refused.
func TestOneName(t *testing.T) {
	w := &brat{done: map[string]bool{}}
	for _, c := range []struct {
		id   string
		fits bool
	}{
		{"ab", true}, {"AB", false}, {"ab ", true}, {"d/x", true}, {"D/X", false}, {"D/y", true}, {"straße", true}, {"STRASSE", true}, {"stra\u1e9ee", false},
		{"\u00E9", true}, {"e\u0301", false}, {"E\u0301", false}, {"e", true},
	} {
		if err := w.claim(c.id); (err == nil) != c.fits {
			t.Errorf("%q: %v", c.id, err)
		}
	}
}
