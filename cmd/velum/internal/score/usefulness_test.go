package score

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/markup"
	"github.com/velum-health/velum/stages/tokenize"
)

// measured counts notes in the notation of markup; gold are the first marks,
// masked the second.
func measured(t *testing.T, o *UsefulnessOptions, notes ...[2]string) *measure {
	t.Helper()
	b := new(pipeline.Batch)
	for _, n := range notes {
		text, masked, err := markup.Parse(n[1])
		if err != nil {
			t.Fatal(err)
		}
		_, gold, err := markup.Parse(n[0])
		if err != nil {
			t.Fatal(err)
		}
		b.ID.Append([]byte("a"))
		b.Text.Append(text)
		b.Gold.Append(gold...)
		b.Spans.Append(masked...)
		b.Reason = append(b.Reason, pipeline.Sound)
	}
	if err := tokenize.New(tokenize.Options{MaxBytes: 1 << 20, MaxTokens: 1 << 10}).New()(b); err != nil {
		t.Fatal(err)
	}
	m := newMeasure(o)
	if err := m.Put(b); err != nil {
		t.Fatal(err)
	}
	m.finish()
	return m
}

func TestUsefulness(t *testing.T) {
	m := measured(t, &UsefulnessOptions{Gold: true, Forms: 5},
		[2]string{"[PERSON:Ana] toma paracetamol 500 mg", "[PHI:Ana] toma [PHI:paracetamol] 500 mg"},
		[2]string{"TA 120/80, disnea", "TA 120/80, disnea"},
		[2]string{"disnea", "[PHI:disnea]"},
		[2]string{"hola Zyxwvut", "hola [PHI:Zyxwvut]"},
	)
	kinds := map[string][2]int64{}
	for _, k := range m.Kinds {
		if k.Terms > 0 {
			kinds[k.Kind] = [2]int64{k.Terms, k.Kept}
		}
	}
	if d := cmp.Diff(map[string][2]int64{"drug": {1, 0}, "dose": {1, 1}, "lab": {1, 1}, "symptom": {2, 1}}, kinds); d != "" {
		t.Error(d)
	}
	if m.All != 1 || m.Some != 1 || m.None != 1 || m.Notes != 4 {
		t.Errorf("notes: all %d, some %d, none %d of %d", m.All, m.Some, m.None, m.Notes)
	}
	if m.Hid != 4 || m.Vain != 3 {
		t.Errorf("%d words masked, %d in vain", m.Hid, m.Vain)
	}
	// A word of no list is counted and never shown.
	if d := cmp.Diff([]Count{{"disnea", 1}, {"paracetamol", 1}}, m.Forms); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]Count{{"PHI", 3}}, m.By); d != "" {
		t.Error(d)
	}
	without := measured(t, &UsefulnessOptions{Forms: 5}, [2]string{"hola Zyxwvut disnea", "hola [PHI:Zyxwvut disnea]"})
	if without.Vain != 1 {
		t.Errorf("without gold %d words in vain: only what a safe list has", without.Vain)
	}
}

// TestSample: a note comes in at most once, and a sample is as large as asked
// or as there are notes.
func TestSample(t *testing.T) {
	var notes [][2]string
	for range 20 {
		notes = append(notes, [2]string{"tos", "tos"})
	}
	for _, n := range []int{0, 5, 30} {
		m := measured(t, &UsefulnessOptions{Sample: n}, notes...)
		if len(m.sample) != min(n, 20) {
			t.Errorf("sample of %d: %d notes", n, len(m.sample))
		}
	}
}
