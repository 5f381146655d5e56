package crf

import (
	"maps"
	"testing"

	"github.com/velum-health/velum/pipeline"
)

// TestCorpusSpans counts spans and their tokens by category.
func TestCorpusSpans(t *testing.T) {
	for _, scheme := range []pipeline.Scheme{pipeline.BIO, pipeline.BIOESU} {
		set := toySet(scheme)
		want, wantTokens := map[string]int{}, map[string]int{}
		for _, n := range toyNotes(t, set, 20, 3) {
			for _, s := range set.Decode(nil, n.tokens, n.tags) {
				want[s.Category.String()]++
				for _, token := range n.tokens {
					if token.Start >= s.Start && token.End <= s.End {
						wantTokens[s.Category.String()]++
					}
				}
			}
		}
		spans, tokens := toyCorpus(t, scheme, toyTemplate, 20, 3).Spans()
		if !maps.Equal(spans, want) || !maps.Equal(tokens, wantTokens) {
			t.Errorf("%v: %v %v, want %v %v", scheme, spans, tokens, want, wantTokens)
		}
	}
}
