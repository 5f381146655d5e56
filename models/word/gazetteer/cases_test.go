package gazetteer

import (
	"fmt"
	"strings"
	"testing"

	"github.com/velum-health/velum/pipeline/casetest"
)

// TestCases has the bounds of the package: what it says of the invented texts of testdata/cases.txt, see caseOf.
func TestCases(t *testing.T) { casetest.Run(t, caseOf) }

// caseOf answers "WAY TEXT":
//
//	table, drug  the entries of a file, of whatever class it tells or of drugs, and its bad rows with the first reason
//	fold         the folded form, its classes, how often it comes, and whether a phrase begins with it
//	count        the number that a count is
func caseOf(text string) string {
	way, text, _ := strings.Cut(text, " ")
	var b strings.Builder
	switch way {
	case "table", "drug":
		s := Source{}
		if way == "drug" {
			s.Class = Drug
		}
		in, err := s.Read(strings.NewReader(text), func(e Entry) { fmt.Fprintf(&b, "%v %s %d; ", e.Class, e.Form, e.Frequency) })
		fmt.Fprint(&b, in.Bad, err)
		for _, why := range in.Why {
			fmt.Fprintf(&b, " %v", why)
		}
	case "fold":
		g := Default()
		fmt.Fprintf(&b, "%s %v %t %t", Fold(nil, []byte(text)), g.Classes([]byte(text)), g.Begins([]byte(text)) != 0, g.Frequency([]byte(text)) > 0)
	case "count":
		n, ok := parseCount(text)
		fmt.Fprint(&b, n, ok)
	}
	return strings.ReplaceAll(b.String(), "\n", "|")
}
