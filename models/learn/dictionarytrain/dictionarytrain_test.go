package dictionarytrain_test

import (
	"strings"
	"testing"

	"github.com/velum-health/velum/models/learn/dictionarytrain"
	"github.com/velum-health/velum/models/tag/dictionary"
	"github.com/velum-health/velum/models/word/gazetteer"
	"github.com/velum-health/velum/pipeline"
)

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
