package syntax

import (
	"fmt"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	keys := func(n int) string {
		var b strings.Builder
		for k := range n {
			fmt.Fprintf(&b, "k%d: 1\n", k)
		}
		return b.String()
	}
	nest := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	for _, c := range []struct {
		name, text   string
		message      string // "": it is parsed
		line, column int
	}{
		{"empty", "", "", 0, 0},
		{"a section", "write:\n  spans: true\n", "", 0, 0},
		{"a key twice", "a: 1\na: 2\n", "", 0, 0}, // who reads the file says so
		{"32 brackets", "a: " + nest(32), "", 0, 0},
		{"33 brackets", "a: " + nest(33), "nested deeper than 32", 1, 36},
		{"brackets side by side", "a: [" + strings.TrimSuffix(strings.Repeat("[1], ", 40), ", ") + "]", "", 0, 0},
		{"braces", "a: " + strings.Repeat("{x: ", 33) + "1" + strings.Repeat("}", 33), "nested deeper than 32", 1, 4 + 4*32},
		{"braces side by side", "a: [" + strings.TrimSuffix(strings.Repeat("{x: 1}, ", 9), ", ") + "]", "", 0, 0},
		{"closed too often", "a: " + strings.Repeat("]", 40) + "\nb: " + nest(33), "nested deeper than 32", 2, 36},
		{"entries in a line", strings.Repeat("- ", 33) + "x\n", "nested deeper than 32", 1, 65},
		{"keys in a line", strings.Repeat("? ", 33) + "x\n", "nested deeper than 32", 1, 65},
		{"entries in lines", strings.Repeat("- x\n", 5000), "", 0, 0},
		{"4001 keys", keys(4001), "more than 4000 keys", 4001, 6},
		{"in quotes", "a: \"" + strings.Repeat("[", 99) + "\"\n", "", 0, 0},
	} {
		f, m := Parse([]byte(c.text))
		switch {
		case c.message == "" && (m != nil || f == nil):
			t.Errorf("%s: %+v", c.name, m)
		case c.message != "" && (m == nil || m.Message != c.message || m.Line != c.line || m.Column != c.column):
			t.Errorf("%s: %+v, want %s at %d:%d", c.name, m, c.message, c.line, c.column)
		}
	}
}

// TestNoYAML wants the place of a mistake, and nothing of the file in what is said of it.
func TestNoYAML(t *testing.T) {
	for _, text := range []string{"a: 1\nb: [1, 2\n", "a: \"x\n", "a: 1\n\tb: 2\n", "a:\n- b: {c\n"} {
		if _, m := Parse([]byte(text)); m == nil || m.Line == 0 || m.Message == "" {
			t.Errorf("%q: %+v", text, m)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{"a: 1\nb:\n  - c: [1, 2]\n", "- - - x", "a: &x {b: *x}", "? a\n: |\n  text\n", "\"a", "%YAML 1.2\n---\n"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if file, m := Parse([]byte(text)); (file == nil) == (m == nil) {
			t.Fatalf("a file: %v, a mistake: %+v", file != nil, m)
		}
	})
}
