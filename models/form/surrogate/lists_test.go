package surrogate

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"slices"
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

// TestFrequent: the sections of frequent.txt are heads of the pools of their tongue, and all names of a line are in them.
func TestFrequent(t *testing.T) {
	for _, tt := range []struct {
		at    pool
		names []string
	}{
		{surnames + pool(spanish), []string{"García", "Rodríguez", "González"}},
		{surnames + pool(catalan), []string{"Vidal", "Ferrer", "Martí"}},
		{surnames + pool(elsewhere), []string{"Singh", "Mohamed", "Ahmed"}},
		{twoMen + pool(spanish), []string{"José Antonio", "José Luis"}},
		{twoWomen + pool(spanish), []string{"María Carmen", "Ana María", "María Dolores"}},
		{twoMen + pool(catalan), []string{"Josep Maria", "Joan Carles"}},
		{twoWomen + pool(catalan), []string{"Maria Carme", "Maria Teresa", "Maria Dolors"}},
	} {
		for _, name := range tt.names {
			if !slices.Contains(shipped().pools[tt.at].head, name) {
				t.Errorf("%q is not in the head of pool %d", name, tt.at)
			}
		}
	}
}
