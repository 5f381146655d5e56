package surrogate

import (
	"strings"
	"testing"
)

// Initials without a sign between have as many others, none of which is the letter itself; a name that a list has is a name.
func TestInitialsTogether(t *testing.T) {
	for seed := range uint64(20) {
		w := NewWriter(&hashed{seed: seed << 32})
		for _, was := range []string{"MGB", "FG", "RTV", "M"} {
			now := write(w.Person, was)
			if len(now) != len(was) || strings.ToUpper(now) != now {
				t.Fatalf("%s: %s", was, now)
			}
			for i := range was {
				if now[i] == was[i] {
					t.Errorf("%s: %s keeps a letter", was, now)
				}
			}
		}
		if now := write(w.Person, "GIL"); len(now) < 3 {
			t.Errorf("GIL: %s", now)
		}
	}
}

// A letter that folds to nothing is an initial all the same.
func TestInitialWithoutBase(t *testing.T) {
	for _, was := range []string{"Ana ·", "Ana \u0301", "ª", "\u0130"} {
		write(NewWriter(&hashed{}).Person, was)
	}
}

func TestHasAccents(t *testing.T) {
	for text, want := range map[string]bool{
		"": false, "Tos y fiebre": false, "Núria": true, "à": true, "ï": true, "Ñ": false, "ñandú": true, "señor": false, "Niño y niña": false, "França": false, "Çà": true, "ñ\xc3": false, "\xc3": false, "ÁRBOL": true,
	} {
		if HasAccents([]byte(text)) != want {
			t.Errorf("%q has accents: %t", text, !want)
		}
	}
}
