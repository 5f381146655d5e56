package surrogate

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"testing"
)

// TestSameLists: other lists give other surrogates, so that outputs of before must be made
// anew. Raise OutputVersion of cmd/velum/internal/run with the digest here.
func TestSameLists(t *testing.T) {
	const want = "9c1b2390ca7ba41d"
	h := sha256.New()
	if err := fs.WalkDir(embedded, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := embedded.ReadFile(name)
		h.Write([]byte(name))
		h.Write(text)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if got := hex.EncodeToString(h.Sum(nil)[:8]); got != want {
		t.Errorf("the lists are %s, not %s: raise OutputVersion, and write the new digest down", got, want)
	}
}
