package teach

import (
	"github.com/velum-health/velum/models/tag/tagger"
	"github.com/velum-health/velum/pipeline"
)

// Count is a corpus that keeps nothing and counts spans and their tokens.
type Count struct {
	set *pipeline.TagSet
	tagger.Training
}

// NewCount returns a count of spans of a tag set.
func NewCount(set *pipeline.TagSet) *Count {
	return &Count{set, tagger.Training{Spans: map[string]int{}, SpanTokens: map[string]int{}}}
}

// Add implements Corpus.
func (c *Count) Add(_ []byte, _ []pipeline.Token, _ []pipeline.Match, tags []pipeline.Tag) error {
	for _, t := range tags {
		if t == pipeline.O {
			continue
		}
		name := c.set.Category(t).String()
		c.SpanTokens[name]++
		if c.set.Starts(t) {
			c.Spans[name]++
		}
	}
	return nil
}
