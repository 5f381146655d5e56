package markup_test

import (
	"testing"

	"github.com/velum-health/velum/pipeline/markup"
)

// FuzzParse: what is read is sorted and inside the text, and what is written of it is read again as the same.
func FuzzParse(f *testing.F) {
	f.Add("saw [PERSON:Ada] today")
	f.Add(`\[PERSON:x\] \\ [DATE:] [`)
	f.Fuzz(func(t *testing.T, marked string) {
		text, spans, err := markup.Parse(marked)
		if err != nil {
			return
		}
		at := int32(0)
		for _, s := range spans {
			if s.Start < at || s.End < s.Start || int(s.End) > len(text) {
				t.Fatalf("span %d to %d of %d bytes behind %d", s.Start, s.End, len(text), at)
			}
			at = s.End
			for _, b := range text[s.Start:s.End] {
				if b == '[' || b == ']' || b == '\\' {
					return // Write keeps words as they are
				}
			}
		}
		again, more, err := markup.Parse(markup.Write(text, spans))
		if err != nil || string(again) != string(text) || len(more) != len(spans) {
			t.Fatalf("%v, %d spans of %d", err, len(more), len(spans))
		}
	})
}
