package verify

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/casetest"
	"github.com/velum-health/velum/pipeline/markup"
)

// TestCases has the bounds of the package: what it says of the invented texts of testdata/cases.txt, see caseOf.
func TestCases(t *testing.T) { casetest.Run(t, caseOf) }

// caseOf answers "WAY TEXT":
//
//	survive  whether a value survives where the marked spans are masked and the rest stays
//	strict   whether an identifier stands in the text as it left mask
//	shuffle  the same as survive where values are those of other notes, and each stands as it was
func caseOf(text string) string {
	way, text, _ := strings.Cut(text, " ")
	var b pipeline.Batch
	o := Options{}
	plain, spans, err := markup.Parse(text)
	if err != nil {
		return "no markup"
	}
	var masked []byte
	var places []pipeline.Span
	switch way {
	case "strict":
		plain, spans, masked = []byte(text), nil, []byte(text)
	case "survive", "shuffle":
		at := int32(0)
		for _, s := range spans {
			masked = append(masked, plain[at:s.Start]...)
			p := pipeline.Span{Start: int32(len(masked)), Category: s.Category}
			if way == "survive" {
				masked = append(masked, "["+s.Category.String()+"]"...)
			} else {
				o.Shuffled = append(o.Shuffled, s.Category)
				masked = append(masked, bytes.ToUpper(plain[s.Start:s.End])...)
			}
			p.End = int32(len(masked))
			places, at = append(places, p), s.End
		}
		masked = append(masked, plain[at:]...)
	default:
		return ""
	}
	b.ID.Append([]byte("1"))
	b.Text.Append(plain)
	b.Spans.Append(spans...)
	b.Masked.Append(masked)
	b.Places.Append(places...)
	b.Reason = append(b.Reason, pipeline.Sound)
	if err := New(o).New()(&b); err != nil {
		return err.Error()
	}
	return fmt.Sprint(b.Reason[0])
}
