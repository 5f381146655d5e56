package study

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/stages/score"
)

// notesOf makes a corpus of groups of so many notes.
func notesOf(sizes ...int) *corpus {
	c := &corpus{}
	for g, n := range sizes {
		for k := range n {
			c.notes = append(c.notes, note{id: fmt.Sprintf("g%d-%d", g, k), group: fmt.Sprint("g", g)})
		}
	}
	return c
}

// Folds share all notes out, split no group, are the same for a seed, and differ in size
// by one group at the most.
func TestFolds(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for trial := range 200 {
		sizes := make([]int, 3+random.IntN(40))
		for i := range sizes {
			sizes[i] = 1 + random.IntN(6)
		}
		c := notesOf(sizes...)
		all := c.of(goldSet)
		k := 2 + random.IntN(len(sizes)-1)
		folds := c.folds(all, k, trial)
		var together []int
		of := map[string]int{}
		for f, notes := range folds {
			if len(notes) == 0 {
				t.Fatalf("%v in %d folds: fold %d is empty", sizes, k, f)
			}
			if len(notes) > len(folds[0])+slices.Max(sizes) || len(notes)+slices.Max(sizes) < len(folds[0]) {
				t.Errorf("%v in %d folds: %d notes and %d", sizes, k, len(folds[0]), len(notes))
			}
			for _, i := range notes {
				if was, known := of[c.notes[i].group]; known && was != f {
					t.Fatalf("group %s is in folds %d and %d", c.notes[i].group, was, f)
				}
				of[c.notes[i].group] = f
			}
			together = append(together, notes...)
			if rest := without(all, notes); len(rest)+len(notes) != len(all) || slices.ContainsFunc(rest, func(i int) bool { return slices.Contains(notes, i) }) {
				t.Fatal("a fold and the rest are not all notes")
			}
		}
		if slices.Sort(together); !slices.Equal(together, all) {
			t.Fatalf("%v in %d folds: not every note once", sizes, k)
		}
		if again := notesOf(sizes...).folds(all, k, trial); fmt.Sprint(again) != fmt.Sprint(folds) {
			t.Fatal("other folds for the same seed")
		}
	}
	if a, b := notesOf(make20()...).folds(notesOf(make20()...).of(goldSet), 2, 1), notesOf(make20()...).folds(notesOf(make20()...).of(goldSet), 2, 2); fmt.Sprint(a) == fmt.Sprint(b) {
		t.Error("another seed, the same folds")
	}
}

func make20() []int { return slices.Repeat([]int{1}, 20) }

// More notes are the same ones and others, and groups go whole.
func TestFirst(t *testing.T) {
	c := notesOf(3, 1, 2, 5, 1, 4)
	groups := c.groups(c.of(goldSet), 3)
	var before []int
	for n := range len(c.notes) + 1 {
		now := first(groups, n)
		if len(now) < n || slices.ContainsFunc(before, func(i int) bool { return !slices.Contains(now, i) }) {
			t.Fatalf("%d notes: %v after %v", n, now, before)
		}
		for _, g := range groups {
			if in := slices.Contains(now, g[0]); slices.ContainsFunc(g, func(i int) bool { return slices.Contains(now, i) != in }) {
				t.Fatalf("%d notes: group %s is split", n, c.notes[g[0]].group)
			}
		}
		before = now
	}
}

func TestGrouping(t *testing.T) {
	for _, c := range []struct{ by, group, id, path, want string }{
		{"note", "", "a-1", "x/", "a-1"},
		{"document", "", "S0004-06142005000500011-1", "", "S0004-06142005000500011"},
		{"document", "", "ward-12-3", "", "ward-12"},
		{"document", "", "8|354|1", "", "8|354"},
		{"document", "", "17", "", "17"},
		{"patient", `^([^|]+)\|`, "8|354|1", "", "8"},
		{"patient", `^([^|]+)\|`, "none", "", "none"},
		{"source", "", "a-1", "corpora/nubes/", "nubes"},
		{"source", `^([a-z]+)-`, "voices-3", "all.jsonl", "voices"},
		{"day", "", "", "", "--by"},
		{"patient", "", "", "", "--by patient"},
		{"patient", "(", "", "", "--group"},
		{"patient", "x", "", "", "--group"},
		{"note", "(x)", "", "", "--group"},
	} {
		of, err := (&Options{By: c.by, Group: c.group}).grouping()
		if err != nil {
			if !strings.HasPrefix(err.Error(), c.want) || c.id != "" {
				t.Errorf("%s %s: %v", c.by, c.group, err)
			}
		} else if got := of(c.id, c.path); got != c.want {
			t.Errorf("%s of %q: %q, want %q", c.by, c.id, got, c.want)
		}
	}
}

// pointOf is a point whose rows have right of 4 gold spans, and as many system spans.
func pointOf(kind string, right ...int) *Point {
	s := score.New(score.Options{Beta: 1, Draws: -1})
	for _, n := range right {
		var gold, system []pipeline.Span
		for k := range int32(4) {
			g := pipeline.Span{Start: 4 * k, End: 4*k + 2, Category: pipeline.Category(1)}
			gold = append(gold, g)
			if int(k) >= n {
				g.End++
			}
			system = append(system, g)
		}
		s.Add([]byte("ab, cd, ef, gh, "), nil, gold, system)
	}
	return &Point{Kind: kind, scorer: s}
}

// The test of a pair comes to what all exchanges of its rows come to.
func TestPairAgainstAllExchanges(t *testing.T) {
	for _, c := range [][2][]int{
		{{4, 3, 4, 2, 4, 3, 4, 4}, {3, 3, 2, 2, 1, 3, 4, 2}},
		{{4, 3, 1, 2, 4, 3, 0, 4}, {3, 4, 2, 1, 4, 2, 1, 4}},
		{{1, 2, 3, 4}, {1, 2, 3, 4}},
	} {
		s := &study{Options: &Options{Draws: 2000, Seed: 5}}
		p, err := s.pair(pointOf("a", c[0]...), pointOf("b", c[1]...), "a", "b", "")
		if err != nil {
			t.Fatal(err)
		}
		sum := 0
		for i := range c[0] {
			sum += c[0][i] - c[1][i]
		}
		reached := 0
		for mask := range 1 << len(c[0]) {
			d := 0
			for i := range c[0] {
				if x := c[0][i] - c[1][i]; mask>>i&1 == 1 {
					d -= x
				} else {
					d += x
				}
			}
			if max(d, -d) >= max(sum, -sum) {
				reached++
			}
		}
		want := float64(reached) / float64(int(1)<<len(c[0]))
		if math.Abs(p.F1.Alpha-want) > 0.02 {
			t.Errorf("%v: by chance %.4f, of all exchanges %.4f", c, p.F1.Alpha, want)
		}
		n := float64(4 * len(c[0]))
		if d := float64(sum) / n; math.Abs(p.F1.Difference-d) > 1e-4 || p.F1.Ends[0] > d || p.F1.Ends[1] < d {
			t.Errorf("%v: difference %+v, want %.4f", c, p.F1, d)
		}
	}
}

// TestHolm: the smallest of four times four, the next times three, and none lower than one before or higher than one.
func TestHolm(t *testing.T) {
	for _, c := range [][2][]float64{{{0.04, 0.01, 0.03, 0.5}, {0.09, 0.04, 0.09, 0.5}}, {{0.7, 0.6}, {1, 1}}, {{0.2}, {0.2}}, {nil, nil}} {
		var all []*Pair
		for _, a := range c[0] {
			all = append(all, &Pair{F1: Difference{Alpha: a}, Masked: Difference{Alpha: a / 2}})
		}
		adjust(all)
		for k, p := range all {
			if math.Abs(p.F1.Holm-c[1][k]) > 1e-9 || p.Masked.Holm > p.F1.Holm || p.Masked.Holm < p.Masked.Alpha {
				t.Errorf("%v: %+v, want %v", c[0][k], p, c[1][k])
			}
		}
	}
}

func TestSettings(t *testing.T) {
	all, err := (&study{Options: &Options{Vary: []string{"a=1,2", "b=x,y"}}}).settings()
	if err != nil || fmt.Sprint(all) != "[[a=1 b=x] [a=1 b=y] [a=2 b=x] [a=2 b=y]]" {
		t.Errorf("%v, %v", all, err)
	}
	for _, vary := range [][]string{nil, {"a"}, {"a="}} {
		if _, err := (&study{Options: &Options{Vary: vary}}).settings(); err == nil {
			t.Errorf("%q was taken", vary)
		}
	}
}

// The fair figure of a grid is that of settings which the other folds picked: here each
// setting shines in one fold, and there the other one is taken.
func TestFair(t *testing.T) {
	s := &study{Options: &Options{Beta: 1, Draws: 10, Seed: 1}, corpus: notesOf(1, 1)}
	for i := range s.corpus.notes {
		s.corpus.notes[i].drawn = s.corpus.notes[i].group
	}
	row := func(setting string, right ...int) (c cell) {
		for f, n := range right {
			c.trials = append(c.trials, &trial{arm: &arm{name: "crf", settings: []string{"x=0", setting}}, test: []int{f},
				outcome: &outcome{Notes: []int{0}, Confidence: []float32{1}, Scores: pointOf("", n).scorer}})
		}
		return c
	}
	tried := []cell{row("y=1", 4, 1), row("y=2", 2, 3)}
	p := s.fair(&arm{name: "crf", settings: []string{"x=0"}}, tried)
	if fmt.Sprint(p.Picked) != "[y=2 y=1]" || p.Strict.F1 != 0.375 {
		t.Errorf("picked %v, F1 %v; want [y=2 y=1] and 3 of 8", p.Picked, p.Strict.F1)
	}
	if s.fair(&arm{}, []cell{row("y=1", 4)}) != nil {
		t.Error("one fold has no other folds")
	}
}

// What trials found is joined by their tokens.
func TestRankingTogether(t *testing.T) {
	of := func(rows ...Ranked) *trial { return &trial{outcome: &outcome{Ranking: rows}} }
	all := together("crf", []*trial{
		of(Ranked{Category: "DATE", Feature: "word[0]", Adds: 1, Tokens: 10}, Ranked{Category: "DATE", Feature: "shape[0]", Adds: -3, Tokens: 10}),
		of(Ranked{Category: "DATE", Feature: "word[0]", Adds: 4, Tokens: 30}),
	})
	if len(all) != 2 || *all[0] != (Ranked{"crf", "DATE", "word[0]", 3.25, 40}) || *all[1] != (Ranked{"crf", "DATE", "shape[0]", -0.75, 40}) {
		t.Errorf("%+v", all)
	}
}
