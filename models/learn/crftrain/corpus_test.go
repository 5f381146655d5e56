package crftrain

import (
	"maps"
	"testing"

	"github.com/velum-health/velum/models/tag/crf/crftest"
	"github.com/velum-health/velum/pipeline"
)

// TestCorpusSpans counts spans and their tokens by category.
func TestCorpusSpans(t *testing.T) {
	for _, scheme := range []pipeline.Scheme{pipeline.BIO, pipeline.BIOESU} {
		set := crftest.Set(scheme)
		want, wantTokens := map[string]int{}, map[string]int{}
		for _, n := range crftest.Notes(t, set, 20, 3) {
			for _, s := range set.Decode(nil, n.Tokens, n.Tags) {
				want[s.Category.String()]++
				for _, token := range n.Tokens {
					if token.Start >= s.Start && token.End <= s.End {
						wantTokens[s.Category.String()]++
					}
				}
			}
		}
		spans, tokens := set.Count(toyCorpus(t, scheme, crftest.Template, 20, 3).tag)
		if !maps.Equal(spans, want) || !maps.Equal(tokens, wantTokens) {
			t.Errorf("%v: %v %v, want %v %v", scheme, spans, tokens, want, wantTokens)
		}
	}
}
