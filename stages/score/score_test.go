package score_test

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/markup"
	"github.com/velum-health/velum/stages/score"
)

func parse(t testing.TB, marked string) ([]byte, []pipeline.Span) {
	t.Helper()
	text, spans, err := markup.Parse(marked)
	if err != nil {
		t.Fatal(err)
	}
	return text, spans
}

// words cuts text at white space; a line's first token starts a sentence.
func words(text []byte) []pipeline.Token {
	var out []pipeline.Token
	start, flags := -1, pipeline.LineStart|pipeline.SentenceStart
	for i, c := range append(text, ' ') {
		switch space := unicode.IsSpace(rune(c)); {
		case !space && start < 0:
			start = i
		case space && start >= 0:
			out = append(out, pipeline.Token{Start: int32(start), End: int32(i), Flags: flags})
			start, flags = -1, 0
		}
		if c == '\n' {
			flags = pipeline.LineStart | pipeline.SentenceStart
		}
	}
	return out
}

// counts is gold, found, system, right.
type counts [4]int64

var measureTests = []struct {
	name, gold, system string
	want               map[score.Measure]counts
}{
	{
		"same", "la [PERSON:Ada] va", "la [PERSON:Ada] va",
		map[score.Measure]counts{
			score.Strict: {1, 1, 1, 1}, score.Span: {1, 1, 1, 1}, score.Merged: {1, 1, 1, 1}, score.Joined: {1, 1, 1, 1},
			score.Covering: {1, 1, 1, 1}, score.Overlapping: {1, 1, 1, 1}, score.Relaxed: {1, 1, 1, 1},
			score.Tokens: {1, 1, 1, 1}, score.MaskedTokens: {1, 1, 1, 1}, score.MaskedCharacters: {3, 3, 3, 3},
			score.MaskedEntities: {1, 1, 1, 1}, score.CleanNotes: {1, 1, 0, 0},
		},
	},
	{
		"other type", "la [PERSON:Ada Mas] va", "la [LOCATION:Ada Mas] va",
		map[score.Measure]counts{
			score.Strict: {1, 0, 1, 0}, score.Span: {1, 1, 1, 1}, score.Merged: {1, 1, 1, 1},
			score.Covering: {1, 0, 1, 0}, score.Overlapping: {1, 0, 1, 0}, score.Relaxed: {1, 0, 1, 0},
			score.Tokens: {2, 0, 2, 0}, score.MaskedTokens: {2, 2, 2, 2}, score.MaskedEntities: {1, 1, 1, 1}, score.CleanNotes: {1, 1, 0, 0},
		},
	},
	{
		"short", "la [PERSON:Ada Mas] va", "la [PERSON:Ada] Mas va",
		map[score.Measure]counts{
			score.Strict: {1, 0, 1, 0}, score.Merged: {1, 0, 1, 0}, score.Covering: {1, 0, 1, 0}, score.Overlapping: {1, 1, 1, 1},
			score.Relaxed: {1, 0, 1, 0}, score.Tokens: {2, 1, 1, 1}, score.MaskedCharacters: {6, 3, 3, 3},
			score.MaskedEntities: {1, 0, 1, 1}, score.CleanNotes: {1, 0, 0, 0},
		},
	},
	{
		"long by punctuation", "la [PERSON:Ada], va", "la [PERSON:Ada,] va",
		map[score.Measure]counts{
			score.Strict: {1, 0, 1, 0}, score.Span: {1, 0, 1, 0}, score.Covering: {1, 1, 1, 1}, score.Relaxed: {1, 1, 1, 1},
			score.MaskedCharacters: {3, 3, 3, 3}, score.MaskedEntities: {1, 1, 1, 1},
		},
	},
	{
		"relaxed counts characters, not bytes", "la [PERSON:Ada] és va", "la [PERSON:Ada é]s va",
		map[score.Measure]counts{score.Relaxed: {1, 1, 1, 1}, score.Strict: {1, 0, 1, 0}},
	},
	{
		"relaxed ends at two", "la [PERSON:Ada] és va", "la [PERSON:Ada és] va",
		map[score.Measure]counts{score.Relaxed: {1, 0, 1, 0}, score.Covering: {1, 1, 1, 1}},
	},
	{
		"two for one: joined", "[PERSON:Ada Mas Riu]", "[PERSON:Ada] [PERSON:Mas Riu]",
		map[score.Measure]counts{
			score.Span: {1, 0, 2, 0}, score.Joined: {1, 1, 1, 1}, score.Merged: {1, 1, 1, 1}, score.Overlapping: {1, 1, 2, 2},
			score.MaskedEntities: {1, 1, 2, 2},
		},
	},
	{
		"one for two: joined; a strict one beside", "[PERSON:Ada], [LOCATION:Reus] el [DATE:1/2]", "[PERSON:Ada, Reus] el [DATE:1/2]",
		map[score.Measure]counts{score.Span: {3, 1, 2, 1}, score.Joined: {2, 2, 2, 2}, score.Merged: {2, 2, 2, 2}, score.MaskedEntities: {3, 3, 2, 2}},
	},
	{
		"spans inside a joined match that also matches strictly", "[PERSON:Ada], [LOCATION:Reus]", "[PERSON:Ada], [DATE:Reus]",
		map[score.Measure]counts{score.Strict: {2, 1, 2, 1}, score.Span: {2, 2, 2, 2}, score.Joined: {1, 1, 1, 1}, score.Merged: {3, 3, 3, 3}},
	},
	{
		"a digit between keeps apart", "[PERSON:Ada] 2 [PERSON:Mas]", "[PERSON:Ada 2 Mas]",
		map[score.Measure]counts{score.Joined: {2, 0, 1, 0}, score.Merged: {2, 0, 1, 0}},
	},
	{
		"nothing", "res", "res",
		map[score.Measure]counts{score.Strict: {}, score.Merged: {}, score.MaskedCharacters: {}, score.CleanNotes: {}},
	},
	{
		"punctuation is no leak", "[PERSON:(Ada)]", "([PERSON:Ada])",
		map[score.Measure]counts{score.MaskedCharacters: {3, 3, 3, 3}, score.CleanNotes: {1, 1, 0, 0}, score.Strict: {1, 0, 1, 0}},
	},
	{
		"spurious", "la Ada", "la [PERSON:Ada]",
		map[score.Measure]counts{score.Strict: {0, 0, 1, 0}, score.MaskedCharacters: {0, 0, 3, 0}, score.MaskedEntities: {0, 0, 1, 0}, score.CleanNotes: {}},
	},
}

// A note leaks when one letter of one direct identifier can be read; places
// and what others leave open do not count.
func TestDirectNotes(t *testing.T) {
	person := func(c pipeline.Category) bool { return c.String() == "PERSON" }
	for _, tt := range []struct {
		name         string
		gold, system []string
		want         counts
	}{
		{"masked by another category", []string{"la [PERSON:Ada] va"}, []string{"la [LOCATION:Ada] va"}, counts{1, 1, 0, 0}},
		{"the second leaks", []string{"[PERSON:Ada] i [PERSON:Pau]"}, []string{"[PERSON:Ada] i Pau"}, counts{1, 0, 0, 0}},
		{"the first leaks in part", []string{"[PERSON:Ada Mas] i [PERSON:Pau]"}, []string{"[PERSON:Ada] Mas i [PERSON:Pau]"}, counts{1, 0, 0, 0}},
		{"a place is none", []string{"[PERSON:Ada] a [LOCATION:Reus]", "a [LOCATION:Reus]"}, []string{"[PERSON:Ada] a Reus", "a Reus"}, counts{1, 1, 0, 0}},
	} {
		s := score.New(score.Options{Draws: 10, Direct: person})
		for i := range tt.gold {
			text, gold := parse(t, tt.gold[i])
			_, system := parse(t, tt.system[i])
			s.Add(text, nil, gold, system)
		}
		m, ok := s.Report().Measure(score.DirectNotes)
		if got := (counts{m.Gold, m.Found, m.System, m.Right}); !ok || got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
	s := score.New(score.Options{Direct: person})
	text, gold := parse(t, "a [LOCATION:Reus]")
	s.Add(text, nil, gold, nil)
	if _, ok := s.Report().Measure(score.DirectNotes); ok {
		t.Error("it is measured where there are none")
	}
}

func TestMeasures(t *testing.T) {
	for _, tt := range measureTests {
		t.Run(tt.name, func(t *testing.T) {
			text, gold := parse(t, tt.gold)
			again, system := parse(t, tt.system)
			if !bytes.Equal(text, again) {
				t.Fatal("gold and system are of different texts")
			}
			s := score.New(score.Options{Draws: 10})
			s.Add(text, words(text), gold, system)
			r := s.Report()
			for m, want := range tt.want {
				got, _ := r.Measure(m)
				if c := (counts{got.Gold, got.Found, got.System, got.Right}); c != want {
					t.Errorf("%v: gold, found, system, right %v, want %v", m, c, want)
				}
			}
		})
	}
}

var errorTests = []struct {
	name, gold, system string
	want               score.ErrorCounts
}{
	{"none", "[PERSON:Ada]", "[PERSON:Ada]", score.ErrorCounts{}},
	{"type", "[PERSON:Ada]", "[DATE:Ada]", score.ErrorCounts{Type: 1}},
	{"short", "[PERSON:Ada Mas]", "[PERSON:Ada] Mas", score.ErrorCounts{Short: 1}},
	{"short at both ends", "[PERSON:Ada Mas Riu]", "Ada [PERSON:Mas] Riu", score.ErrorCounts{Short: 1}},
	{"long", "[PERSON:Ada] Mas", "[DATE:Ada Mas]", score.ErrorCounts{Long: 1, ExtentType: 1}},
	{"short and long", "[PERSON:Ada Mas] Riu", "Ada [PERSON:Mas Riu]", score.ErrorCounts{ShortAndLong: 1}},
	{"spurious and missing", "[PERSON:Ada] Mas", "Ada [PERSON:Mas]", score.ErrorCounts{Spurious: 1, Missing: 1}},
	{"two pieces", "[PERSON:Ada Mas]", "[PERSON:Ada] [PERSON:Mas]", score.ErrorCounts{Short: 2}},
	{"partner is the larger share", "[PERSON:Ada] [DATE:Mas Riu]", "[PERSON:Ada Mas Riu]", score.ErrorCounts{Long: 1, ExtentType: 1}},
}

func TestErrors(t *testing.T) {
	for _, tt := range errorTests {
		t.Run(tt.name, func(t *testing.T) {
			text, gold := parse(t, tt.gold)
			_, system := parse(t, tt.system)
			s := score.New(score.Options{Draws: -1})
			s.Add(text, nil, gold, system)
			if got := s.Report().Errors; got != tt.want {
				t.Errorf("%+v, want %+v", got, tt.want)
			}
		})
	}
}

// TestAgainstCounting holds every measure against a plain count over all
// pairs of spans, which may overlap and stand in any order.
func TestAgainstCounting(t *testing.T) {
	person, _ := pipeline.ParseCategory("PERSON")
	date, _ := pipeline.ParseCategory("DATE")
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.SampledFrom([]rune("aé ,1ŀ😀.")), 0, 14, -1).Draw(t, "text")
		var borders []int32
		for i := range text {
			borders = append(borders, int32(i))
		}
		borders = append(borders, int32(len(text)))
		draw := func(name string) []pipeline.Span {
			seen := map[pipeline.Span]bool{}
			var out []pipeline.Span
			for range rapid.IntRange(0, 4).Draw(t, name) {
				a, b := rapid.SampledFrom(borders).Draw(t, "start"), rapid.SampledFrom(borders).Draw(t, "end")
				x := pipeline.Span{Start: min(a, b), End: max(a, b), Category: rapid.SampledFrom([]pipeline.Category{person, date}).Draw(t, "category")}
				if a != b && !seen[x] {
					seen[x] = true
					out = append(out, x)
				}
			}
			return out
		}
		gold, system := draw("gold"), draw("system")
		s := score.New(score.Options{Draws: -1})
		s.Add([]byte(text), nil, gold, system)
		r := s.Report()
		for m, want := range plainCounts(text, gold, system) {
			got, _ := r.Measure(m)
			if c := (counts{got.Gold, got.Found, got.System, got.Right}); c != want {
				t.Fatalf("%v: %v, want %v (gold %v, system %v)", m, c, want, gold, system)
			}
		}
		e := r.Errors
		strict, _ := r.Measure(score.Strict)
		if sum := e.Type + e.Short + e.Long + e.ShortAndLong + e.Spurious; sum > strict.System || e.Missing > strict.Gold {
			t.Fatalf("more errors than spans: %+v", e)
		}
	})
}

func plainCounts(text string, gold, system []pipeline.Span) map[score.Measure]counts {
	type bounds [2]int32
	set := func(spans []pipeline.Span) map[bounds]bool {
		out := map[bounds]bool{}
		for _, x := range spans {
			out[bounds{x.Start, x.End}] = true
		}
		return out
	}
	letters := func(from, to int32) int {
		n := 0
		for _, r := range text[from:max(from, to)] {
			if unicode.In(r, unicode.L, unicode.N) {
				n++
			}
		}
		return n
	}
	// joined spans are the connected parts of "no letter between them".
	join := func(spans map[bounds]bool) map[bounds]bool {
		out := map[bounds]bool{}
		for a := range spans {
			for grown := true; grown; {
				grown = false
				for b := range spans {
					gap := letters(min(a[1], b[0]), b[0]) + letters(min(b[1], a[0]), a[0])
					if gap == 0 && (b[0] < a[0] || b[1] > a[1]) {
						a, grown = bounds{min(a[0], b[0]), max(a[1], b[1])}, true
					}
				}
			}
			out[a] = true
		}
		return out
	}
	both := func(a, b map[bounds]bool) map[bounds]bool {
		out := map[bounds]bool{}
		for x := range a {
			if b[x] {
				out[x] = true
			}
		}
		return out
	}
	g, x := set(gold), set(system)
	common := both(g, x)
	joinedG, joinedX := join(g), join(x)
	joined := both(joinedG, joinedX)
	hits := map[bounds]bool{}
	for h := range common {
		hits[h] = true
	}
	for h := range joined {
		hits[h] = true
	}
	outside := func(side, other map[bounds]bool) int {
		n := 0
		for b := range side {
			in := other[b]
			for h := range hits {
				in = in || h[0] <= b[0] && b[1] <= h[1]
			}
			if !in {
				n++
			}
		}
		return n
	}
	pairs := func(match func(g, x pipeline.Span) bool) counts {
		c := counts{int64(len(gold)), 0, int64(len(system)), 0}
		for _, a := range gold {
			for _, b := range system {
				if match(a, b) {
					c[1]++
					break
				}
			}
		}
		for _, b := range system {
			for _, a := range gold {
				if match(a, b) {
					c[3]++
					break
				}
			}
		}
		return c
	}
	inside := func(at int, spans []pipeline.Span) bool {
		for _, s := range spans {
			if int(s.Start) <= at && at < int(s.End) {
				return true
			}
		}
		return false
	}
	chars := func(side, other []pipeline.Span) (all, covered int64) {
		for _, s := range side {
			for i, r := range text[s.Start:s.End] {
				if unicode.In(r, unicode.L, unicode.N) {
					all++
					if inside(int(s.Start)+i, other) {
						covered++
					}
				}
			}
		}
		return all, covered
	}
	n := func(m map[bounds]bool) int64 { return int64(len(m)) }
	h := n(hits)
	charGold, charFound := chars(gold, system)
	charSystem, charRight := chars(system, gold)
	return map[score.Measure]counts{
		score.Strict:      pairs(func(g, x pipeline.Span) bool { return g == x }),
		score.Span:        {n(g), n(common), n(x), n(common)},
		score.Joined:      {n(joinedG), n(joined), n(joinedX), n(joined)},
		score.Merged:      {h + int64(outside(g, x)), h, h + int64(outside(x, g)), h},
		score.Covering:    pairs(func(g, x pipeline.Span) bool { return g.Category == x.Category && x.Start <= g.Start && x.End >= g.End }),
		score.Overlapping: pairs(func(g, x pipeline.Span) bool { return g.Category == x.Category && x.Start < g.End && g.Start < x.End }),
		score.Relaxed: pairs(func(g, x pipeline.Span) bool {
			off := len([]rune(text[:g.End])) - len([]rune(text[:x.End]))
			return g.Category == x.Category && x.Start == g.Start && off >= -2 && off <= 2
		}),
		score.MaskedCharacters: {charGold, charFound, charSystem, charRight},
	}
}

func TestReport(t *testing.T) {
	s := score.New(score.Options{Beta: 2, Seed: 7})
	for _, pair := range [][2]string{
		{"la [PERSON:Ada] a [LOCATION:Reus]\nel [DATE:1/2]", "la [PERSON:Ada] a [PERSON:Reus]\nel 1/2"},
		{"res\n\na dir", "res\n\na [DATE:dir]"},
		{"res", "res"},
	} {
		text, gold := parse(t, pair[0])
		_, system := parse(t, pair[1])
		s.Add(text, words(text), gold, system)
	}
	r := s.Report()
	strict, _ := r.Measure(score.Strict)
	near := func(name string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-12 {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	near("precision", strict.Precision, 1./3)
	near("recall", strict.Recall, 1./3)
	near("F2", strict.FBeta, 1./3)
	near("macro precision", strict.Macro.Precision, (0.5+0)/2)
	near("macro recall", strict.Macro.Recall, (1./3+0)/2)
	near("macro F1", strict.Macro.F1, (0.4+0)/2)
	near("categories' precision", r.MacroCategories.Precision, (0+0+.5)/3)
	near("clean", r.CleanNotes.Share, 2./3)
	near("clean with PHI", r.CleanNotesPHI.Share, 0)
	near("leaks a line", r.Leaks.PerLine, 1./5)
	near("leaks a sentence", r.Leaks.PerSentence, 1./5)
	if len(r.Categories) != 3 || r.Categories[0].Category != "DATE" || r.Categories[1].Masked != 1 {
		t.Errorf("categories %+v", r.Categories)
	}
	want := []score.Confused{{"", "DATE", 1}, {"DATE", "", 1}, {"LOCATION", "PERSON", 1}, {"PERSON", "PERSON", 1}}
	if len(r.Confusion) != len(want) {
		t.Fatalf("confusion %v", r.Confusion)
	}
	for i := range want {
		if r.Confusion[i] != want[i] {
			t.Errorf("confusion %v, want %v", r.Confusion[i], want[i])
		}
	}
	if _, err := json.Marshal(r); err != nil {
		t.Error(err)
	}
}

func TestMapAndPut(t *testing.T) {
	patient, _ := pipeline.ParseCategory("PATIENT")
	date, _ := pipeline.ParseCategory("DATE")
	s := score.New(score.Options{Draws: -1, Map: func(c pipeline.Category) pipeline.Category {
		switch c {
		case patient:
			return must(t, "PERSON")
		case date:
			return pipeline.None
		}
		return c
	}})
	var b pipeline.Batch
	for _, pair := range [][2]string{
		{"[PATIENT:Ada] [DATE:avui]", "[PERSON:Ada] avui"},
		{"[PATIENT:Ada]", "Ada"},
	} {
		text, gold := parse(t, pair[0])
		_, system := parse(t, pair[1])
		b.Text.Append(text)
		b.Gold.Append(gold...)
		b.Spans.Append(system...)
	}
	b.Reason = []pipeline.Reason{pipeline.Sound, pipeline.SurvivingValue}
	if err := s.Put(&b); err != nil {
		t.Fatal(err)
	}
	r := s.Report()
	if m, _ := r.Measure(score.Strict); m.F1 != 1 || m.Gold != 1 || r.Quarantined != 1 || r.Notes != 1 {
		t.Errorf("%+v", r)
	}
	if _, ok := r.Measure(score.Tokens); ok {
		t.Error("tokens are measured without tokens")
	}
}

func must(t testing.TB, name string) pipeline.Category {
	c, err := pipeline.ParseCategory(name)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// addNotes adds n notes with one gold span each; found tells for which the
// system found it.
func addNotes(t testing.TB, s *score.Scorer, n int, found func(i int) bool) {
	text, gold := parse(t, "la [PERSON:Ada]")
	for i := range n {
		var system []pipeline.Span
		if found(i) {
			system = gold
		}
		s.Add(text, nil, gold, system)
	}
}

// TestBootstrap compares the interval of a share with that of the binomial.
func TestBootstrap(t *testing.T) {
	s := score.New(score.Options{Seed: 1})
	addNotes(t, s, 400, func(i int) bool { return i%5 > 0 })
	m, _ := s.Report().Measure(score.Strict)
	for i, want := range [2]float64{0.8 - 1.96*0.02, 0.8 + 1.96*0.02} {
		if got := m.Interval.Recall[i]; math.Abs(got-want) > 0.006 {
			t.Errorf("end %d of the interval is %.4f, want about %.4f", i, got, want)
		}
	}
	if m.Interval.Precision != [2]float64{1, 1} {
		t.Errorf("precision %v", m.Interval.Precision)
	}
}

func TestCompare(t *testing.T) {
	with := func(found func(int) bool) *score.Scorer {
		s := score.New(score.Options{})
		addNotes(t, s, 40, found)
		return s
	}
	all := with(func(int) bool { return true })
	most := with(func(i int) bool { return i > 0 })
	half := with(func(i int) bool { return i%2 == 0 })
	test := func(a, b *score.Scorer) score.Significance {
		t.Helper()
		x, err := a.Compare(b, score.Strict, 0, 3)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	if x := test(all, all); x.Alpha.F1 != 1 || x.Shuffles != 9999 {
		t.Errorf("a system differs from itself: %+v", x)
	}
	if x := test(all, most); x.Alpha.Recall != 1 { // one note: each exchange keeps |d|
		t.Errorf("one note decides: %+v", x)
	}
	if x := test(all, half); x.Alpha.Recall > 0.0005 || x.Difference.Recall != 0.5 {
		t.Errorf("20 notes do not count: %+v", x)
	}
	// Five notes differ: by exhaustion 2 of 32 exchanges reach |d|.
	five := with(func(i int) bool { return i >= 5 })
	if x := test(five, all); math.Abs(x.Alpha.Recall-2./32) > 0.01 {
		t.Errorf("alpha %v, want about %v", x.Alpha.Recall, 2./32)
	}
	short := score.New(score.Options{})
	if _, err := all.Compare(short, score.Strict, 0, 0); err == nil {
		t.Error("different notes are compared")
	}
}

func BenchmarkAdd(b *testing.B) {
	text, gold := parse(b, strings.Repeat("Pacient [PERSON:Ada Mas] vista a [LOCATION:Reus] el [DATE:1/2/2013] per dolor. ", 20))
	tokens := words(text)
	s := score.New(score.Options{})
	b.ReportAllocs()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		s.Add(text, tokens, gold, gold)
	}
}

// TestSure: a measure's ends are never inside Wilson's interval.
func TestSure(t *testing.T) {
	m := score.Measured{Gold: 10, Found: 10, Interval: &score.Interval{Recall: [2]float64{1, 1}}}
	if got := m.Sure(); math.Abs(got[0]-0.7225) > 1e-4 || got[1] != 1 {
		t.Errorf("ten of ten are no certainty: %v", got)
	}
	m.Interval.Recall = [2]float64{0.5, 1}
	if got := m.Sure(); got != [2]float64{0.5, 1} {
		t.Errorf("the bootstrap is wider: %v", got)
	}
}
