package rules

import "testing"

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
