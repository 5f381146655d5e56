package attack

import (
	"bytes"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/models/release/anonymity"
	"github.com/velum-health/velum/models/word/gazetteer"
	"github.com/velum-health/velum/pipeline"
)

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

// TestSettle: an attack that may find twice of guessing needs 7.84 mentions by the precision of guessing, as (2.8/(2-1))² is.
func TestSettle(t *testing.T) {
	for _, c := range []struct {
		name    string
		r       Result
		verdict string
		needed  int
		why     string
	}{
		{"nothing", Result{}, noPower, 1, "nothing was left that is known"},
		{"one too few", Result{Left: 78, Guess: .1, spread: 1}, noPower, 79, "too few were left to tell"},
		{"enough", Result{Left: 79, Guess: .1, spread: 1, Lift: 1}, passed, 79, ""},
		{"enough if patients were alike", Result{Left: 79, Guess: .1, spread: 2}, noPower, 157, "too few were left to tell"},
		{"what is allowed", Result{Left: 79, Guess: .1, spread: 1, Lift: 2, Low: 1.5}, passed, 79, ""},
		{"more", Result{Left: 1, Guess: .1, spread: 1, Lift: 2.1, Low: 1.1}, failed, 79, "points at what was left more often than is allowed"},
		{"perhaps more, of few", Result{Left: 78, Guess: .1, spread: 1, Lift: 2.1, Low: 1}, noPower, 79, "too few were left to tell"},
		{"perhaps more, of many", Result{Left: 79, Guess: .1, spread: 1, Lift: 2.1, Low: 1}, failed, 79, "points at what was left more often than is allowed"},
		{"sure of some", Result{Left: 79, Guess: .1, spread: 1, Surest: 2.1, SurestLow: 1.1, Right: 10}, failed, 79, "what it is surest of was left more often than is allowed"},
		{"sure of nine", Result{Left: 79, Guess: .1, spread: 1, Surest: 2.1, SurestLow: 1.1, Right: 9}, passed, 79, ""},
		{"surer as allowed", Result{Left: 79, Guess: .1, spread: 1, Surest: 2, SurestLow: 1.1, Right: 10}, passed, 79, ""},
		{"perhaps sure", Result{Left: 79, Guess: .1, spread: 1, Surest: 9, SurestLow: 1, Right: 10}, passed, 79, ""},
		{"three more than guessing names", Result{Left: 79, Guess: .1, spread: 1, Patients: 300, NamedBy: 2, Named: 5.1, Right: 10}, failed, 79, "names patients"},
		{"three", Result{Left: 79, Guess: .1, spread: 1, Patients: 300, NamedBy: 2, Named: 5, Right: 10}, passed, 79, ""},
		{"twice guessing", Result{Left: 79, Guess: .1, spread: 1, Patients: 300, NamedBy: 10, Named: 20, Right: 10}, passed, 79, ""},
		{"more than twice", Result{Left: 79, Guess: .1, spread: 1, Patients: 300, NamedBy: 10, Named: 20.1, Right: 10}, failed, 79, "names patients"},
		{"named by nine", Result{Left: 79, Guess: .1, spread: 1, Patients: 300, NamedBy: 10, Named: 30, Right: 9}, passed, 79, ""},
	} {
		r := c.r
		if r.settle(2); r.Verdict != c.verdict || r.Needed != c.needed || r.Why != c.why {
			t.Errorf("%s: %s, needs %d, %q; want %s, %d, %q", c.name, r.Verdict, r.Needed, r.Why, c.verdict, c.needed, c.why)
		}
	}
}

// TestJudge points at mentions of two rounds, and counts by hand:
//
//	round 0   20 mentions of patients 0 to 4, those 3 and 8 of patients 3 and 3 are left and most suspect; by their ties 0 and 1 come first
//	round 1   10 mentions of patients 0 to 4, 7 of patient 2 is left; 4 of patient 4 is most suspect; by their ties 7 comes first
//	round 2   is not picked
func TestJudge(t *testing.T) {
	var all []suspect
	var scores []float64
	for round, n := range []int{20, 10, 5} {
		for i := range n {
			s := suspect{round: round, patient: i % 5, tie: uint32(i + 1), left: round == 0 && (i == 3 || i == 8) || round == 1 && i == 7 || round == 2}
			score := 0.
			switch {
			case round == 0 && s.left:
				score = float64(10 - i)
			case round == 1 && i == 4:
				score = 5
			case round == 1 && i == 7:
				s.tie = 0
			}
			all, scores = append(all, s), append(scores, score)
		}
	}
	r := judge(all, scores, 5, func(s *suspect) bool { return s.round < 2 }, 2, 1)
	if r.Rounds != 2 || r.All != 30 || r.Left != 3 || r.Pointed != 3 || r.Right != 2 || r.Patients != 5 || r.Of != "names" {
		t.Errorf("%+v", r)
	}
	for what, c := range map[string][2]float64{
		"recall": {r.Recall, 2. / 3}, "precision": {r.Precision, 2. / 3}, "guess": {r.Guess, .1}, "lift": {r.Lift, 2. / .3}, "surest": {r.Surest, 5},
		"named": {r.Named, .5}, "named by guess": {r.NamedBy, .5},
	} {
		if !near(c[0], c[1]) {
			t.Errorf("%s: %v, want %v", what, c[0], c[1])
		}
	}
	if least := r.Lift + 1.96/math.Sqrt(.3); r.High < least-1e-9 || r.Low > r.Lift || r.spread < 1 {
		t.Errorf("from %v to %v, at least to %v; spread %v", r.Low, r.High, least, r.spread)
	}
	same := judge(all, scores, 5, func(s *suspect) bool { return s.round < 2 }, 2, 1)
	if *same != *r {
		t.Errorf("once more: %+v", same)
	}
	if none := judge(all, scores, 5, func(s *suspect) bool { return s.round < 2 && !s.left }, 2, 1); none.All != 27 || none.Left != 0 || none.Lift != 0 || none.High != 0 || none.Verdict != noPower {
		t.Errorf("nothing is left: %+v", none)
	}
}

// TestNamed: a patient is named if half or more of what is pointed at is right.
func TestNamed(t *testing.T) {
	all := []suspect{{patient: 0, left: true}, {patient: 0}, {patient: 1}, {patient: 2, left: true}, {patient: 3, left: true}, {patient: 3}, {patient: 3}}
	if n := named(all, []int{0, 1, 2, 3, 4, 5, 6}); n != 2 {
		t.Errorf("%d patients, want 0 and 2", n)
	}
	if n := named(all, []int{4, 5}); n != 1 {
		t.Errorf("%d patients, want 3", n)
	}
	p := patientSum{1, 2, 3, 4, 5, 6}
	if p.add(&patientSum{10, 20, 30, 40, 50, 60}); p != (patientSum{11, 22, 33, 44, 55, 66}) {
		t.Error(p)
	}
}

// TestNearRows: a patient is found whose notes are, by their median, three days or less from where their rows stand in the range.
func TestNearRows(t *testing.T) {
	for _, c := range []struct {
		rows            []datedRow
		found, patients int
	}{
		{nil, 0, 0},
		{[]datedRow{{"a", 5}}, 0, 0},
		{[]datedRow{{"a", 100}, {"b", 110}, {"a", 120}}, 2, 2},
		{[]datedRow{{"a", 100}, {"b", 107}, {"a", 120}}, 2, 2},
		{[]datedRow{{"a", 100}, {"b", 106}, {"a", 120}}, 1, 2},
		{[]datedRow{{"a", 100}, {"b", 113}, {"a", 120}}, 2, 2},
		{[]datedRow{{"a", 100}, {"b", 114}, {"a", 120}}, 1, 2},
		{[]datedRow{{"a", 100}, {"b", 120}, {"b", 120}, {"b", 140}, {"c", 140}}, 2, 3}, // b is 10, 0 and 10 days beside
	} {
		if found, patients := nearRows(c.rows); found != c.found || patients != c.patients {
			t.Errorf("%v: %d of %d, want %d of %d", c.rows, found, patients, c.found, c.patients)
		}
	}
}

// TestSupport: of 4 draws that differ there are 6 offsets or more, of 20 draws of two there are two.
func TestSupport(t *testing.T) {
	for _, c := range []struct {
		draws map[int]int
		want  float64
	}{
		{map[int]int{1: 1, 2: 1, 3: 1, 4: 1}, 6}, {map[int]int{1: 2, 5: 1}, 3}, {map[int]int{1: 10, 2: 10}, 190. / 90}, {map[int]int{7: 5}, 1}, {nil, 0},
	} {
		o := offsets{draws: c.draws}
		for _, n := range c.draws {
			o.total += n
		}
		if got := o.support(); !near(got, c.want) {
			t.Errorf("%v: %v, want %v", c.draws, got, c.want)
		}
	}
	for patients, want := range map[float64]float64{100: 20, 300: 66, 4: 0} {
		if got := leastRank(patients); got != want {
			t.Errorf("%v patients: median rank %v, want %v", patients, got, want)
		}
	}
}

// TestSpread: the first and last day of each patient, by the latest date in each note; dates that are no spans do not count.
func TestSpread(t *testing.T) {
	s := &sample{Owner: []string{"a", "b", "a", "a", "c"}}
	for _, text := range []string{"el «DATE:3/1/1970 i 2-1-1970» 9/1/1970", "sense", "el «DATE:11/1/1970», «DATE:5/1/1970»", "«PERSON:1/1/1970» «DATE:8/1/1970»", "«DATE:2/1/70»"} {
		text, spans := spansOf(t, text)
		s.Notes.ID.Append(nil)
		s.Notes.Text.Append([]byte(text))
		s.Notes.Spans.Append(spans...)
	}
	first, last := (&planter{sample: s, Patients: map[string]int{"a": 0, "b": 1, "c": 2}}).spread()
	const in2070 = 36525 // days from 1970 to 2070
	if len(first) != 2 || len(last) != 2 || first[0] != 2 || last[0] != 10 || first[2] != 1+in2070 || last[2] != 1+in2070 {
		t.Errorf("from %v to %v", first, last)
	}
	for text, want := range map[string]string{"  (Ana),  ": "Ana", "Ana": "Ana", "-/-": "", "a-b.": "a-b"} {
		if s := trim([]byte(text), pipeline.Span{End: int32(len(text))}); text[s.Start:s.End] != want {
			t.Errorf("%q: %q, want %q", text, text[s.Start:s.End], want)
		}
	}
}

// TestLinkPeople joins people with groups of notes, by sex and town: a value that is suppressed, and one that nobody knows, is anybody's.
//
//	groups   F Reus 1, F suppressed 2, M Reus 3, X Vic 1
//	people   F Reus: 3 notes; M Vic: none; M Reus: 3; F Vic: 2; X Vic: 1; F of no town: 3
func TestLinkPeople(t *testing.T) {
	t.Chdir(t.TempDir())
	a := &attacker{Options: &Options{Link: LinkOptions{Table: "people.csv"}}}
	put := func(text string) {
		if err := os.WriteFile("people.csv", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("town,name,sex\nReus,One,F\nVic,Two,M\nReus,Three,M\nVic,Four,F\nVic,Five,X\n,Six,F\n")
	r := &linkFigures{AtLeast: 3, Columns: []string{"sex", "town"}}
	groups := map[string]int{"F\x00Reus": 1, "F\x00" + anonymity.Suppressed: 2, "M\x00Reus": 3, "X\x00Vic": 1}
	if err := a.linkPeople(r, groups); err != nil || r.People != 6 || r.Matched != 5 || r.Alone != 1 || r.Few != 2 || r.Smallest != 1 {
		t.Errorf("%+v, %v", r, err)
	}
	put("name,age\nOne,3\n")
	if err := a.linkPeople(r, groups); exit.CodeOf(err) != exit.Config || !strings.Contains(err.Error(), "none of the columns") {
		t.Error(err)
	}
	if a.noTable() != "" || a.noOther() == "" {
		t.Error("a table is given, another extract is not")
	}
	a.Link.Table, a.With = "", "x"
	if a.noTable() == "" || a.noOther() != "" {
		t.Error("no table is given, another extract is")
	}
}

// TestFrequencies: a table of names has its columns by their names, or the first two; what nobody counted is left out.
func TestFrequencies(t *testing.T) {
	t.Chdir(t.TempDir())
	for text, want := range map[string]map[string]int{
		"people,other,name\n7,x,Rosa\n2,x,Pere\n3.9,x,Rosa\nmany,x,Joan\n": {"rosa": 10, "pere": 2},
		"nom,quants,people\nRosa,7,1\nPere,-,2\n":                          {"rosa": 7},
	} {
		if err := os.WriteFile("names.csv", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := readFrequencies("names.csv")
		if err != nil || len(got) != len(want) {
			t.Errorf("%v, %v", got, err)
		}
		for name, n := range want {
			if got[string(nameWords([]byte(name))[0])] != n {
				t.Errorf("%s: %v", name, got)
			}
		}
	}
	if got, err := readFrequencies(""); got != nil || err != nil {
		t.Error(got, err)
	}
	if _, err := readFrequencies("none.csv"); err == nil {
		t.Error("no table, no error")
	}
}

// TestFrequencySees: of a hundred people 16 are called ana and none zzq; of three surrogates two are ana. Twice the logarithm of
// (16+20)/100·(3+2+1)/(2+1) and 12 is 11.05, of 20/100·6/1 it is 12.5, which speaks more for a name that was left.
func TestFrequencySees(t *testing.T) {
	f := &frequency{known: gazetteer.Default(), people: map[string]int{"ana": 16}, total: 100, pool: map[string]int{"ana": 2, "bea": 1}, drawn: 3}
	e := &planted{Notes: []note{naming(0, 1, "#", "ana", "ana zzq", "zzq ana", "ana bea zzq zzq")}}
	see := f.look(e)
	ana := f.listed([]byte("ana"))
	for k, want := range []cell{{11, 2, ana, 4, 2, 2, 2, 1}, {12, 0, 0, 4, 0, 0, 0, 2}, {12, 0, 0, 4, 0, 0, 0, 2}, {12, 0, 0, 4, 0, 0, 0, 3}} {
		got := see(&e.Notes[0], k)
		if k == 3 {
			want[5] = got[5] // bea and zzq are as rare
		}
		if got != want {
			t.Errorf("mention %d: %v, want %v", k, got, want)
		}
	}
	f.total = 0
	if got := see(&e.Notes[0], 1); got[0] != 0 { // of 1e-5·6/1 it is less than nothing
		t.Errorf("nobody is counted: %v", got)
	}
	other := &frequency{pool: map[string]int{}}
	if other.learn(e); other.drawn != 9 || other.pool["ana"] != 4 || other.pool["zzq"] != 4 || other.pool["bea"] != 1 {
		t.Errorf("%+v", other)
	}
}

// TestOdds: a channel of three words, of which one has its trait in place of another, tells 10/9; of one that was never seen it tells nothing.
func TestOdds(t *testing.T) {
	f := &frequency{known: gazetteer.Default(), people: map[string]int{"zzqa": 16}, pool: map[string]int{"zzqa": 4}}
	if got := f.trait([]byte("zzqa")); got != (trait{3, 2, 0, 1}) {
		t.Error(got)
	}
	if got := f.trait([]byte("zzq")); got != (trait{}) {
		t.Error(got)
	}
	c := newChannel(f)
	c.learn(&planted{Notes: []note{{Mentions: []mention{
		{Was: [][]byte{[]byte("zzqa")}, Words: [][]byte{[]byte("zzq"), []byte("zzqa")}}, {Words: [][]byte{[]byte("zzq")}}, {Was: [][]byte{[]byte("zzq"), []byte("zzqa")}, Words: [][]byte{[]byte("zzqa")}},
	}}}})
	one, two := trait{3, 2, 0, 1}, trait{}
	if c.all != 3 || c.was[one] != 2 || c.was[two] != 1 || c.is[one] != 2 || c.is[two] != 1 {
		t.Errorf("%+v", c)
	}
	// zzq stands in place of zzqa once: (1 + 8·2/4)/(2+8)/(2/4)
	if got := c.odds(one, two); !near(got, 1) {
		t.Error(got)
	}
	// zzqa in place of zzq: (1 + 8·3/4)/(1+8)/(3/4)
	if got := c.odds(two, one); !near(got, 7./9/.75) {
		t.Error(got)
	}
	if got := c.odds(trait{9}, trait{8}); !near(got, 1) {
		t.Error(got)
	}
}

// TestPatients: a patient is called by the name that stands most often in full, of two as often the first by the alphabet; names of staff are
// not the patient's, and who has none in full is nobody.
func TestPatients(t *testing.T) {
	f := &frequency{known: gazetteer.Default(), pool: map[string]int{"pa": 1, "pe": 2, "pi": 4, "po": 8, "wa": 16, "we": 32}}
	words := func(s string) (all [][]byte) {
		for w := range strings.FieldsSeq(s) {
			all = append(all, []byte(w))
		}
		return all
	}
	of := func(patient int, before, was, is string) note {
		text := before + is
		return note{Patient: patient, Text: []byte(text), Mentions: []mention{{Start: int32(len(before)), End: int32(len(text)), Was: words(was), Words: words(is)}}}
	}
	all := newChannel(f).patients(&planted{Notes: []note{
		of(0, "ve ", "pe pi", "wa"), of(0, "ve ", "pa po", "we"), of(0, "Dra. ", "po po", "wa wa"), of(0, "ve ", "po", "wa"),
		of(2, "ve ", "po pi", "we"), of(2, "ve ", "pa pe", "we"), of(2, "ve ", "po pi", "we"),
		of(3, "ve ", "po", "we"),
	}}, 4)
	tr := func(w string) trait { return f.trait([]byte(w)) }
	if len(all) != 2 || !slices.Equal(all[0].name, []trait{tr("pa"), tr("po")}) || !slices.Equal(all[0].seen, []trait{tr("wa"), tr("we")}) ||
		!slices.Equal(all[1].name, []trait{tr("po"), tr("pi")}) || !slices.Equal(all[1].seen, []trait{tr("we")}) {
		t.Errorf("%+v", all)
	}
	// Three people of whom nothing is known are alike: each has rank 1 and half of the two others.
	first, median := newChannel(f).rank([]person{{seen: []trait{{1}}, name: []trait{{2}}}, {seen: []trait{{1}}, name: []trait{{3}}}, {seen: []trait{{1}}, name: []trait{{4}}}}, []int{0, 1, 2})
	if first != 0 || median != 2 {
		t.Errorf("%d first, median %v", first, median)
	}
}

// TestReport: the findings in words, tables and JSON, and the error of what did not pass.
func TestReport(t *testing.T) {
	var out bytes.Buffer
	c := &console.Console{Out: &out, Errs: &out}
	c.StartLog()
	a := &attacker{Console: c, Options: &Options{}}
	named := &finding{Attack: "names"}
	named.add(&Result{Kind: "planted", Misses: .01, Verdict: failed, Why: "names patients", All: 30, Left: 3, Pointed: 3, Right: 2, Precision: .6667, Guess: .1, Lift: 6.667, Low: 1, High: 9, Surest: 5, Named: 1, Patients: 5, NamedBy: .5, Needed: 79})
	named.add(&Result{Kind: "natural", Verdict: noPower, Why: "too few were left to tell", Left: 3, All: 30, Of: "names", Needed: 79})
	all := []*finding{
		named,
		{Attack: "order", Verdict: passed, Sentence: "nothing", Figures: &rowFigures{Patients: 7, Days: 3, Found: 1, Guess: .51234, Most: 2}},
		{Attack: "two", Verdict: notTried, Sentence: "no other extract is given (--with)"},
	}
	err := a.report(all)
	if exit.CodeOf(err) != exit.Privacy || !strings.Contains(err.Error(), "names: failed: names patients: 2 of 3 that it points at are right, 6.67 times guessing (1.00 to 9.00); 1.0 of 5 patients named (guessing: 0.5)") ||
		strings.Contains(err.Error(), "order") || strings.Contains(err.Error(), "two:") {
		t.Error(err)
	}
	var lines []string
	for line := range strings.Lines(out.String()) {
		lines = append(lines, strings.Join(strings.Fields(line), " "))
	}
	want := []string{
		"attack misses left of pointed right precision guessing times (95 %) surest patients named needed verdict",
		"names planted 0.01 3 30 3 2 0.6667 0.1000 6.67 (1.00-9.00) 5.00 1.0 of 5 (0.5) 79 failed",
		"names natural 3 30 0 0 0.0000 0.0000 0.00 (0.00-0.00) 0.00 0.0 of 0 (0.0) 79 no power",
		"names: failed: names patients: 2 of 3 that it points at are right, 6.67 times guessing (1.00 to 9.00); 1.0 of 5 patients named (guessing: 0.5)",
		"order: passed: nothing", "two: not tried: no other extract is given (--with)",
	}
	if !slices.Equal(lines, want) {
		t.Errorf("%q", lines)
	}
	out.Reset()
	c.JSON = true
	if err := a.report(all); exit.CodeOf(err) != exit.Privacy || strings.Count(out.String(), "\n") != 3 || !strings.Contains(out.String(), `"lift_low":1,`) || strings.Contains(out.String(), "attack misses") {
		t.Errorf("%v\n%s", err, &out)
	}
	if err := a.report(all[1:]); err != nil {
		t.Error(err)
	}
	for _, c := range []struct {
		failure, powerless bool
		verdict, remedy    string
	}{{false, false, passed, ""}, {true, false, failed, "do this"}, {true, true, failed, "do this"}, {false, true, noPower, "give more"}} {
		if f := judged(nil, c.failure, c.powerless, "do this", "give more", "%d of %d", 1, 2); f.Verdict != c.verdict || f.remedy != c.remedy || f.Sentence != "1 of 2" {
			t.Errorf("%+v: %+v", c, f)
		}
	}
}

// TestCheck: sizes and shares that an attack cannot have are refused before anything is read.
func TestCheck(t *testing.T) {
	for _, tt := range []struct {
		most, notes int
		misses      []float64
		only        []string
		ok          bool
	}{
		{2, 1, nil, nil, true}, {1, 1, nil, nil, false}, {0, 1, nil, nil, false}, {2, 0, nil, nil, false}, {9, 5, []float64{.001, .5}, Names()[:1], true},
		{2, 1, []float64{0}, nil, false}, {2, 1, []float64{1}, nil, false}, {2, 1, nil, []string{"unheard of"}, false},
	} {
		a := &attacker{Options: &Options{Most: float64(tt.most), Notes: tt.notes, Misses: tt.misses, Only: tt.only}}
		if err := a.check(); (err == nil) != tt.ok {
			t.Errorf("%+v: %v", tt, err)
		}
	}
}
