package language_test

import (
	"context"
	"strings"
	"testing"
)

// TestFitLanguage: weights that were fitted to invented sentences know their
// languages, and the same sentences give the same weights.
func TestFitLanguage(t *testing.T) {
	var train sentences
	for k, text := range []string{
		"el paciente refiere dolor y fiebre desde hace dos días; la niña está mejor con el tratamiento. se queja de mareos cuando camina por la mañana",
		"el pacient refereix dolor i febre des de fa dos dies; la nena està millor amb el tractament. es queixa de marejos quan camina pel matí",
		"the patient complains of pain and fever for two days; the girl is better with the treatment. she feels dizzy when she walks in the morning",
	} {
		for s := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ';' || r == '.' }) {
			train[k] = append(train[k], strings.Fields(s))
		}
	}
	m := fitLanguage(t.Context(), &train, 3000, func(int64) {})
	for k, all := range train {
		for _, words := range all {
			p := m.predict(buckets(nil, words))
			for other := range p {
				if other != k && p[other] >= p[k] {
					t.Errorf("%q: %v, want language %d", words, p, k)
				}
			}
		}
	}
	if again := fitLanguage(t.Context(), &train, 3000, func(int64) {}); *again != *m {
		t.Error("other weights the second time")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	ticks := 0
	fitLanguage(ctx, &train, 1_000_000, func(int64) { ticks++ })
	if ticks != 1 {
		t.Errorf("%d ticks after it was cancelled", ticks)
	}
}
