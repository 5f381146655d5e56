package rules

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestShapes has each shape of a form, with the forms nearest to it that have another.
func TestShapes(t *testing.T) {
	for form, want := range map[string]shape{
		"ada": noCapitals | allLetters, "ñ": noCapitals | allLetters, "Ada": capital | titleCase | allLetters, "A": capital | initial | allLetters,
		"AD": capital | allCapitals | allLetters, "AdA": capital | allLetters, "aD": allLetters, "A.": capital | initial, "a1": noCapitals,
		"Ada1": capital | titleCase, "1A": capital | initial, "12": allDigits, "1": allDigits, "1.2": 0, "1a": noCapitals, ".": punctuation, "": punctuation,
		"Ángel": capital | titleCase | allLetters, "E\u0301l": capital | titleCase | allLetters, "\u0301": punctuation, "a-b": noCapitals,
	} {
		if got := shapeOf([]byte(form)); got != want {
			t.Errorf("%q: %08b, want %08b", form, got, want)
		}
	}
}

// TestNothingToFind: a pack whose networks have no category is no tagger.
func TestNothingToFind(t *testing.T) {
	if _, err := New(&Pack{}); err == nil {
		t.Error("a tagger that finds nothing")
	}
}

// TestEnds holds endings against the expressions that say the same, on forms of few letters.
func TestEnds(t *testing.T) {
	with := strings.Split("???ista ???ero ????era ???ador ???edor ???idora ???aire ???aires ??ar ??relo ??ir-la", " ")
	without := regexp.MustCompile(`^(?:.{3,}(ista|ero|[^i]era|ador|edor|idora|aires?)|.{2,}(ar|relo|ir-la))$`)
	r, found := rand.New(rand.NewPCG(3, 5)), 0
	for range 200_000 {
		var text string
		for range r.IntN(4) {
			text += strings.Split("a e i r o ñ d lo - ista era ado é 日", " ")[r.IntN(14)]
		}
		text += strings.TrimLeft(with[r.IntN(len(with))], "?")[r.IntN(2):]
		f := form{text: []byte(text)}
		got, want := slices.ContainsFunc(with, f.ends) && !f.ends("iera"), without.MatchString(text)
		if got != want {
			t.Fatalf("%q: %t, want %t", text, got, want)
		}
		if got {
			found++
		}
	}
	if found < 10_000 {
		t.Errorf("only %d forms end so", found)
	}
}
