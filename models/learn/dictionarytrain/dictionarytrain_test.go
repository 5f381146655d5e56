package dictionarytrain_test

import (
	"math"
	"strings"
	"testing"

	"github.com/velum-health/velum/models/learn/dictionarytrain"
	"github.com/velum-health/velum/models/tag/dictionary"
	"github.com/velum-health/velum/models/word/gazetteer"
	"github.com/velum-health/velum/pipeline"
)

func modelOf(t *testing.T, p dictionary.Params, words map[string]dictionary.Word) *dictionary.Model {
	t.Helper()
	byHash := map[uint64]dictionary.Word{}
	for form, w := range words {
		byHash[gazetteer.Hash([]byte(form))] = w
	}
	m, err := dictionary.New(dictionary.Header{Categories: []string{"PERSON"}, Params: p}, byHash)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// tokensOf splits at blanks; a token "/" begins a line and is left out.
func tokensOf(text string) (tokens []pipeline.Token) {
	flags, at := pipeline.LineStart, 0
	for _, w := range strings.Fields(text) {
		at += strings.Index(text[at:], w)
		if w == "/" {
			flags = pipeline.LineStart
		} else {
			tokens = append(tokens, pipeline.Token{Start: int32(at), End: int32(at + len(w)), Flags: flags})
			flags = 0
		}
		at += len(w)
	}
	return tokens
}

// TestFrequencies counts by hand: Carmen in María Carmen, particles, initials,
// words that nobody writes.
func TestFrequencies(t *testing.T) {
	b := gazetteer.NewBuilder()
	for _, e := range []gazetteer.Entry{
		{Form: "Carmen", Class: gazetteer.GivenName, Frequency: 30}, {Form: "María Carmen", Class: gazetteer.GivenName, Frequency: 20},
		{Form: "de la Cruz", Class: gazetteer.Surname, Frequency: 10}, {Form: "Cruz", Class: gazetteer.Surname, Frequency: 5},
		{Form: "M.", Class: gazetteer.GivenName, Frequency: 7}, {Form: "Vic", Class: gazetteer.Municipality, Frequency: 100},
	} {
		b.Add(e)
	}
	table, err := b.Table("t")
	if err != nil {
		t.Fatal(err)
	}
	list, sum := dictionarytrain.Words(gazetteer.GivenName|gazetteer.Surname, table)
	if len(list) != 2 || sum != 30+20+20+10+10+10+5 {
		t.Fatalf("%d words, sum %g", len(list), sum)
	}
	seen := dictionarytrain.NewCounter()
	text := "CARMEN y cármen a 12 casa"
	seen.Add([]byte(text), tokensOf(text))
	if seen.Tokens() != 3 { // a, y and 12 are no words of two letters
		t.Fatalf("%d tokens", seen.Tokens())
	}
	words := dictionarytrain.Frequencies(list, sum, dictionarytrain.List{gazetteer.Hash([]byte("cruz")): 4, gazetteer.Hash([]byte("casa")): 4}, 8, seen)
	for form, want := range map[string]dictionary.Word{
		"carmen": {Positive: 50.0 / 105, Archive: 2.0 / 3},
		"cruz":   {Positive: 15.0 / 105, Negative: 0.5, Archive: 0.5 / 3},
	} {
		if got := words[gazetteer.Hash([]byte(form))]; got != want {
			t.Errorf("%s: %+v, want %+v", form, got, want)
		}
	}
	if len(words) != 2 {
		t.Errorf("%d words", len(words))
	}
}

// TestTune wants parameters that part names from words where the frequencies
// do, with either method.
func TestTune(t *testing.T) {
	words := map[string]dictionary.Word{
		"rosa": {Positive: 1e-3, Negative: 1e-7, Archive: 1e-5}, "puig": {Positive: 1e-4, Archive: 1e-6},
		"mar": {Positive: 1e-6, Negative: 1e-2, Archive: 1e-2}, "cruz": {Positive: 1e-5, Negative: 1e-2, Archive: 1e-2},
	}
	text := "viene Rosa Puig al Mar / Cruz roja / ROSA Puig y Puig mar"
	tokens := tokensOf(text)
	person, _ := pipeline.ParseCategory("PERSON")
	span := func(i, j int) pipeline.Span {
		return pipeline.Span{Start: tokens[i].Start, End: tokens[j].End, Category: person}
	}
	for _, method := range []dictionary.Method{dictionary.Binary, dictionary.Divergence} {
		tuner := dictionarytrain.NewTuner(modelOf(t, dictionary.Defaults(method), words))
		tuner.Add([]byte(text), tokens, []pipeline.Span{span(1, 2), span(7, 8), span(10, 10)})
		p := tuner.Tune(method)
		if _, _, f1 := tuner.F1(p); f1 != 1 {
			t.Errorf("%s: F1 %g with %+v", method, f1, p)
		}
		if method == dictionary.Divergence && p.Share != 1 { // of equals the first that is tried: the plain formula
			t.Errorf("share %g", p.Share)
		}
		if again := tuner.Tune(method); again != p {
			t.Errorf("%s: another turn, other parameters", method)
		}
	}
}

// TestNoCounts wants frequencies that are in (0, 1] and finite whatever was counted.
func TestNoCounts(t *testing.T) {
	words := dictionarytrain.Frequencies(dictionarytrain.List{1: 0, 2: 30}, 10, dictionarytrain.List{2: 0}, 0, nil)
	for key, want := range map[uint64]dictionary.Word{
		1: {Positive: 0.05, Archive: 1},             // half a count of ten; nobody counted
		2: {Positive: 1, Negative: 0.5, Archive: 1}, // no more than all; half of at least one
	} {
		if got := words[key]; got != want {
			t.Errorf("%d: %+v, want %+v", key, got, want)
		}
	}
	if got := dictionarytrain.Frequencies(dictionarytrain.List{1: 1}, 4, nil, 0, dictionarytrain.NewCounter())[1]; got != (dictionary.Word{Positive: 0.25, Archive: 0.5}) {
		t.Errorf("of an archive without words: %+v", got)
	}
}

// TestF1 counts spans by hand. Ana, Puig and Mar are in the lists. In text a gold name stands in brackets, one that
// ends inside a token in angles; what the tagger says stands in the comment.
func TestF1(t *testing.T) {
	words := map[string]dictionary.Word{"ana": {Positive: 1e-3, Archive: 1}, "puig": {Positive: 1e-3, Archive: 1}, "mar": {Positive: 1e-3, Archive: 1}}
	person, _ := pipeline.ParseCategory("PERSON")
	date, _ := pipeline.ParseCategory("DATE")
	for _, c := range []struct {
		texts             []string
		precision, recall float64
	}{
		{[]string{"[ Ana Puig ] viene"}, 1, 1},
		{[]string{"viene [ Ana Puig ]"}, 1, 1},
		{[]string{"viene [ Ana ]"}, 1, 1},
		{[]string{"[ Ana ] Puig viene"}, 0, 0},                        // Ana Puig: a name ends inside
		{[]string{"Ana [ Puig ] viene"}, 0, 0},                        // Ana Puig: a name begins inside
		{[]string{"[ Ana ] [ Puig ] viene"}, 0, 0},                    // Ana Puig
		{[]string{"[ Ana Puig viene ]"}, 0, 0},                        // Ana Puig: it goes on
		{[]string{"[ Ana ] / [ Puig ]"}, 1, 1},                        // a name does not go on in the next line
		{[]string{"[ Ana ] / Puig"}, 0.5, 1},                          //
		{[]string{"[ Ana ] viene [ Sol ]"}, 1, 0.5},                   // nobody knows Sol
		{[]string{"Ana viene Puig viene [ Mar ] viene Ana"}, 0.25, 1}, // four
		{[]string{"< Ana > viene [ Puig ]"}, 0.5, 0.5},                // not at the borders of tokens: missed
		{[]string{"( Ana ) viene [ Puig ]"}, 0.5, 1},                  // of another category
		{[]string{"[ Ana ] viene", "viene [ Puig ]", "Mar"}, 2. / 3, 1},
		{[]string{"viene"}, 0, 0},
		{[]string{"viene [ Sol ]"}, 0, 0},
	} {
		p := dictionary.Params{Method: dictionary.Binary, MinNegative: 1}
		tuner := dictionarytrain.NewTuner(modelOf(t, p, words))
		for _, text := range c.texts {
			var tokens []pipeline.Token
			var gold []pipeline.Span
			from, flags := int32(0), pipeline.TokenFlags(0)
			for _, k := range tokensOf(text) {
				switch text[k.Start] {
				case '[', '(', '<':
					from, flags = k.End+1, k.Flags
				case ']':
					gold = append(gold, pipeline.Span{Start: from, End: k.Start - 1, Category: person})
				case ')':
					gold = append(gold, pipeline.Span{Start: from, End: k.Start - 1, Category: date})
				case '>':
					gold = append(gold, pipeline.Span{Start: from, End: k.Start - 2, Category: person})
				default:
					k.Flags |= flags
					tokens, flags = append(tokens, k), 0
				}
			}
			tuner.Add([]byte(text), tokens, gold)
		}
		f1 := 0.0
		if c.precision > 0 {
			f1 = 2 * c.precision * c.recall / (c.precision + c.recall)
		}
		if p, r, f := tuner.F1(p); p != c.precision || r != c.recall || math.Abs(f-f1) > 1e-12 {
			t.Errorf("%q: %g, %g, %g, want %g, %g, %g", c.texts, p, r, f, c.precision, c.recall, f1)
		}
	}
}

// TestChosen has the parameters that are chosen, by hand: the first of those that part names from words.
func TestChosen(t *testing.T) {
	e := func(x float64) float32 { return float32(1e-5 * math.Exp(x)) }
	words := map[string]dictionary.Word{
		"rosa": {Positive: 1e-3, Negative: 1e-3, Archive: 1}, // a flower too
		"puig": {Positive: 1e-4, Archive: 1e-4},              // divergence 0
		"mar":  {Positive: 2e-6, Archive: 2e-6},              // rarer than Puig
		"gil":  {Positive: 1e-5, Archive: e(2.75)},           // divergence 2.75
	}
	even := func(change func(p *dictionary.Params)) dictionary.Params {
		p := dictionary.Params{Method: dictionary.Divergence, Share: 1, MinNegative: 1}
		for c := range p.Max {
			p.Max[c] = [2]float64{2, 2}
		}
		change(&p)
		return p
	}
	for _, c := range []struct {
		text string
		gold [][2]int // tokens
		want dictionary.Params
	}{
		{"viene Puig con Rosa", [][2]int{{1, 1}}, dictionary.Params{Method: dictionary.Binary, NegativeWins: true}},
		{"viene Puig con Mar", [][2]int{{1, 1}}, dictionary.Params{Method: dictionary.Binary, MinPositive: 3e-6, MinNegative: 1}},
		{"viene Puig con Rosa", [][2]int{{1, 1}, {3, 3}}, dictionary.Params{Method: dictionary.Binary, MinNegative: 1}},
		{"viene Puig", [][2]int{{1, 1}}, even(func(*dictionary.Params) {})},
		{"viene Puig con Gil", [][2]int{{1, 1}, {3, 3}}, even(func(p *dictionary.Params) { p.Max[dictionary.First][0] = 3 })},
		{"viene PUIG GIL", [][2]int{{1, 2}}, even(func(p *dictionary.Params) { p.Max[dictionary.Upper][1] = 3 })},
		{"viene Puig con mar", [][2]int{{1, 1}}, even(func(p *dictionary.Params) { p.Max[dictionary.Lower][0] = 0 })},
		{"viene Puig con Mar", [][2]int{{1, 1}}, even(func(p *dictionary.Params) { p.MinPositive = 3e-6 })},
	} {
		tuner := dictionarytrain.NewTuner(modelOf(t, dictionary.Defaults(c.want.Method), words))
		person, _ := pipeline.ParseCategory("PERSON")
		tokens := tokensOf(c.text)
		var gold []pipeline.Span
		for _, g := range c.gold {
			gold = append(gold, pipeline.Span{Start: tokens[g[0]].Start, End: tokens[g[1]].End, Category: person})
		}
		tuner.Add([]byte(c.text), tokens, gold)
		if got := tuner.Tune(c.want.Method); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.text, got, c.want)
		}
	}
}
