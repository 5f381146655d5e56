package patterns

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
)

// TestCases has the bounds of the package: what it says of the invented texts of testdata/cases.txt, see caseOf.
func TestCases(t *testing.T) {
	data, err := os.ReadFile("testdata/cases.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		quoted, want, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		text, err := strconv.Unquote(quoted)
		if !ok || err != nil {
			t.Fatalf("a line without an answer: %q", line)
		}
		if got := caseOf(text); got != want {
			t.Errorf("%s:\n got %s\nwant %s", quoted, got, want)
		}
	}
}

// caseOf answers "find TEXT": the matches in their order, "CATEGORY:VALUE score", ! behind a right check digit.
func caseOf(text string) string {
	_, text, _ = strings.Cut(text, " ")
	var b strings.Builder
	for _, m := range New(Options{}).Find(nil, []byte(text)) {
		checked := ""
		if m.Checked {
			checked = "!"
		}
		fmt.Fprintf(&b, "%v:%d:%s %.2f%s, ", m.Category, m.Start, text[m.Start:m.End], m.Score, checked)
	}
	return strings.ReplaceAll(b.String(), "\n", "|")
}
