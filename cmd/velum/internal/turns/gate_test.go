package turns

import (
	"fmt"
	"strings"
	"testing"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/stages/score"
)

// scorerOf scores notes of one person each: of those that a system finds, f is strictly right, m only masked, . left.
func scorerOf(t *testing.T, category pipeline.Category, found string) *score.Scorer {
	t.Helper()
	s := score.New(score.Options{})
	gold := []pipeline.Span{{Start: 0, End: 3, Category: category}}
	for _, c := range found {
		system := map[rune][]pipeline.Span{'f': gold, 'm': {{Start: 0, End: 5, Category: category}}}[c]
		s.Add([]byte("Ada B"), nil, gold, system)
	}
	return s
}

// A category loses beyond chance; of what is masked altogether nothing may be lost.
func TestLosses(t *testing.T) {
	all, person := strings.Repeat("f", 40), pipeline.Category(1)
	for _, c := range []struct {
		what, was, now string
		tolerance      float64
		want           string
	}{
		{"the same", all, all, 0, "[]"},
		{"more", all[:30] + "..........", all, 0, "[]"},
		{"one border of forty", all, all[:39] + "m", 0, "[]"},
		{"ten borders of forty", all, all[:30] + "mmmmmmmmmm", 0, "[recall 1 0.75]"},
		{"ten borders, tolerated", all, all[:30] + "mmmmmmmmmm", 0.25, "[]"},
		{"one left", all, all[:39] + ".", 0, "[ALL masked_recall 1 0.975]"},
		{"one left, tolerated", all, all[:39] + ".", 0.03, "[]"},
		{"others left", all[:38] + "..", ".." + all[:38], 0, "[]"},
		{"ten left", all, all[:30] + "..........", 0, "[ALL masked_recall 1 0.75 recall 1 0.75 masked_recall 1 0.75]"},
	} {
		lost, err := Losses(scorerOf(t, person, c.was), scorerOf(t, person, c.now), c.tolerance)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, l := range lost {
			if l.Category == "ALL" {
				got = append(got, l.Category)
			} else if l.Category != person.String() {
				t.Errorf("%s: category %s", c.what, l.Category)
			}
			got = append(got, fmt.Sprint(l.Measure, " ", l.Was, " ", l.Now))
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("%s: %v, want %s", c.what, got, c.want)
		}
	}
}
