package choose

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// drawUnit makes records of a unit, few of whose counts differ, so that strata
// are full and confidences tie.
func drawUnit(t *rapid.T, unit uint32) []Record {
	list := make([]Record, rapid.IntRange(0, 60).Draw(t, "records"))
	for i := range list {
		r := &list[i]
		r.Key = Key{Unit: unit, Row: int64(3 * i)}
		r.Confidence = Confidence(rapid.IntRange(8400, 8600).Draw(t, "confidence"))
		r.Hash = rapid.Uint64Max(3).Draw(t, "hash")
		for range rapid.IntRange(0, 2).Draw(t, "classes") {
			c := rapid.IntRange(0, 2).Draw(t, "class")
			r.Spans[c], r.Lengths[c] = rapid.Uint8Range(1, 2).Draw(t, "spans"), rapid.Uint8Max(2).Draw(t, "length")
		}
	}
	return list
}

// TestChoice wants the choice among shortlists to be that among all notes, whatever
// the lists leave out, however often they are settled, and in any order of units.
func TestChoice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		target := Target{
			K: rapid.IntRange(0, 30).Draw(t, "k"), MinConfidence: 0.85, WithoutSpans: rapid.SampledFrom([]float64{0, 0.3}).Draw(t, "without"),
			Shares: []float64{0.5, 0.3, 0.2}, MaxKept: rapid.SampledFrom([]int{0, 40}).Draw(t, "kept"),
		}
		review := rapid.IntRange(0, 10).Draw(t, "review")
		var all []Record
		least := NewLowest(review)
		choice, err := NewChoice(target, review)
		if err != nil {
			t.Fatal(err)
		}
		var lists [][]byte
		var written [][]Key // of a unit, in the order in which they are written
		for unit := range uint32(rapid.IntRange(1, 5).Draw(t, "units")) {
			s := newShortlist(target, target.K, review)
			var keys, pending []Key
			settle := func() {
				for _, n := range s.Settle() {
					keys = append(keys, pending[n])
				}
				pending = pending[:0]
			}
			for _, r := range drawUnit(t, unit) {
				toReview := r.Row%2 == 0 && r.Confidence < 8450
				if toReview {
					least.Add(&r)
				} else {
					all = append(all, r)
				}
				if s.add(r, toReview) {
					pending = append(pending, r.Key)
				}
				if rapid.IntRange(0, 20).Draw(t, "settle") == 0 {
					settle()
				}
			}
			settle()
			lists, written = append(lists, s.AppendBinary(nil)), append(written, keys)
		}
		for _, unit := range rapid.Permutation([]int{0, 1, 2, 3, 4}).Draw(t, "order") {
			if unit < len(lists) {
				if err := choice.Add(uint32(unit), lists[unit]); err != nil {
					t.Fatal(err)
				}
			}
		}
		got, curator := choice.Result()
		for _, keys := range [][]Key{got.Keys, curator} {
			for i, k := range keys {
				keys[i] = written[k.Unit][k.Row]
			}
		}
		want, err := Final(slices.Values(all), target)
		if err != nil {
			t.Fatal(err)
		}
		got.Below = want.Below // lists have none of those
		if d := cmp.Diff(want, got); d != "" {
			t.Error(d)
		}
		if d := cmp.Diff(least.Keys(), curator); d != "" {
			t.Error("for a curator: ", d)
		}
	})
}

// TestShortlistBounds: of notes with the same counts the surest are written, and of
// the others the least sure.
func TestShortlistBounds(t *testing.T) {
	s := newShortlist(Target{MinConfidence: 0.5}, 2, 1)
	for i, confidence := range []Confidence{9000, 8000, 9500, 7000, 4000, 3000} {
		r := Record{Confidence: confidence, Hash: uint64(i)}
		r.Spans[0] = 1
		if listed := s.add(r, confidence < 5000); listed != (confidence != 7000) {
			t.Errorf("%v is on the list: %v", confidence, listed)
		}
	}
	if got := s.Settle(); !slices.Equal(got, []int{0, 2, 4}) { // the fourth was never on it
		t.Errorf("notes %v are kept", got)
	}
	list := s.AppendBinary(nil)
	if n := len(list); n != 1+1+1+3+1+2*entryBytes+1+entryBytes {
		t.Errorf("%d bytes", n)
	}
	c, err := NewChoice(Target{K: 1, MinConfidence: 0.5}, 5)
	if err == nil {
		err = c.Add(7, list)
	}
	result, review := c.Result()
	if err != nil || result.Candidates != 4 || !slices.Equal(result.Keys, []Key{{7, 1}}) || !slices.Equal(review, []Key{{7, 2}}) {
		t.Errorf("%+v, %v, %v", result, review, err)
	}
	if list, err = Remaining(list, func(was int32) (int32, bool) { return was - 1, was > 0 }); err != nil {
		t.Fatal(err)
	}
	if c, err = NewChoice(Target{K: 3, MinConfidence: 0.5}, 5); err != nil {
		t.Fatal(err)
	}
	if err := c.Add(7, list); err != nil {
		t.Fatal(err)
	}
	// The surest note is gone; two of the candidates that were not kept still count.
	result, review = c.Result()
	if err != nil || result.Candidates != 3 || !slices.Equal(result.Keys, []Key{{7, 0}}) || !slices.Equal(review, []Key{{7, 1}}) {
		t.Errorf("what remains: %+v, %v, %v", result, review, err)
	}
	if _, err := Remaining(list[:len(list)-1], func(was int32) (int32, bool) { return was, true }); !errors.Is(err, ErrShortlist) {
		t.Errorf("a list that is cut off: %v", err)
	}
	for k, review := range map[int]int{0: 0, 1: 1, 5000: 250, 8192: 256} {
		if a, b := ShortlistSizes(k, review); a != min(k, 1)*8192 || b != min(review, 1)*256 {
			t.Errorf("%d and %d for %d and %d", a, b, k, review)
		}
	}
	if a, b := ShortlistSizes(8193, 257); a != 16384 || b != 512 {
		t.Errorf("%d and %d", a, b)
	}
}

func FuzzChoice(f *testing.F) {
	s := newShortlist(Target{MinConfidence: 0.5}, 5, 5)
	for i := range 20 {
		r := Record{Confidence: Confidence(4500 + 100*i)}
		r.Spans[i%3], r.Lengths[i%3] = 1, 2
		s.add(r, i < 5)
	}
	s.Settle()
	list := s.AppendBinary(nil)
	f.Add(list)
	f.Add(list[:len(list)-1])
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := NewChoice(Target{K: 10, MinConfidence: 0.5}, 3)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Add(1, data); err != nil && !errors.Is(err, ErrShortlist) {
			t.Error(err)
		}
		if result, _ := c.Result(); result.Candidates < len(result.Keys) {
			t.Errorf("%d of %d candidates", len(result.Keys), result.Candidates)
		}
	})
}
