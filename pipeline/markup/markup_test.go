package markup_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/markup"
)

func TestWrite(t *testing.T) {
	names, err := pipeline.Labels("names")
	if err != nil {
		t.Fatal(err)
	}
	person := names.Categories[0]
	rapid.Check(t, func(t *rapid.T) {
		text := []byte(rapid.StringMatching(`[a-z\[\]\\:ñ ]{0,40}`).Draw(t, "text"))
		var spans []pipeline.Span
		at := 0
		for at < len(text) && rapid.Bool().Draw(t, "span") {
			start := rapid.IntRange(at, len(text)).Draw(t, "start")
			end := rapid.IntRange(start, len(text)).Draw(t, "end")
			if strings.ContainsAny(string(text[start:end]), `[]\`) {
				break // brackets stand outside spans
			}
			spans = append(spans, pipeline.Span{Start: int32(start), End: int32(end), Score: 1, Source: pipeline.FromGold, Category: person})
			at = end
		}
		marked := markup.Write(text, spans)
		gotText, gotSpans, err := markup.Parse(marked)
		if err != nil || string(gotText) != string(text) || !slices.Equal(gotSpans, spans) {
			t.Fatalf("%q: %q, %v, %v", marked, gotText, gotSpans, err)
		}
	})
	for _, bad := range []string{"[", "[PER", "[PER:", "[PER:a", "[NOBODY:a]", "a [x] b"} {
		if _, _, err := markup.Parse(bad); err == nil {
			t.Errorf("%q is no marked text", bad)
		}
	}
}
