package main

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/velum-health/velum"
)

// Every section of README.md is a topic of help and the other way round; no topic hides a verb.
func TestTopics(t *testing.T) {
	var headings []string
	for _, m := range regexp.MustCompile(`(?m)^##+ (.+)$`).FindAllStringSubmatch(velum.Readme, -1) {
		headings = append(headings, m[1])
	}
	headings = slices.DeleteFunc(headings, func(h string) bool { return h == "More" }) // links alone
	verbs := verbNames(newRootCommand(newApp(nil, nil, nil)))
	for _, topic := range topics {
		if i := slices.Index(headings, topic.heading); i < 0 {
			t.Errorf("%s: README.md has no section %q", topic.name, topic.heading)
		} else {
			headings = slices.Delete(headings, i, i+1)
		}
		if slices.Contains(verbs, topic.name) {
			t.Errorf("%s is a verb", topic.name)
		}
		if text := plain(section(velum.Readme, topic.heading)); len(text) < 100 {
			t.Errorf("%s: %q", topic.name, text)
		}
	}
	if len(headings) > 0 {
		t.Errorf("no topics: %q", headings)
	}
}

func TestPlain(t *testing.T) {
	const markdown = "See [the\nrecipes](configs/deploy/README.md).\n\n```sh\nvelum run   # as it stands\n\nmore\n```\n\n| a | b | c |\n|---|---|---|\n| one | | [x](y) |\n\n* first\n* second\n  line"
	const want = "See the recipes.\n\n  velum run   # as it stands\n\n  more\n\n  a\n      b · c\n  one\n      x\n\n* first\n* second line"
	if got := plain(markdown); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	for line := range strings.Lines(plain(section(velum.Readme, "Privacy"))) {
		if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > helpWidth {
			t.Errorf("%d columns: %q", n, line)
		}
	}
}
