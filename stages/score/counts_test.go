package score_test

import (
	"encoding/json"
	"math"
	"reflect"
	"testing"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/stages/score"
)

// notesScored scores notes of one gold span each, found or not.
func notesScored(o score.Options, found ...bool) *score.Scorer {
	s := score.New(o)
	for _, f := range found {
		gold := []pipeline.Span{{Start: 0, End: 3, Category: 1}}
		system := []pipeline.Span{{Start: 4, End: 7, Category: 2}}
		if f {
			system = append(system, gold...)
		}
		s.Add([]byte("Ada Bea"), nil, gold, system)
	}
	return s
}

// Counts come back from JSON as they were, and report the same.
func TestCountsInJSON(t *testing.T) {
	o := score.Options{Draws: 50, Seed: 3}
	s := notesScored(o, true, false, true, true)
	data, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	back := score.New(o)
	if err := json.Unmarshal(data, back); err != nil {
		t.Fatal(err)
	}
	a, b := s.Report(), back.Report()
	if !reflect.DeepEqual(a.Measures, b.Measures) || a.MacroCategories != b.MacroCategories || len(a.Categories) != len(b.Categories) {
		t.Errorf("%+v, want %+v", b, a)
	}
	for _, bad := range []string{"", "{", `{"categories": {"NO SUCH": [1, 0, 0, 0]}}`} {
		if err := json.Unmarshal([]byte(bad), score.New(o)); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}

// Rows may be put together and left out.
func TestGather(t *testing.T) {
	o := score.Options{Draws: -1}
	all := score.New(o)
	all.Gather(notesScored(o, true, false, true, true), func(i int) int { return []int{1, 0, 1, -1}[i] })
	all.Gather(notesScored(o, false), func(int) int { return 2 })
	want := notesScored(o, true, false, true, false).Report()
	got := all.Report()
	if got.Notes != 3 {
		t.Errorf("%d rows", got.Notes)
	}
	for k, m := range got.Measures {
		w := want.Measures[k]
		if m.Gold != w.Gold || m.Found != w.Found || m.System != w.System || m.Right != w.Right {
			t.Errorf("%s: %+v, want %+v", m.Name, m, w)
		}
	}
}

// The paired bootstrap finds no spread where both differ alike in every note, and the
// spread of a binomial where one alone errs.
func TestDifferenceInterval(t *testing.T) {
	o := score.Options{Draws: -1}
	var all, none, half []bool
	for i := range 400 {
		all, none, half = append(all, true), append(none, false), append(half, i%2 == 0)
	}
	a, b, c := notesScored(o, all...), notesScored(o, none...), notesScored(o, half...)
	d, err := a.DifferenceInterval(b, score.Strict, 200, 1)
	if err != nil || d.Recall != [2]float64{1, 1} {
		t.Errorf("%+v, %v", d, err)
	}
	d, err = a.DifferenceInterval(c, score.Strict, 4000, 1)
	sd := math.Sqrt(0.25 / 400)
	if err != nil || math.Abs(d.Recall[0]-(0.5-1.96*sd)) > 0.006 || math.Abs(d.Recall[1]-(0.5+1.96*sd)) > 0.006 {
		t.Errorf("%+v, %v", d, err)
	}
	if _, err := a.DifferenceInterval(notesScored(o, true), score.Strict, 10, 1); err == nil {
		t.Error("other notes were compared")
	}
}
