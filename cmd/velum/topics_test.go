package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"unicode/utf8"
)

// Every topic begins with a title, hides no verb, is linked from README.md and fits a terminal.
func TestTopics(t *testing.T) {
	verbs := verbNames(newRootCommand(newApp(nil, nil, nil)))
	for _, name := range topicNames() {
		page, err := topics.ReadFile("topics/" + name + ".md")
		if err != nil {
			t.Fatal(err)
		}
		if slices.Contains(verbs, name) {
			t.Errorf("%s is a verb", name)
		}
		if text := string(page); !strings.HasPrefix(text, "# ") || len(text) < 300 {
			t.Errorf("%s: no title, or nothing below it", name)
		}
		if !strings.Contains(readme(t), "["+name+"](cmd/velum/topics/"+name+".md)") {
			t.Errorf("README.md has no link to %s", name)
		}
		for line := range strings.Lines(console.Markdown(string(page))) {
			if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > console.Width && !strings.HasPrefix(line, "  ") {
				t.Errorf("%s: %d columns: %q", name, n, line)
			}
		}
	}
}

func TestPlain(t *testing.T) {
	const markdown = "# First steps\n\nSee [the\nrecipes](configs/deploy/README.md).\n\n```sh\nvelum run   # as it stands\n\nmore\n```\n\n| a | b | c |\n|---|---|---|\n| one | | [x](y) |\n\n* first\n* second\n  line"
	const want = "FIRST STEPS\n\nSee the recipes.\n\n  velum run   # as it stands\n\n  more\n\n  a    b  c\n  one     x\n\n* first\n* second line"
	if got := console.Markdown(markdown); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
