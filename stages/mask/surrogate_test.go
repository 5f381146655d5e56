package mask_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/velum-health/velum/stages/mask"
)

// TestFates: half of a patient's values have one surrogate in all of the notes, the
// others one of its own in each; the order of notes and the worker change nothing.
func TestFates(t *testing.T) {
	masker := func() *mask.Masker {
		return newMasker(t, mask.Options{Default: chain(t, "surrogate strategy=markov"), Key: testKey(t, 4)})
	}
	const notes, patients = 12, 200
	name := func(m *mask.Masker, patient, note int) string {
		n := mask.Note{ID: fmt.Appendf(nil, "%d-%d", patient, note), Patient: fmt.Appendf(nil, "p%d", patient)}
		return masked(t, m, n, "está mejor y se va [PERSON:Quirogabal]")
	}
	m := masker()
	same, others, first := 0, 0, ""
	for p := range patients {
		in := map[string]int{}
		for i := range notes {
			of := name(m, p, i)
			if p == 0 && i == 0 {
				first = of
			}
			in[of]++
		}
		switch {
		case len(in) == 1:
			same++
		case len(in) > notes/3: // some names are frequent
			others++
		}
	}
	if same < patients*2/5 || same > patients*3/5 || same+others < patients*97/100 {
		t.Errorf("of %d values %d have one surrogate in all notes and %d one of its own in each", patients, same, others)
	}
	if again := name(masker(), 0, 0); again != first {
		t.Errorf("another worker writes %q, not %q", again, first)
	}
}

// TestStaff: a third of those who work there have one surrogate with all patients, and
// as many one with each; patients have their own.
func TestStaff(t *testing.T) {
	m := newMasker(t, mask.Options{Default: chain(t, "surrogate strategy=markov"), Key: testKey(t, 4)})
	for _, c := range []struct {
		marked string
		house  bool
	}{
		{"Dra. [PERSON:%s]", true},
		{"metge [PERSON:%s]", true},
		{"Visto por [NOMBRE_PERSONAL_SANITARIO:%s]", true},
		{"su hijo [PERSON:%s]", false},
	} {
		const people, patients, notes = 90, 6, 3
		house, ofOne := 0, 0
		for k := range people {
			who := fmt.Sprintf("Quirog%c%cal", 'a'+k%10, 'a'+k/10)
			all, mine := map[string]int{}, map[string]int{}
			for p := range patients {
				for i := range notes {
					n := mask.Note{ID: fmt.Appendf(nil, "%d-%d", p, i), Patient: fmt.Appendf(nil, "%d", p)}
					name := masked(t, m, n, fmt.Sprintf(c.marked, who))
					all[name]++
					if p == 0 {
						mine[name]++
					}
				}
			}
			switch {
			case all[firstOf(all)] == patients*notes:
				house++
			case len(mine) == 1:
				ofOne++
			}
		}
		if c.house && (house < people/5 || house > people/2 || ofOne < people/10 || ofOne > people/2) || !c.house && (house > 0 || ofOne < people/4) {
			t.Errorf("%s: of %d names %d have one surrogate with all patients, %d with the first", c.marked, people, house, ofOne)
		}
	}
}

// firstOf returns a key of m.
func firstOf(m map[string]int) string {
	for k := range m {
		return k
	}
	return ""
}

// TestSpelledLikeTheNote: a name with accents has one with accents in its place, one that is
// written without them has one without, and where a name has none to show the note tells.
func TestSpelledLikeTheNote(t *testing.T) {
	m := newMasker(t, mask.Options{Default: chain(t, "surrogate strategy=markov"), Key: testKey(t, 4)})
	for _, c := range []struct {
		text    string
		accents bool
		value   string
	}{
		{"acude a consulta por dolor de rodilla de larga evolucion, sin fiebre ni perdida de peso, se pauta ibuprofeno y reposo relativo, control en dos semanas con su enfermera. ", false, "Moreno"},
		{"acude a consulta por lumbalgia, está mejor. ", true, "García"},
		{"acude a consulta por lumbalgia, está mejor. ", false, "Garcia"},
		{"acude a consulta por lumbalgia, está mejor. ", true, "Moreno"},
		{"acude a consulta por dolor, sin fiebre. ", true, "García"},
	} {
		n := 0
		for i := range 300 {
			name := masked(t, m, mask.Note{ID: fmt.Appendf(nil, "%d", i)}, c.text+"[PERSON:"+c.value+"]")
			if strings.ContainsAny(name[len(c.text):], "áéíóúàèòü") {
				n++
			}
		}
		if (n > 60) != c.accents {
			t.Errorf("%q, %s: %d of 300 surrogates with accents", c.text[:20], c.value, n)
		}
	}
	if got := masked(t, m, mask.Note{ID: []byte("1")}, "está [PERSON:GARCIA Lopez]"); strings.ContainsAny(got[len("está "):], "áéíóúÁÉÍÓÚ") {
		t.Errorf("%q has accents where García has none", got)
	}
}
