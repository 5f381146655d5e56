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

// TestRead adds up the weights of the buckets that training has.
func TestRead(t *testing.T) {
	for _, word := range []string{"a", "el", "L'Hospital", "ÀÇñ·l", "electroencefalogr", "electroencefalograma", "electroencefalográficamente"} {
		var buckets [MaxFeatures]uint16
		n, form := Features(&buckets, []byte(word))
		want := uint32(0)
		for _, k := range buckets[:n] {
			want += weights[k]
		}
		if sum, m, hash := read([]byte(word)); sum != want || m != n || hash != form {
			t.Errorf("%s: %d of %d buckets, want %d of %d", word, sum, m, want, n)
		}
	}
}
