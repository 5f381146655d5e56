package write

import (
	"os"
	"testing"
)

// TestOneName: ids whose files a file system takes for one are refused, and on
// others they are two.
func TestOneName(t *testing.T) {
	for _, tt := range []struct {
		foldsCase, composes bool
		ids                 []string
		refused             int
	}{
		{false, false, []string{"ab", "AB", "é", "e\u0301"}, 0},
		{true, false, []string{"ab", "AB", "d/x", "D/X", "D/y", "straße", "STRASSE"}, 2},
		{true, true, []string{"\u00E9", "e\u0301", "E\u0301"}, 2},
	} {
		f, err := newFolder(t.TempDir(), 0o600)
		if err != nil {
			t.Fatal(err)
		}
		f.foldsCase, f.composes = tt.foldsCase, tt.composes
		refused := 0
		for _, id := range tt.ids {
			if f.claim([]byte(id)) != nil {
				refused++
			}
		}
		if refused != tt.refused {
			t.Errorf("%q: %d refused, want %d", tt.ids, refused, tt.refused)
		}
		if left, err := os.ReadDir(f.root); err != nil || len(left) > 0 {
			t.Errorf("the probe left %d files, %v", len(left), err)
		}
	}
}
