package mask

import (
	"slices"
	"strings"
	"testing"

	"github.com/velum-health/velum/pipeline/markup"
)

// A toy operator: the first letters of a value. What stands between here and
// toyRow would be its file; toyRow is its row of the table.

func newToy(s *settings) func(*Options) Operator {
	letters := s.number("letters", 1, 1, 3)
	return stateless(func(dst []byte, v Value) []byte {
		return append(append(dst, v.Words[:min(letters, len(v.Words))]...), '.')
	}).new
}

var toyRow = kind{"toy", "the first letters of the value", false, newToy}

// TestToyOperator: an operator that is a row of the table is one to policies,
// to the list of operators and to the stage, and verify is told where it wrote.
func TestToyOperator(t *testing.T) {
	table = append(slices.Clip(table), toyRow)
	defer func() { table = table[:len(table)-1] }()
	if !slices.Contains(OperatorNames(), "toy") || !slices.ContainsFunc(Describe(), func(l [2]string) bool { return l[0] == "toy letters=1" }) {
		t.Errorf("operators %v", Describe())
	}
	for bad, want := range map[string]string{"toy letters=9": "letters", "toy letter=2": "letter", "tyo": "toy"} {
		if _, err := ParseChain(bad); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v", bad, err)
		}
	}
	chain, err := ParseChain("toy letters=2 | suppress")
	if err != nil {
		t.Fatal(err)
	}
	m, err := NewMasker(Options{Default: chain})
	if err != nil {
		t.Fatal(err)
	}
	text, spans, err := markup.Parse("ve [PERSON:Ada] en [LOCATION:Olot].")
	if err != nil {
		t.Fatal(err)
	}
	masked, places, ok := m.Mask(nil, nil, &Note{Text: text, Spans: spans})
	if !ok || string(masked) != "ve Ad. en Ol.." || len(places) != 2 {
		t.Fatalf("masked %q, %d places, %t", masked, len(places), ok)
	}
	for i, want := range []string{"Ad.", "Ol."} {
		if got := string(masked[places[i].Start:places[i].End]); got != want {
			t.Errorf("place %d is %q", i, got)
		}
	}
}
