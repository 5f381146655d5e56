package idset

import (
	"fmt"
	"testing"

	"github.com/zeebo/xxh3"
)

func TestSampleOverlap(t *testing.T) {
	for _, c := range []struct {
		was, given, shared int // ids; those that both have
		text               string
		alike              bool
	}{
		{20, 20, 20, "sin fiebre desde ayer", true},
		{20, 30, 5, "sin fiebre desde ayer", true},
		{20, 20, 0, "sin fiebre desde ayer", true},
		{20, 20, 20, "otra nota que no es la misma", false},
		{20_000, 30_000, 10_000, "sin fiebre desde ayer", true},
	} {
		before, now := NewSample(), NewSample()
		for i := range c.was {
			before.Add(fmt.Append(nil, "n", i), []byte("sin [PERSON] desde ayer"))
		}
		for i := range c.given {
			now.Add(fmt.Append(nil, "n", i+c.was-c.shared), []byte(c.text))
		}
		was, given, shared, seen, alike := before.Overlap(now)
		if was != int64(c.was) || given != int64(c.given) || shared*100 < int64(c.shared)*95 || shared*95 > int64(c.shared)*100 || (alike == seen && seen > 0) != (c.alike && c.shared > 0) {
			t.Errorf("%+v: %d %d %d %d %d", c, was, given, shared, seen, alike)
		}
	}
}

func TestIsLike(t *testing.T) {
	const note = "Pac Lucía Ferrer acude a CAP Reus el 12/03/2025, tel 600123123. Dolor lumbar, paracetamol 1g/8h"
	for _, c := range []struct {
		name, masked string
		want         bool
	}{
		{"masked in four places", "Pac [PERSON] acude a [LOCATION] el [DATE], tel [TELEPHONE]. Dolor lumbar, paracetamol 1g/8h", true},
		{"surrogates", "Pac Marta Soler Roca acude a CAP Sant Pere el 3/05/2024, tel 611222333. Dolor lumbar, paracetamol 1g/8h", true},
		{"names left out", "Pac acude a el tel Dolor lumbar, paracetamol 1g/8h", true},
		{"masked at both ends", "[PERSON] acude a [LOCATION] por Dolor lumbar, [PERSON]", true},
		{"another note", "[PERSON] refiere tos seca el [DATE] sin fiebre, salbutamol a demanda", false},
		{"another note that begins alike", "Pac [PERSON] acude a urgencias por cefalea intensa y vómitos desde anoche", false},
		{"nothing but placeholders", "[PERSON] [DATE]", true},
		{"empty", "", true},
	} {
		if got := isLike([]byte(c.masked), []byte(note)); got != c.want {
			t.Errorf("%s: is like %v", c.name, got)
		}
	}
}

// A note at the bound of a sample is kept by who adds it and by who thins, so that two samples have the same notes.
func TestSampleBound(t *testing.T) {
	h := xxh3.HashString("nota 1")
	for _, tt := range []struct {
		below uint64
		want  int
	}{{h - 1, 0}, {h, 1}, {h + 1, 1}} {
		added, thinned := NewSample(), NewSample()
		added.thin(tt.below)
		added.Add([]byte("nota 1"), nil)
		thinned.Add([]byte("nota 1"), nil)
		thinned.thin(tt.below)
		if len(added.texts) != tt.want || len(thinned.texts) != tt.want {
			t.Errorf("%d and %d notes, want %d", len(added.texts), len(thinned.texts), tt.want)
		}
	}
}
