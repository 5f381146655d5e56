package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// document has a header, a body, and letters of two bytes before every span.
var document = note{ID: "d", Text: "País: España.\nMédico:\n\nÑito y señora viven en Cádiz.", Spans: []span{{6, 12, "PAIS"}, {23, 27, "PERSON"}, {46, 51, "PLACE"}}}

func words(n note) (all []string) {
	for _, s := range n.Spans {
		all = append(all, s.Label+" "+string([]rune(n.Text)[s.Start:s.End]))
	}
	return all
}

func TestParts(t *testing.T) {
	cut := lines(document)
	for _, tt := range []struct {
		name string
		got  note
		text string
		want []string
	}{
		{"whole", document, document.Text, []string{"PAIS España", "PERSON Ñito", "PLACE Cádiz"}},
		{"header", only(document, headers), "País: España.\nMédico:\n", []string{"PAIS España"}},
		{"body", only(document, bodies), "\nÑito y señora viven en Cádiz.", []string{"PERSON Ñito", "PLACE Cádiz"}},
		{"first line", cut[0], "País: España.", []string{"PAIS España"}},
		{"last line", cut[len(cut)-1], "Ñito y señora viven en Cádiz.", []string{"PERSON Ñito", "PLACE Cádiz"}},
	} {
		if d := cmp.Diff(tt.want, words(tt.got)); d != "" || tt.got.Text != tt.text {
			t.Errorf("%s: %q\n%s", tt.name, tt.got.Text, d)
		}
	}
	if len(cut) != 3 || cut[2].ID != "d:3" {
		t.Errorf("%d lines, the last one %s", len(cut), cut[len(cut)-1].ID)
	}
}

// Draws of one seed grow: what is labelled is never in the pool nor in the
// validation slice.
func TestDraw(t *testing.T) {
	l := lab{seed: 3, pool: []note{{ID: "pool-0"}}}
	for i := range held + 30 {
		l.train = append(l.train, note{ID: string(rune('A' + i)), Text: "x", Spans: []span{{0, 1, "PERSON"}}})
	}
	few, many := l.draw(1, 5, all), l.draw(1, 20, all)
	if d := cmp.Diff(few.gold, many.gold[:5]); d != "" {
		t.Error(d)
	}
	seen := map[string]bool{}
	for _, n := range append(append(append([]note(nil), many.gold...), many.dev...), many.archive...) {
		if seen[n.ID] {
			t.Errorf("note %q comes twice", n.ID)
		}
		seen[n.ID] = true
	}
	if len(seen) != held+31 {
		t.Errorf("%d notes of %d", len(seen), held+31)
	}
	for _, n := range many.archive {
		if n.Spans != nil {
			t.Error("labels in the pool")
		}
	}
	if len(l.train[0].Spans) == 0 {
		t.Error("the corpus lost its labels")
	}
}

func TestSpread(t *testing.T) {
	if got := spread([]float64{0.1, 0.2, 0.3}); got != "0.2000 ± 0.1000" {
		t.Error(got)
	}
}
