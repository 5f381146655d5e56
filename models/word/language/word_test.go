package language

import (
	"testing"

	"github.com/velum-health/velum/pipeline"
)

// TestWord: the model uses tokens that begin with a letter of Latin, and no others.
func TestWord(t *testing.T) {
	for text, want := range map[string]bool{
		"a": true, "z": true, "A": true, "Z": true, "à": true, "ÿ": true, "Ł": true, "ſ": true, "[": false, "@": false, "`": false, "{": false, "1a": false, "ƀ": false, "α": false, "º": false, ".": false,
	} {
		if got := Word([]byte("x"+text), pipeline.Token{Start: 1, End: int32(1 + len(text))}); got != want {
			t.Errorf("%s: %t", text, got)
		}
	}
}
