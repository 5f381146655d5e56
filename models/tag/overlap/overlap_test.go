package overlap

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/velum-health/velum/pipeline"
)

func drawCandidates(t *rapid.T, length int32) []Candidate {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Candidate {
		start := rapid.Int32Range(0, length-1).Draw(t, "start")
		end := rapid.Int32Range(start+1, length).Draw(t, "end")
		return Candidate{
			Span: pipeline.Span{Start: start, End: end, Category: pipeline.Category(rapid.IntRange(1, 3).Draw(t, "category"))},
			Rank: uint16(rapid.IntRange(0, 3).Draw(t, "rank")),
		}
	}), 0, 12).Draw(t, "candidates")
}

// ownerOf is the slow way to say who has a byte: the best candidate over it.
func ownerOf(cands []Candidate, at int32) *Candidate {
	var best *Candidate
	for i := range cands {
		c := &cands[i]
		if c.Start <= at && at < c.End && (best == nil || c.compare(best) < 0) {
			best = c
		}
	}
	return best
}

func TestMergeProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := []byte(rapid.StringMatching(`[a-z ,]{1,40}`).Draw(t, "text"))
		cands := drawCandidates(t, int32(len(text)))
		given := slices.Clone(cands)
		m := Merger{}
		spans := m.Merge(nil, text, cands)

		at := 0
		covering := make([]int, len(text)) // span over each byte, from 1
		for i, s := range spans {
			if int(s.Start) < at || s.End <= s.Start || int(s.End) > len(text) {
				t.Fatalf("span %d %v is not behind byte %d", i, s, at)
			}
			at = int(s.End)
			for b := s.Start; b < s.End; b++ {
				covering[b] = i + 1
			}
		}
		for b := range text {
			owner := ownerOf(given, int32(b))
			if owner == nil && covering[b] > 0 || owner != nil && covering[b] == 0 && text[b] != ' ' {
				t.Fatalf("byte %d: owner %v, span %d", b, owner, covering[b])
			}
			if owner == nil || covering[b] == 0 {
				continue
			}
			s := spans[covering[b]-1]
			if owner.Rank == 0 && ownsAll(given, owner) && s.Category != owner.Category {
				t.Fatalf("byte %d: a winner lost its category", b)
			}
		}
		for i := range given {
			first, last := WithoutSpaces(text, given[i].Start, given[i].End)
			if first < last && ownsAll(given, &given[i]) && covering[first] != covering[last-1] {
				t.Fatalf("candidate %d was cut though nothing better touches it", i)
			}
		}
	})
}

// ownsAll tells whether nothing better overlaps a candidate.
func ownsAll(cands []Candidate, c *Candidate) bool {
	for at := c.Start; at < c.End; at++ {
		if o := ownerOf(cands, at); o.compare(c) != 0 {
			return false
		}
	}
	return true
}

func TestMergeDoesNotDependOnOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := []byte(strings.Repeat("ab ", 12))
		cands := drawCandidates(t, int32(len(text)))
		shuffled := rapid.Permutation(cands).Draw(t, "order")
		m := Merger{}
		a := slices.Clone(m.Merge(nil, text, slices.Clone(cands)))
		if b := m.Merge(nil, text, slices.Clone(shuffled)); !slices.Equal(a, b) {
			t.Fatalf("%v and %v", a, b)
		}
	})
}
