package choose_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/velum-health/velum/stages/choose"
)

// drawNotes draws notes of three classes, some without spans, whose spans are
// as sure as the note or surer.
func drawNotes(t *rapid.T) []choose.Record {
	list := make([]choose.Record, rapid.IntRange(0, 40).Draw(t, "n"))
	for i := range list {
		r := &list[i]
		r.Row, r.Hash = int64(i), rapid.Uint64().Draw(t, "hash")
		r.Confidence = choose.Confidence(rapid.IntRange(0, 10).Draw(t, "confidence") * 1000)
		for range rapid.IntRange(0, 3).Draw(t, "spans") {
			c := rapid.IntRange(0, 2).Draw(t, "class")
			r.Spans[c]++
			r.Lengths[c]++
			r.Least[c] = choose.Confidence(rapid.IntRange(int(r.Confidence)/1000, 10).Draw(t, "least") * 1000)
		}
	}
	return list
}

// A lower C_min never takes fewer notes, with one for all and with floors by
// class, whatever shares are wanted.
func TestLowerNeverFewer(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := drawNotes(t)
		a := rapid.IntRange(0, 10).Draw(t, "first share")
		b := rapid.IntRange(0, 10-a).Draw(t, "second share")
		target := choose.Target{
			K: rapid.IntRange(0, 30).Draw(t, "k"), WithoutSpans: float64(rapid.IntRange(0, 9).Draw(t, "without")) / 10,
			Shares: []float64{float64(a) / 10, float64(b) / 10, float64(10-a-b) / 10},
		}
		quantile := float64(rapid.IntRange(0, 10).Draw(t, "quantile")) / 10
		byClass := rapid.Bool().Draw(t, "by class")
		before := target.K + 1
		for c := range 11 {
			target.MinConfidence = float64(c) / 10
			if byClass {
				target.Floors = choose.NewFloors(slices.Values(list), target.MinConfidence, quantile)
			}
			got, err := choose.Final(slices.Values(list), target)
			if err != nil {
				t.Fatal(err)
			}
			if len(got.Keys) > before {
				t.Fatalf("%d notes at %.1f, %d at %.1f", before, target.MinConfidence-0.1, len(got.Keys), target.MinConfidence)
			}
			before = len(got.Keys)
		}
	})
}

// A class that hardly occurs has what there is; the others keep their
// proportions and the set its size.
func TestScarce(t *testing.T) {
	list := notes(4000, []float64{0.7, 0.3}, 0.5, 3)
	list[0].Spans, list[0].Lengths = [choose.MaxClasses]uint8{2: 1}, [choose.MaxClasses]uint8{2: 1}
	list[0].Confidence = 9000
	got, err := choose.Final(slices.Values(list), choose.Target{K: 1000, MinConfidence: 0.85, Shares: []float64{0.25, 0.25, 0.5}, WithoutSpans: 0.4})
	if err != nil || len(got.Keys) != 1000 || got.Met || got.Short != 2 {
		t.Fatalf("%v: %d notes, met %v, short of %d", err, len(got.Keys), got.Met, got.Short)
	}
	if !slices.Contains(got.Keys, list[0].Key) || got.Shares[0] < 0.48 || got.Shares[0] > 0.52 {
		t.Errorf("shares %.3f", got.Shares)
	}
}

func TestFloors(t *testing.T) {
	of := func(conf, first, second choose.Confidence) (r choose.Record) {
		r.Confidence, r.Row = conf, int64(conf)
		for c, least := range []choose.Confidence{first, second} {
			if least > 0 {
				r.Spans[c], r.Lengths[c], r.Least[c] = 1, 1, least
			}
		}
		return r
	}
	list := []choose.Record{
		of(9900, 9900, 0), of(9800, 9900, 0), of(9700, 9900, 0), of(9600, 9700, 0), // an easy class
		of(6001, 0, 6001), of(5000, 0, 5000), of(4000, 0, 4000), of(3000, 0, 3000), // a hard one
		of(9500, 0, 0), of(7000, 0, 0), of(2000, 0, 0), of(1000, 0, 0), // none
		of(4900, 9900, 4950), // both, and what stands outside hardly less sure
		of(900, 9900, 9000),  // sure spans, and outside something that may be one
	}
	for _, c := range []struct {
		min, quantile          float64
		first, second, outside choose.Confidence
		rows                   []int64
	}{
		{0.85, 0.5, 8500, 5000, 7000, []int64{5000, 6001, 7000, 9500, 9600, 9700, 9800, 9900}},
		{0.85, 1, 8500, 8500, 8500, []int64{9500, 9600, 9700, 9800, 9900}},
		{0.45, 0.5, 4500, 4500, 4500, []int64{4900, 5000, 6001, 7000, 9500, 9600, 9700, 9800, 9900}},
		{0.85, 0, 8500, 3000, 1000, []int64{1000, 2000, 3000, 4000, 4900, 5000, 6001, 7000, 9500, 9600, 9700, 9800, 9900}},
	} {
		f := choose.NewFloors(slices.Values(list), c.min, c.quantile)
		if f.Class[0] != c.first || f.Class[1] != c.second || f.Outside != c.outside {
			t.Errorf("%g at %g: %d %d %d", c.min, c.quantile, f.Class[0], f.Class[1], f.Outside)
		}
		got, err := choose.Final(slices.Values(list), choose.Target{K: 100, MinConfidence: c.min, Floors: f, WithoutSpans: 0.9})
		if err != nil {
			t.Fatal(err)
		}
		var rows []int64
		for _, k := range got.Keys {
			rows = append(rows, k.Row)
		}
		if !slices.Equal(rows, c.rows) {
			t.Errorf("%g at %g: took %d", c.min, c.quantile, rows)
		}
	}
}
