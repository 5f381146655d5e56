package patterns

import (
	"fmt"
	"strings"
	"testing"

	"github.com/velum-health/velum/pipeline/casetest"
)

// TestCases has the bounds of the package: what it says of the invented texts of testdata/cases.txt, see caseOf.
func TestCases(t *testing.T) { casetest.Run(t, caseOf) }

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
