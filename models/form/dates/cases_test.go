package dates

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/casetest"
)

// TestCases has the bounds of the scanners: what each way into the package says of the invented texts of testdata/cases.txt. The word
// before a text names the way, see caseOf.
func TestCases(t *testing.T) { casetest.Run(t, caseOf) }

// caseOf answers "WAY TEXT":
//
//	find     the dates in brackets with their scores; ! a full one
//	parse    the expression, or a part of it in brackets, 40 days later in Spanish and Catalan, and what it is
//	borders  the dates of a span in brackets; whether its date goes on, with weekdays and without; whether the span joins dates
func caseOf(text string) string {
	way, text, _ := strings.Cut(text, " ")
	before, rest, inside := strings.Cut(text, "[")
	span, behind, closed := strings.Cut(rest, "]")
	plain, from, to := before+span+behind, len(before), len(before)+len(span)
	inside = inside && closed
	if !inside {
		plain, from, to = text, 0, len(text)
	}
	if plain == "" || from == to {
		return ""
	}
	var b strings.Builder
	switch way {
	case "find":
		writeFinds(&b, text, new(Finder).Find(nil, []byte(text)))
	case "parse":
		for _, l := range []pipeline.Language{pipeline.Spanish, pipeline.Catalan} {
			var p Parser
			if !p.Parse([]byte(plain), l) || inside && !p.Narrow(from, to) {
				b.WriteString("none ")
				continue
			}
			out, ok := p.AppendShifted([]byte("<"), Context{}, 40)
			day, r, full := p.First(Context{Day: 16000, Order: MDY})
			fmt.Fprintf(&b, "%s> %t %d %d %t %d %t %t ", out, ok, day, r, full, p.Orders(), p.Numeric(), p.HasYear())
		}
	case "borders":
		var e Edges
		writeFinds(&b, plain, new(Finder).Borders([]Find{{}}, []byte(plain), from, to)[1:])
		fmt.Fprintf(&b, " %t %t %t", e.GoesOn([]byte(plain), from, to, 0, len(plain), true), e.GoesOn([]byte(plain), from, to, 0, len(plain), false),
			e.Joins([]byte(plain)[from:to]))
	}
	return string(bytes.ReplaceAll([]byte(b.String()), []byte("\n"), []byte("|")))
}

func writeFinds(b *strings.Builder, text string, finds []Find) {
	at := 0
	for _, x := range finds {
		full := ""
		if x.Full {
			full = "!"
		}
		fmt.Fprintf(b, "%s[%s]%.2f%s", text[min(at, x.Start):x.Start], text[x.Start:x.End], x.Score, full)
		at = x.End
	}
	b.WriteString(text[at:])
}
