package pipeline_test

import (
	"testing"

	"github.com/velum-health/velum/pipeline"
)

// TestForeign: what a model has not heard is foreign to it, and what is no running text is to each.
func TestForeign(t *testing.T) {
	text, noise := pipeline.Words{Seen: 10, Unknown: 2}, pipeline.Words{Seen: 10, Unknown: 6}
	english := pipeline.Languages(1 << pipeline.English)
	for _, c := range []struct {
		heard    pipeline.Languages
		language pipeline.Language
		words    pipeline.Words
		want     bool
	}{
		{0, pipeline.Spanish, text, false}, {0, pipeline.MixedLanguage, text, false}, {0, pipeline.English, pipeline.Words{}, true},
		{0, pipeline.UnknownLanguage, text, false}, {0, pipeline.UnknownLanguage, noise, true}, {0, pipeline.Catalan, noise, true},
		{english, pipeline.English, pipeline.Words{}, false}, {english, pipeline.Spanish, text, true}, {english, pipeline.MixedLanguage, text, true},
		{english | 1<<pipeline.Catalan, pipeline.MixedLanguage, text, false}, {english, pipeline.UnknownLanguage, pipeline.Words{}, false}, {english, pipeline.UnknownLanguage, noise, true}, {english, pipeline.English, noise, false},
	} {
		if got := c.heard.Foreign(c.language, c.words); got != c.want {
			t.Errorf("%b heard, %q %+v: foreign %v", c.heard, c.language, c.words, got)
		}
	}
}
