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

// A model stays out of use for what it loses net of what it gains, beyond chance and the tolerance; not for a few identifiers.
func TestDecide(t *testing.T) {
	all, person := strings.Repeat("f", 40), pipeline.Category(1)
	worse, many := strings.Repeat("m", 400), strings.Repeat("f", 400)
	for _, c := range []struct {
		what, was, now string
		tolerance      float64
		want           string
	}{
		{"the same", all, all, 0, "[]"},
		{"more", all[:30] + "..........", all, 0, "[]"},
		{"one border of forty", all, all[:39] + "m", 0, "[]"},
		{"ten borders of forty", all, all[:30] + "mmmmmmmmmm", 0, "[PERSON recall -10 +0]"},
		{"ten borders, tolerated", all, all[:30] + "mmmmmmmmmm", 0.25, "[]"},
		{"others left", all[:38] + "..", ".." + all[:38], 0, "[]"},
		{"ten left", all, all[:30] + "..........", 0, "[ALL masked_recall -10 +0 PERSON recall -10 +0 PERSON masked_recall -10 +0]"},
		{"ten left, nine tolerated", all, all[:30] + "..........", 9. / 40, "[ALL masked_recall -10 +0 PERSON recall -10 +0 PERSON masked_recall -10 +0]"},
		{"ten left, tolerated", all, all[:30] + "..........", 0.25, "[]"},
		// what kept better models out of use: one to three of many are lost
		{"one left of 400", worse, many[:399] + ".", 0, "[]"},
		{"three left of 400", worse, many[:397] + "...", 0, "[]"},
		{"four left of 400", worse, many[:396] + "....", 0, "[ALL masked_recall -4 +0 PERSON masked_recall -4 +0]"},
		{"six left and three gained", "..." + worse[3:], many[:394] + "......", 0, "[]"},
		{"twelve left and two gained", ".." + worse[2:], many[:388] + "............", 0, "[ALL masked_recall -12 +2 PERSON masked_recall -12 +2]"},
	} {
		lines, err := Compare(scorerOf(t, person, c.was), scorerOf(t, person, c.now))
		if err != nil {
			t.Fatal(err)
		}
		j := Judgment{Compared: lines, Better: &[2]float64{0.1, 0.2}}
		j.Decide(c.tolerance)
		got := []string{}
		for _, l := range j.Gated {
			got = append(got, fmt.Sprintf("%s %s -%d +%d", strings.Replace(l.Category, person.String(), "PERSON", 1), l.Measure, l.Lost, l.Gained))
		}
		if fmt.Sprint(got) != c.want || j.Promoted != (c.want == "[]") {
			t.Errorf("%s: in use %v, %v, want %s", c.what, j.Promoted, got, c.want)
		}
	}
}

// A model that is not better beyond chance stays out of use, though it loses nothing.
func TestDecideBetter(t *testing.T) {
	for _, c := range []struct {
		better *[2]float64
		want   bool
	}{{nil, true}, {&[2]float64{0.001, 0.2}, true}, {&[2]float64{0, 0.2}, false}, {&[2]float64{-0.3, -0.1}, false}} {
		j := Judgment{Better: c.better}
		if j.Decide(0); j.Promoted != c.want {
			t.Errorf("%v: in use %v", c.better, j.Promoted)
		}
	}
}
