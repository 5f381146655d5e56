package score

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/velum-health/velum/pipeline"
)

// What differs between two systems is what their reports differ by; its interval holds it, and is a point where they are alike.
func TestDifferences(t *testing.T) {
	text := []byte("Ada Roca en Vic")
	places := [][2]int32{{0, 3}, {0, 8}, {12, 15}}
	rapid.Check(t, func(t *rapid.T) {
		spans := func(label string) (all []pipeline.Span) {
			for _, p := range places {
				if c := rapid.IntRange(0, 2).Draw(t, label); c > 0 {
					all = append(all, pipeline.Span{Start: p[0], End: p[1], Category: pipeline.Category(c)})
				}
			}
			return all
		}
		was, now := New(Options{Draws: -1}), New(Options{Draws: -1})
		for range rapid.IntRange(1, 12).Draw(t, "notes") {
			gold := spans("gold")
			was.Add(text, nil, gold, spans("was"))
			now.Add(text, nil, gold, spans("now"))
		}
		all, err := now.RecallDifferences(was, 200, 1)
		if err != nil {
			t.Fatal(err)
		}
		if len(all) > 0 && (all[0].Category != AllCategories || all[0].Gold != len(now.entities) || math.Round((all[0].Now-all[0].Was)*float64(all[0].Gold)) != float64(all[0].Gained-all[0].Lost)) {
			t.Errorf("of all categories %+v", all[0])
		}
		k := min(2, len(all)) // the first two are of all categories
		for i, c := range now.Report().Categories {
			if c.Gold == 0 {
				continue
			}
			before := CategoryScore{}
			for _, b := range was.Report().Categories {
				if b.Category == c.Category {
					before = b
				}
			}
			plain, masked := all[k], all[k+1]
			k += 2
			if plain.Category != c.Category || plain.Masked || !masked.Masked || int64(plain.Gold) != c.Gold ||
				plain.Now != c.Recall || masked.Now != c.MaskedRecall || plain.Was != before.Recall || masked.Was != before.MaskedRecall {
				t.Errorf("category %d: %+v, %+v, want %+v and before %+v", i, plain, masked, c, before)
			}
			if d := plain.Now - plain.Was; plain.Gold > 0 && plain.Ends[0] > plain.Ends[1] || d == 0 && plain.Ends[0] > 0 {
				t.Errorf("interval %v of %v", plain.Ends, d)
			}
		}
		if k != len(all) {
			t.Errorf("%d differences, %d of them of categories", len(all), k)
		}
		same, err := now.DifferenceInterval(now, Strict, 100, 1)
		if err != nil || same != (Interval{}) {
			t.Errorf("a system differs from itself by %v, %v", same, err)
		}
		if ends, err := now.DifferenceInterval(was, Strict, 100, 1); err != nil || ends.F1[0] > ends.F1[1] {
			t.Errorf("%v, %v", ends, err)
		}
	})
	if _, err := New(Options{}).RecallDifferences(scorerOfOne(), 10, 1); err == nil {
		t.Error("systems of other notes are compared")
	}
}

func scorerOfOne() *Scorer {
	s := New(Options{})
	s.Add([]byte("Ada"), nil, nil, nil)
	return s
}
