package report

import (
	"math"
	"strings"
	"testing"

	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/pipeline/tally"
)

func TestLeak(t *testing.T) {
	var c tally.Counts
	c.Note(tally.Category, "PERSON", 500)
	c.Note(tally.Category, "DATE", 900)
	if leakOf(&leakInput{counts: c, notes: 1000}) != nil {
		t.Error("a leak without an audit")
	}
	l := leakOf(&leakInput{counts: c, notes: 1000, audited: map[string]string{"PERSON": "10/1000", "DATE": "0/500"}, allowed: 0.02})
	if want := 1 - math.Exp(-500*0.01/0.99/1000); math.Abs(l.Probability-want) > 1e-6 {
		t.Errorf("probability %v, want %v", l.Probability, want)
	}
	if !(l.Low < l.Probability && l.Probability < l.High) {
		t.Errorf("%v is not within %v to %v", l.Probability, l.Low, l.High)
	}
	if l.TooMuch() != "" {
		t.Errorf("high %v, allowed 0.02: %s", l.High, l.TooMuch())
	}
	if l.Allowed = 0.005; l.TooMuch() == "" {
		t.Error("more than allowed, and not said")
	}
	for text, ok := range map[string]bool{"3/1000": true, "0/1": true, "1/1": false, "-1/5": false, "x/5": false, "5": false, "1/0": false} {
		if _, _, got := option.ParseAudited(text); got != ok {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// TestHiddenLeak: what is left among surrogates that change is told where it was left
// twice, or as often as an attack told it; among consistent ones always.
func TestHiddenLeak(t *testing.T) {
	var c tally.Counts
	c.Note(tally.Category, "PERSON", 500)
	c.Note(tally.WithSpans, "", 100)
	parrot := &Attacks{Tried: []Attack{
		{Name: "parrot", Results: []AttackResult{{Kind: "planted", Misses: 0.001, Recall: 0.3}, {Kind: "planted", Misses: 0.05, Recall: 0.5}}},
		{Name: "spelling", Results: []AttackResult{{Kind: "planted", Misses: 0.001, Recall: 0.1}, {Kind: "natural", Recall: 0.9}}},
	}}
	weak := &Attacks{Tried: []Attack{{Name: "parrot", Results: []AttackResult{{Kind: "planted", Misses: 0.01, Verdict: "no power"}}}}}
	for _, x := range []struct {
		strategy, audited string
		attacks           *Attacks
		want              float64
	}{
		{"", "10/1000", nil, 1},
		{"consistent", "10/1000", parrot, 1},
		{"random", "10/1000", nil, toldByPeople},
		{"markov", "100/1000", nil, 1 - math.Pow(0.9, 4)},
		{"markov", "1/1000", parrot, 0.3},
		{"markov", "40/1000", parrot, 0.5},
		{"random", "1/1000", parrot, 0.3},
		{"markov", "10/1000", weak, 1},
		{"markov", "300/1000", parrot, 1 - math.Pow(0.7, 4)},
	} {
		l := leakOf(&leakInput{counts: c, notes: 1000, audited: map[string]string{"PERSON": x.audited}, strategies: map[string]string{"PERSON": x.strategy}, attacks: x.attacks})
		if got := l.Categories[0].Told; math.Abs(got-x.want) > 1e-5 {
			t.Errorf("%s, %s: told %v, want %v", x.strategy, x.audited, got, x.want)
		}
		if !(l.Low <= l.Probability && l.Probability <= l.High) {
			t.Errorf("%s, %s: %v is not within %v to %v", x.strategy, x.audited, l.Probability, l.Low, l.High)
		}
	}
}

// TestReadAttacks: findings of the attacks on extracts, and what is none.
func TestReadAttacks(t *testing.T) {
	const parrot = `{"message_type":"finding","attack":"parrot","verdict":"passed","sentence":"x","results":[{"kind":"planted","misses":0.01,"verdict":"passed","recall":0.1,"precision":0.1,"guess":0.01}]}` + "\n"
	const linkage = `{"message_type":"finding","attack":"linkage","verdict":"failed","sentence":"x","figures":{"people":4,"matched":3,"alone":1,"few":2,"at_least":5}}` + "\n"
	a, err := readAttacks(strings.NewReader(parrot + "\n" + linkage))
	if err != nil || len(a.Tried) != 2 || a.Tried[0].Results[0].Recall != 0.1 || a.Linkage.Share() != 0.5 {
		t.Fatalf("%+v, %v", a, err)
	}
	l := leakOf(&leakInput{notes: 10, attacks: a, allowed: 0.4})
	if l.TooMuch() == "" || l.Probability != 0 {
		t.Errorf("half of the people match too few notes: %+v", l)
	}
	if l.Allowed = 0.6; l.TooMuch() != "" {
		t.Error(l.TooMuch())
	}
	for _, bad := range []string{
		"", "{}", "no json", `{"message_type":"finding","attack":"oracle","figures":{}}`, strings.Replace(parrot, "passed", "green", 1), strings.Replace(parrot, "0.01", "2", 1),
		strings.Replace(linkage, `"people":4`, `"people":0`, 1), strings.Replace(linkage, `"few":2`, `"few":9`, 1), strings.Replace(linkage, `{"people`, `["people`, 1),
	} {
		if _, err := readAttacks(strings.NewReader(bad)); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
}
