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
		both := Compared{scorerOf(t, person, c.was), scorerOf(t, person, c.now)}
		if got := lossesOf(t, person, both, both, c.tolerance); got != c.want {
			t.Errorf("%s: %s, want %s", c.what, got, c.want)
		}
	}
}

// Where a house masks with a pair, the pairs are compared in what is masked, and the models alone in what they find.
func TestLossesOfPairs(t *testing.T) {
	all, person := strings.Repeat("f", 40), pipeline.Category(1)
	for _, c := range []struct{ what, was, now, wasPair, nowPair, want string }{
		{"one left alone and masked by the pair", all, all[:39] + ".", all, all[:39] + "m", "[]"},
		{"one left by the pair", all, all[:39] + ".", all, all[:39] + ".", "[ALL masked_recall 1 0.975]"},
		{"more masked alone, less by the pair", all[:30] + "..........", all[:39] + ".", all[:30] + "mmmmmmmmmm", all[:39] + ".", "[ALL masked_recall 1 0.975]"},
		{"ten left alone and masked by the pair: they are found no more", all, all[:30] + "..........", all, all[:30] + "mmmmmmmmmm", "[recall 1 0.75]"},
		{"ten left by the pair", all, all, all, all[:30] + "..........", "[ALL masked_recall 1 0.75 masked_recall 1 0.75]"},
	} {
		found, masked := Compared{scorerOf(t, person, c.was), scorerOf(t, person, c.now)}, Compared{scorerOf(t, person, c.wasPair), scorerOf(t, person, c.nowPair)}
		if got := lossesOf(t, person, found, masked, 0); got != c.want {
			t.Errorf("%s: %s, want %s", c.what, got, c.want)
		}
	}
}

// lossesOf says what is lost of notes of one category.
func lossesOf(t *testing.T, category pipeline.Category, found, masked Compared, tolerance float64) string {
	t.Helper()
	lost, err := Losses(found, masked, tolerance)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, l := range lost {
		if l.Category == everything {
			got = append(got, l.Category)
		} else if l.Category != category.String() {
			t.Errorf("category %s", l.Category)
		}
		got = append(got, fmt.Sprint(l.Measure, " ", l.Was, " ", l.Now))
	}
	return fmt.Sprint(got)
}
