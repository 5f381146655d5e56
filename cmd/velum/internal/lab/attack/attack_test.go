package attack

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/velum-health/velum/cmd/velum/internal/option"
)

const (
	patients = 120
	visits   = 8
)

// word makes a name that is none, of one of many.
func word(of int) string {
	syllables := []string{"ba", "ce", "di", "fo", "gu", "la", "me", "ni", "po", "ru"}
	return "R" + syllables[of%10] + syllables[of/10%10] + syllables[of/100%10]
}

// written is an invented extract: name says how mention k of a note of a patient is
// written, and which is left.
func written(round int, name func(rng *rand.Rand, patient, visit, k int, left bool) string) *planted {
	rng := rand.New(rand.NewPCG(uint64(round), 1))
	e := new(planted)
	for p := range patients {
		missed := rng.IntN(20) == 0 // in all notes
		for v := range visits {
			n := note{Patient: p, Time: int64(v), Judged: true, Text: []byte("Ve avui amb")}
			for k := range 3 {
				left := missed && k == 1
				n.Text = append(n.Text, " la "...)
				m := mention{Start: int32(len(n.Text)), Left: left}
				n.Text = append(n.Text, name(rng, p, v, k, left)...)
				m.End = int32(len(n.Text))
				m.Words = nameWords(n.Text[m.Start:])
				n.Mentions = append(n.Mentions, m)
			}
			e.Notes = append(e.Notes, n)
		}
	}
	return e
}

// random writes a left name as any other: what hides is perfect.
func random(rng *rand.Rand, _, _, _ int, _ bool) string { return word(rng.IntN(1000)) }

// TestAttacks: each attack on names finds what gives them away, in an invented extract,
// and finds no more than guessing where nothing does.
func TestAttacks(t *testing.T) {
	config, err := option.Load(option.Sources{})
	if err != nil {
		t.Fatal(err)
	}
	a := &attacker{Options: &Options{Seed: 1}, config: config}
	for _, tt := range []struct {
		attack string
		name   func(rng *rand.Rand, patient, visit, k int, left bool) string
	}{
		{"repetition", func(rng *rand.Rand, patient, _, _ int, left bool) string {
			if left {
				return word(patient)
			}
			return word(rng.IntN(1000))
		}},
		{"frequency", func(rng *rand.Rand, _, _, _ int, left bool) string {
			if left {
				return word(900 + rng.IntN(100)) // no surrogate is one
			}
			return word(rng.IntN(900))
		}},
	} {
		for _, perfect := range []bool{false, true} {
			name := tt.name
			if perfect {
				name = random
			}
			got := tried(t, a, tt.attack, name)
			if want := map[bool]string{false: failed, true: passed}[perfect]; got.Verdict != want {
				t.Errorf("%s, perfect %v: %s, want %s: %s", tt.attack, perfect, got.Verdict, want, got.sentence())
			}
			if !perfect && (got.Lift < 5 || got.Low < 1 || got.Low > got.Lift || got.High < got.Lift) {
				t.Errorf("%s: %v times guessing (%v to %v)", tt.attack, got.Lift, got.Low, got.High)
			}
		}
	}
}

// tried is the result of one sight of names on some extracts.
func tried(t *testing.T, a *attacker, attack string, name func(*rand.Rand, int, int, int, bool) string) *Result {
	t.Helper()
	var at spy = new(repetition)
	if attack == "frequency" {
		often, err := newFrequency(a)
		if err != nil {
			t.Fatal(err)
		}
		often.learn(written(99, func(rng *rand.Rand, p, v, k int, _ bool) string { return name(rng, p, v, k, false) }))
		at = often
	}
	var all []suspect
	for round := range 16 {
		all = suspects(all, written(round, name), []spy{at}, round, 1)
	}
	return judge(all, score(all), patients, func(*suspect) bool { return true }, 2, 1)
}

// TestCandidates: surrogates that are as frequent as the names that they stand for lead to the people, others do not.
func TestCandidates(t *testing.T) {
	config, err := option.Load(option.Sources{})
	if err != nil {
		t.Fatal(err)
	}
	often, err := newFrequency(&attacker{Options: &Options{}, config: config})
	if err != nil {
		t.Fatal(err)
	}
	for k := range 1000 {
		often.pool[word(k)] = 1 << (k % 8)
	}
	people := func(seed uint64, like bool) *planted {
		rng, e := rand.New(rand.NewPCG(seed, 2)), new(planted)
		for p := range patients {
			name := [2]int{rng.IntN(1000), rng.IntN(1000)}
			for range visits {
				m := mention{}
				for _, of := range name {
					other := rng.IntN(125) * 8
					if like {
						other += of % 8
					} else {
						other += rng.IntN(8)
					}
					m.Was, m.Words = append(m.Was, []byte(word(of))), append(m.Words, []byte(word(other)))
				}
				e.Notes = append(e.Notes, note{Patient: p, Mentions: []mention{m}})
			}
		}
		return e
	}
	truth := make([]int, patients)
	for p := range truth {
		truth[p] = p
	}
	for _, like := range []bool{true, false} {
		c := newChannel(often)
		c.learn(people(1, like))
		all := c.patients(people(2, like), patients)
		first, median := c.rank(all, truth)
		if found := median < leastRank(patients); len(all) != patients || found != like {
			t.Errorf("surrogates like names %t: %d of %d at the first guess, median rank %.0f", like, first, len(all), median)
		}
	}
}

// TestPower: ten names and one of them left say nothing, however well the attack did;
// none left says nothing; many of a perfect extract pass, and what is needed is named.
func TestPower(t *testing.T) {
	of := func(names, every int, right bool) *Result {
		var all []suspect
		scores := make([]float64, names)
		for i := range names {
			all = append(all, suspect{patient: i / 17 % 300, tie: uint32(i * 2654435761), left: every > 0 && i%every == 0})
			if right && all[i].left {
				scores[i] = 1
			}
		}
		return judge(all, scores, 300, func(*suspect) bool { return true }, 2, 1)
	}
	for _, tt := range []struct {
		name         string
		names, every int
		right        bool
		want         string
	}{
		{"nothing is left", 1000, 0, false, noPower},
		{"one of ten", 10, 10, true, noPower},
		{"forty of four thousand", 4000, 100, false, noPower},
		{"many", 100_000, 100, false, passed},
		{"many, and all are found", 100_000, 100, true, failed},
	} {
		r := of(tt.names, tt.every, tt.right)
		if r.Verdict != tt.want {
			t.Errorf("%s: %s, want %s (%+v)", tt.name, r.Verdict, tt.want, r)
		}
		if r.Verdict == noPower && r.Needed <= r.Left {
			t.Errorf("%s: %d are left, and %d are needed", tt.name, r.Left, r.Needed)
		}
	}
	f := &finding{Attack: "x"}
	for _, r := range []*Result{{Verdict: noPower}, {Verdict: passed}, {Verdict: noPower}} {
		f.add(r)
	}
	if f.Verdict != passed {
		t.Errorf("one with power passed, and it says %s", f.Verdict)
	}
	if f.add(&Result{Verdict: failed}); f.Verdict != failed {
		t.Errorf("one failed, and it says %s", f.Verdict)
	}
}

// TestRows: rows in the order of dates lead to the offsets of patients, others do not.
func TestRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var rows []datedRow
	for day := range int32(1200) {
		rows = append(rows, datedRow{fmt.Sprint("p", rng.IntN(100)), day / 4})
	}
	if r := tryRows(rows, rng); r.Patients != 100 || r.Found < 99 || r.Found <= r.Most {
		t.Errorf("sorted by date: %+v", r)
	}
	byPatient := slices.Clone(rows)
	slices.SortStableFunc(byPatient, func(a, b datedRow) int { return strings.Compare(a.owner, b.owner) })
	rng.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	for _, other := range [][]datedRow{rows, byPatient} {
		if r := tryRows(other, rng); r.Found > r.Most {
			t.Errorf("in another order: %+v", r)
		}
	}
	if r := tryRows(nil, rng); *r != (rowFigures{Days: rowDays}) {
		t.Errorf("no rows: %+v", r)
	}
}

// TestLastDay: the last of the dates in digits of a text; others are no dates.
func TestLastDay(t *testing.T) {
	if day, ok := lastDay([]byte("el 31/02/2024, el 5-6-24 i 1.234/56, desde 1/1/2020")); !ok || day != int32(time.Date(2024, 6, 5, 0, 0, 0, 0, time.UTC).Unix()/86400) {
		t.Errorf("day %d, %v", day, ok)
	}
	if _, ok := lastDay([]byte("1.234/56")); ok {
		t.Error("a number is no date")
	}
}
