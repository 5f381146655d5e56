package main

import (
	"os"
	"strings"
	"testing"
)

const top = "../../../"

// TestPage holds the committed page against the results, so that nobody
// writes a figure into the page alone, and keeps it short enough to be read.
func TestPage(t *testing.T) {
	want, err := render(top + "scripts/bench/results")
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(top + "BENCHMARKS.md")
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Error("BENCHMARKS.md is not what scripts/bench/results say: make benchmarks")
	}
	if n := strings.Count(want, "\n"); n > 300 {
		t.Errorf("BENCHMARKS.md would have %d lines, 300 are allowed", n)
	}
}

func TestSection(t *testing.T) {
	const whole = "title: Speed\ncommand: `make bench`\nmachine: Xeon\ndate: 2026-11-23\n\n| a | b |\n|---|---|\n"
	for _, c := range []struct{ name, in, want, err string }{
		{"whole", whole, "\n### Speed\n`make bench` (Xeon; 2026-11-23)\n\n| a | b |\n|---|---|\n", ""},
		{"prose", "## Quality\nWords.\n", "\n## Quality\nWords.\n", ""},
		{"no command", strings.Replace(whole, "command", "order", 1), "", "no command"},
		{"nothing found", strings.Split(whole, "\n\n")[0], "", "nothing was found"},
		{"no key", "title\n\nx", "", "line without a key: \"title\""},
	} {
		got, err := section(c.in)
		if got != c.want || (err == nil) != (c.err == "") || err != nil && err.Error() != c.err {
			t.Errorf("%s: %q, %v", c.name, got, err)
		}
	}
}
