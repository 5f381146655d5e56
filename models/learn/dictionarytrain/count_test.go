package dictionarytrain

import (
	"testing"

	"github.com/velum-health/velum/models/tag/dictionary"
	"github.com/velum-health/velum/pipeline"
)

// Shares of 20 positives, 10 negatives and 8 words of the archive; half a count stands for none, and a word of the
// negative lists alone is none.
func TestFrequencies(t *testing.T) {
	positive, negative := List{1: 10, 2: 0}, List{2: 5, 3: 7}
	seen := &Counter{counts: map[uint64]uint64{1: 4}, tokens: 8}
	for _, c := range []struct {
		what string
		seen *Counter
		want map[uint64]dictionary.Word
	}{
		{"with an archive", seen, map[uint64]dictionary.Word{1: {Positive: .5, Archive: .5}, 2: {Positive: .025, Negative: .5, Archive: .0625}}},
		{"without one", nil, map[uint64]dictionary.Word{1: {Positive: .5, Archive: 1}, 2: {Positive: .025, Negative: .5, Archive: 1}}},
		{"with an empty one", NewCounter(), map[uint64]dictionary.Word{1: {Positive: .5, Archive: .5}, 2: {Positive: .025, Negative: .5, Archive: .5}}},
	} {
		got := Frequencies(positive, 20, negative, 10, c.seen)
		if len(got) != len(c.want) || got[1] != c.want[1] || got[2] != c.want[2] {
			t.Errorf("%s: %v, want %v", c.what, got, c.want)
		}
	}
	if x := relative(3, 1); x != 1 {
		t.Errorf("3 of 1 are %v", x)
	}
}

// Words with two letters are counted; initials, numbers and points are not.
func TestCounter(t *testing.T) {
	text := []byte("Ada B. y ada 12 el")
	var tokens []pipeline.Token
	for _, at := range [][2]int32{{0, 3}, {4, 5}, {5, 6}, {7, 8}, {9, 12}, {13, 15}, {16, 18}} {
		tokens = append(tokens, pipeline.Token{Start: at[0], End: at[1]})
	}
	c := NewCounter()
	c.Add(text, tokens)
	c.Add(text, tokens[:1])
	if c.Tokens() != 4 || c.counts[wordKey([]byte("ADA"))] != 3 || c.counts[wordKey([]byte("el"))] != 1 || len(c.counts) != 2 {
		t.Errorf("%d words: %v", c.Tokens(), c.counts)
	}
}
