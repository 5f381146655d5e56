package synth

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/markup"
	"pgregory.net/rapid"
)

// tagged is invented lines with the spans of both settings in markup; a line
// with "¬" before it was found by the second alone.
var tagged = []string{
	"Ingresa en [LOCATION:Hospital Zubizarreta] el [DATE:3/4/2011] por tos.",
	"Valorada por el Dr. [PERSON:Quintanilla] de guardia.",
	"Mujer de [AGE:67 años] con fiebre, remitida desde [LOCATION:Almuradiel].",
	"¬Habla con [PERSON:Bermudo] por la tarde en consulta.",
	"Aporta [PERSON:Nicanor] su cartilla 1234 5678 de vacunas.",
	"Llama [PERSON:Olegario] y vuelve a llamar Olegario mas tarde.",
	"Refiere la paciente dolor desde hace 3 días en este centro.",
	"Acude con su hija que traduce lo que dice.",
	"Sin hallazgos en la radiografia de torax de control.",
	"Vive cerca de Quintanilla y no tiene apoyo alguno.",
	"[DATE:14 de febrero de 2009]: revision sin incidencias de interes.",
}

// collect puts the lines, in the given order, into a collection.
func collect(t testing.TB, seed uint64, notes int64, order []int) *Contexts {
	t.Helper()
	c := NewContexts(ContextOptions{Notes: notes, Seed: seed})
	b := new(pipeline.Batch)
	for _, i := range order {
		line, eager := strings.CutPrefix(tagged[i], "¬")
		text, spans, err := markup.Parse(line)
		if err != nil {
			t.Fatal(err)
		}
		b.ID.Append([]byte("n"))
		b.Text.Append(text)
		b.Reason = append(b.Reason, pipeline.Sound)
		b.Language = append(b.Language, pipeline.Spanish)
		b.Spans.Append(spans...)
		if eager {
			spans = nil
		}
		b.Gold.Append(spans...)
	}
	if err := c.Put(b); err != nil {
		t.Fatal(err)
	}
	return c
}

func notesOf(t testing.TB, c *Contexts) (marked []string) {
	t.Helper()
	src, b := c.Source(), new(pipeline.Batch)
	for {
		b.Reset()
		if err := src.Next(b); err == io.EOF {
			return marked
		} else if err != nil {
			t.Fatal(err)
		}
		for i := range b.Len() {
			marked = append(marked, markup.Write(b.Text.At(i), b.Gold.At(i)))
		}
	}
}

func inOrder() (order []int) {
	for i := range tagged {
		order = append(order, i)
	}
	return order
}

// No word of a value is left, in whatever notes; what both settings do not
// agree on and lines with numbers are no contexts.
func TestContextsKeepNoValue(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		seed := rapid.Uint64().Draw(r, "seed")
		got := strings.Join(notesOf(t, collect(t, seed, 60, inOrder())), "\n")
		for _, gone := range []string{"Zubizarreta", "Quintanilla", "Almuradiel", "Bermudo", "Nicanor", "Olegario", "1234", "3/4/2011", "67 años", "14 de febrero de 2009"} {
			if strings.Contains(strings.ToLower(got), strings.ToLower(gone)) {
				r.Fatalf("seed %d: a value of line %d is left", seed, indexOf(gone))
			}
		}
		if strings.Contains(got, "cartilla") || strings.Contains(got, "por la tarde") || strings.Contains(got, "cerca de") {
			r.Fatalf("seed %d: a line that is no context is there", seed)
		}
	})
}

func indexOf(value string) int {
	for i, line := range tagged {
		if strings.Contains(line, value) {
			return i
		}
	}
	return -1
}

// Every kind of line gets what belongs there.
func TestContextsValues(t *testing.T) {
	got := strings.Join(notesOf(t, collect(t, 7, 200, inOrder())), "\n")
	for _, want := range []string{"Ingresa en [LOCATION:", "] el [DATE:", "Dr. [PERSON:", "Mujer de [AGE:", " años] con fiebre", "su hija [PERSON:", "] que traduce",
		"Refiere [PERSON:", "dolor desde [DATE:", "en [LOCATION:", "]: revision sin incidencias", "Sin hallazgos en la radiografia de torax de control.\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("no note with %q", want)
		}
	}
}

// The same lines give the same notes, in whatever order they came.
func TestContextsOrder(t *testing.T) {
	want := notesOf(t, collect(t, 3, 40, inOrder()))
	order := inOrder()
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	if got := notesOf(t, collect(t, 3, 40, order)); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Error("other notes in another order")
	}
}

// Every form of a date is written without a letter of the form left.
func TestDateForms(t *testing.T) {
	if len(dateForms) != numDateForms {
		t.Fatalf("%d forms, numDateForms says %d", len(dateForms), numDateForms)
	}
	g := NewContexts(ContextOptions{Notes: 1}).Source().(*contextual)
	g.r = rand.New(rand.NewPCG(1, 1))
	for k := range dateForms {
		for range 20 {
			date := g.form(nil, k)
			if bytes.ContainsAny(date, "DMYBR") && k != 12 && k != 13 || len(date) < 3 {
				t.Errorf("form %q writes %q", dateForms[k], date)
			}
			if wordForms <= k != ownLetters.Match(date) && !bytes.ContainsAny(date, "IVX") {
				t.Errorf("form %q: a month's name where none is due, or none", dateForms[k])
			}
		}
	}
}
