package mask_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/velum-health/velum/stages/mask"
)

// TestStandIns: over a patient's notes some surrogates come again and many do not,
// whoever is meant; the order of notes and the worker change nothing.
func TestStandIns(t *testing.T) {
	masker := func() *mask.Masker {
		return newMasker(t, mask.Options{Default: chain(t, "surrogate strategy=markov"), Key: testKey(t, 4)})
	}
	const notes, patients = 12, 60
	surname := func(m *mask.Masker, patient, note int, marked string) string {
		n := mask.Note{ID: fmt.Appendf(nil, "%d-%d", patient, note), Patient: fmt.Appendf(nil, "p%d", patient)}
		return masked(t, m, n, marked)
	}
	m := masker()
	once, often, others, first := 0, 0, 0, ""
	for p := range patients {
		in := map[string]int{}
		for i := range notes {
			name := surname(m, p, i, "viene [PERSON:Quirogabal]")
			if p == 0 && i == 0 {
				first = name
			}
			in[name]++
			if other := surname(m, p, i, "viene [PERSON:Zubizar]"); in[other] > 0 {
				others++
			}
		}
		for _, n := range in {
			if n == 1 {
				once++
			}
			if n >= 3 {
				often += n
			}
		}
	}
	all := patients * notes
	if once < all*35/100 || once > all*65/100 || often < all/5 {
		t.Errorf("of %d mentions %d have a surrogate that comes in one note of the patient, %d one that comes in three or more", all, once, often)
	}
	if others < all/5 {
		t.Errorf("somebody else has a surrogate of the same patient's only %d times of %d", others, all)
	}
	if again := surname(masker(), 0, 0, "viene [PERSON:Quirogabal]"); again != first {
		t.Errorf("another worker writes %q, not %q", again, first)
	}
}

// TestStaff: who works there and where has the house's stand-ins, which come again in
// notes of other patients; patients have their own.
func TestStaff(t *testing.T) {
	m := newMasker(t, mask.Options{Default: chain(t, "surrogate strategy=markov"), Key: testKey(t, 4)})
	for _, c := range []struct {
		marked string
		house  bool
	}{
		{"Dra. [PERSON:Quirogabal Zubizar]", true},
		{"metge [PERSON:Quirogabal Zubizar]", true},
		{"Visto por [NOMBRE_PERSONAL_SANITARIO:Quirogabal Zubizar]", true},
		{"va a [HOSPITAL:Hospital de Quirogabal]", true},
		{"su hijo [PERSON:Quirogabal Zubizar]", false},
	} {
		in := map[string]int{}
		most := 0
		for p := range 100 {
			n := mask.Note{ID: fmt.Appendf(nil, "%d", p), Patient: fmt.Appendf(nil, "p%d", p)}
			name := masked(t, m, n, c.marked)
			in[name]++
			most = max(most, in[name])
		}
		if (most > 15) != c.house {
			t.Errorf("%s: a surrogate comes with %d of 100 patients", c.marked, most)
		}
	}
}

// TestSpelledLikeTheNote: where a note has no accents, surrogates have none.
func TestSpelledLikeTheNote(t *testing.T) {
	m := newMasker(t, mask.Options{Default: chain(t, "surrogate strategy=markov"), Key: testKey(t, 4)})
	for _, c := range []struct {
		text    string
		accents bool
	}{
		{"acude a consulta por dolor de rodilla de larga evolucion, sin fiebre ni perdida de peso, se pauta ibuprofeno y reposo relativo, control en dos semanas con su enfermera. ", false},
		{"acude a consulta por lumbalgia, está mejor. ", true},
	} {
		n := 0
		for i := range 300 {
			name := masked(t, m, mask.Note{ID: fmt.Appendf(nil, "%d", i)}, c.text+"[PERSON:Quirogabal]")
			if strings.ContainsAny(name[len(c.text):], "áéíóúàèòü") {
				n++
			}
		}
		if (n > 60) != c.accents {
			t.Errorf("%q: %d of 300 surrogates with accents", c.text[:20], n)
		}
	}
	if got := masked(t, m, mask.Note{ID: []byte("1")}, "está [PERSON:GARCIA Lopez]"); strings.ContainsAny(got[len("está "):], "áéíóúÁÉÍÓÚ") {
		t.Errorf("%q has accents where García has none", got)
	}
}
