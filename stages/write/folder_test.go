package write

import "testing"

// TestOneName: of ids whose files some system takes for one, the second is refused.
func TestOneName(t *testing.T) {
	f, err := newFolder(t.TempDir(), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		id   string
		fits bool
	}{
		{"ab", true}, {"AB", false}, {"ab ", true}, {"d/x", true}, {"D/X", false}, {"D/y", true}, {"straße", true}, {"STRASSE", true}, {"stra\u1e9ee", false},
		{"\u00E9", true}, {"e\u0301", false}, {"E\u0301", false}, {"e", true},
	} {
		if err := f.claim([]byte(c.id)); (err == nil) != c.fits {
			t.Errorf("%q: %v", c.id, err)
		}
	}
}
