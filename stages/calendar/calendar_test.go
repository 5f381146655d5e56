package calendar

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/velum-health/velum/pipeline"
)

// Whatever overlaps whatever, what comes out is in order and disjoint, and covers all
// that went in.
func TestBetween(t *testing.T) {
	const text = "aa bb cc dd ee ff gg hh ii jj kk ll"
	disjoint := func(t *rapid.T, name string, categories []pipeline.Category) (spans []pipeline.Span) {
		borders := rapid.SliceOfNDistinct(rapid.Int32Range(0, int32(len(text))), 0, 12, rapid.ID[int32]).Draw(t, name)
		slices.Sort(borders)
		for i := 0; i+1 < len(borders); i += 2 {
			spans = append(spans, pipeline.Span{Start: borders[i], End: borders[i+1], Category: rapid.SampledFrom(categories).Draw(t, name)})
		}
		return spans
	}
	person, err := pipeline.ParseCategory("PERSON")
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		w := &worker{Options: Options{Date: dateCategory}}
		spans, found := disjoint(t, "spans", []pipeline.Category{person, dateCategory}), disjoint(t, "found", []pipeline.Category{dateCategory})
		w.between([]byte(text), slices.Clone(spans), slices.Clone(found), nil)
		end := int32(0)
		covered := make([]bool, len(text))
		for _, s := range w.spans.Items {
			if s.Start < end || s.Start >= s.End {
				t.Fatalf("spans %v and finds %v became %v", spans, found, w.spans.Items)
			}
			end = s.End
			for i := s.Start; i < s.End; i++ {
				covered[i] = true
			}
		}
		for _, s := range append(slices.Clone(spans), found...) {
			for i := s.Start; i < s.End; i++ {
				if !covered[i] && text[i] != ' ' {
					t.Fatalf("spans %v and finds %v became %v: byte %d is open", spans, found, w.spans.Items, i)
				}
			}
		}
	})
}
