package mask_test

import (
	"errors"
	"testing"

	"github.com/velum-health/velum/stages/mask"
)

// FuzzChain: a chain is one, or the mistake says what is wrong.
func FuzzChain(f *testing.F) {
	for _, text := range []string{"placeholder", "surrogate strategy=markov scope=note", "keep | encrypt", "shift days=1 | x", "|", "encrypt scope=patient scope=note", "= ="} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := mask.ParseChain(text)
		if wrong, ok := errors.AsType[*mask.PolicyError](err); err != nil && (!ok || wrong.Message == "" || c != nil) || err == nil && c.String() != text {
			t.Fatalf("%v", err)
		}
	})
}
