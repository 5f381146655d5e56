// Package casetest holds a package against a table of cases. Only tests import it.
package casetest

import (
	"os"
	"strconv"
	"strings"
	"testing"
)

// Run asks for the answer to each case of testdata/cases.txt. A line has a question in quotes, a tab, and the answer.
// Questions are invented, so a failure may show them.
func Run(t *testing.T, answer func(question string) string) {
	data, err := os.ReadFile("testdata/cases.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		quoted, want, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		question, err := strconv.Unquote(quoted)
		if !ok || err != nil {
			t.Fatalf("a line without an answer: %q", line)
		}
		if got := answer(question); got != want {
			t.Errorf("%s:\n got %s\nwant %s", quoted, got, want)
		}
	}
}
