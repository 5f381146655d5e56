package view

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/casetest"
)

// TestCases has the bounds of the package: what it says of the invented texts of testdata/cases.txt, see caseOf.
func TestCases(t *testing.T) { casetest.Run(t, caseOf) }

// caseOf answers "view TEXT" with the view and where its bytes come from (... for the next byte), and "back TEXT" with what the words of
// the view are in the note and back.
func caseOf(text string) string {
	way, text, _ := strings.Cut(text, " ")
	if Plain([]byte(text)) {
		return "plain"
	}
	got, from := Append(nil, nil, []byte(text))
	var b strings.Builder
	switch way {
	case "view":
		fmt.Fprintf(&b, "%+q", got)
		for i, at := range from {
			if i == 0 || at != from[i-1]+1 {
				fmt.Fprint(&b, " ", i, ">", at)
			}
		}
		fmt.Fprint(&b, Overridden([]byte(text)))
	case "back":
		var tokens []pipeline.Token
		var spans []pipeline.Span
		for at := 0; at < len(got); {
			end := at + max(bytes.IndexByte(append(got[at:len(got):len(got)], ' '), ' '), 1)
			tokens = append(tokens, pipeline.Token{Start: int32(at), End: int32(end)})
			spans = append(spans, pipeline.Span{Start: int32(at), End: int32(min(at+2, len(got)))}, pipeline.Span{Start: int32(min(at+2, len(got))), End: int32(end)})
			at = end
		}
		tokens, spans = BackTokens(from, tokens), BackSpans(from, spans)
		var p Placed
		for _, s := range [...]any{tokens, spans, p.Tokens(from, tokens), p.Spans(from, spans)} {
			switch s := s.(type) {
			case []pipeline.Token:
				for _, x := range s {
					fmt.Fprint(&b, x.Start, "-", x.End, " ")
				}
			case []pipeline.Span:
				for _, x := range s {
					fmt.Fprint(&b, x.Start, "-", x.End, " ")
				}
			}
			b.WriteString("/ ")
		}
	}
	return b.String()
}
