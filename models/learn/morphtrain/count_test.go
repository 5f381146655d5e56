package morphtrain

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"testing"

	"github.com/velum-health/velum/models/number/modelfile"
	"github.com/velum-health/velum/models/word/morph"
)

// TestRules: what a rule cuts off, in characters, and what it adds.
func TestRules(t *testing.T) {
	for _, c := range []struct {
		form, lemma string
		want        morph.Rule
	}{
		{"niñas", "niño", morph.Rule{Cut: 2, Add: "o"}},
		{"Casas", "casa", morph.Rule{Cut: 1}},
		{"Rosa", "Rosa", morph.Rule{Keep: true}},
		{"rosa", "Rosa", morph.Rule{Keep: true, Cut: 4, Add: "Rosa"}},
		{"FUE", "ser", morph.Rule{Cut: 3, Add: "ser"}},
		{"aé", "aè", morph.Rule{Cut: 1, Add: "è"}}, // which have their first byte in common
		{"é", "éa", morph.Rule{Add: "a"}},
		{"éa", "é", morph.Rule{Cut: 1}},
		{"é", "è", morph.Rule{Cut: 1, Add: "è"}},
		{"", "x", morph.Rule{Add: "x"}},
		{"x", "", morph.Rule{Cut: 1}},
	} {
		if got := ruleFor(c.form, c.lemma); got != c.want {
			t.Errorf("%s to %s: %+v, want %+v", c.form, c.lemma, got, c.want)
		}
	}
}

// TestMost: of equal counts the least wins, and a form's rule is one of its tag.
func TestMost(t *testing.T) {
	for _, c := range []struct {
		counts map[int]int
		want   int
	}{{map[int]int{1: 2, 2: 3}, 2}, {map[int]int{2: 3, 4: 3, 1: 3, 5: 1}, 1}, {map[int]int{7: 1}, 7}} {
		for range 8 { // the order of a map changes
			if got := most(c.counts, cmp.Compare); got != c.want {
				t.Errorf("%v: %d, want %d", c.counts, got, c.want)
			}
		}
	}
	for _, c := range []struct {
		counts map[analysed]int
		want   analysed
	}{
		{map[analysed]int{{0, 5}: 2, {0, 3}: 3, {1, 5}: 4}, analysed{0, 3}}, // rule 5 is the most frequent, with another tag
		{map[analysed]int{{0, 1}: 2, {0, 0}: 2, {1, 2}: 3}, analysed{0, 0}},
		{map[analysed]int{{2, 4}: 1, {1, 6}: 1}, analysed{1, 6}},
	} {
		if got := best(c.counts); got != c.want {
			t.Errorf("%v: %v, want %v", c.counts, got, c.want)
		}
	}
}

// TestFirstWord: the capital of a first word is its place's, if the word is no name and has the first letter alone in capitals.
func TestFirstWord(t *testing.T) {
	for _, c := range []struct {
		word  Word
		first bool
		want  string
	}{
		{Word{"La", "DET", "el"}, true, "la"}, {Word{"La", "DET", "el"}, false, "La"}, {Word{"Rosa", "PROPN", "Rosa"}, true, "Rosa"},
		{Word{"FUE", "VERB", "ser"}, true, "FUE"}, {Word{"él", "PRON", "él"}, true, "él"},
	} {
		tr := &trainer{forms: map[string]map[analysed]int{}}
		tr.count(c.word, c.first)
		tr.count(c.word, c.first)
		if len(tr.forms) != 1 || tr.forms[c.want][analysed{}] != 2 {
			t.Errorf("%+v, first %v: %v, want %q twice", c.word, c.first, tr.forms, c.want)
		}
	}
}

// TestLexicon: a form with a capital is left out where the same form without it has the same answer.
func TestLexicon(t *testing.T) {
	noun, verb := map[analysed]int{{0, 3}: 1}, map[analysed]int{{1, 2}: 1}
	for _, c := range []struct {
		name  string
		forms map[string]map[analysed]int
		want  map[string]uint32 // tag, and rule times 256
	}{
		{"the same", map[string]map[analysed]int{"Sol": noun, "sol": noun}, map[string]uint32{"sol": 3 << 8}},
		{"another answer", map[string]map[analysed]int{"Sol": verb, "sol": noun}, map[string]uint32{"Sol": 1 | 2<<8, "sol": 3 << 8}},
		{"alone", map[string]map[analysed]int{"Sol": verb}, map[string]uint32{"Sol": 1 | 2<<8}},
	} {
		entries, want := map[uint64]uint32{}, map[uint64]uint32{}
		for form, v := range c.want {
			want[morph.FormKey([]byte(form))] = v
		}
		if n := (&trainer{forms: c.forms}).lexicon(entries); n != len(c.want) || !maps.Equal(entries, want) {
			t.Errorf("%s: %d forms, %v, want %v", c.name, n, entries, want)
		}
	}
}

// TestSuffixes: the endings of up to six characters, the empty one among them.
func TestSuffixes(t *testing.T) {
	for word, want := range map[string][]string{"": {""}, "año": {"", "o", "ño", "año"}, "abcdefgh": {"", "h", "gh", "fgh", "efgh", "defgh", "cdefgh"}} {
		var s suffixes
		s.add(4, []byte(word), 9, 2)
		s.add(4, []byte(word), 9, 3)
		if len(s) != len(want) {
			t.Errorf("%q: %v", word, s)
		}
		for _, end := range want {
			if s[suffix{4, end}][9] != 5 {
				t.Errorf("%q: ending %q has %v, want 5 of answer 9", word, end, s[suffix{4, end}])
			}
		}
	}
}

// TestEnter has the endings that are entered, each with the reason for which it is or is not.
func TestEnter(t *testing.T) {
	s := suffixes{
		{0, ""}:    {1: 5, 2: 3}, // always
		{0, "a"}:   {2: 3},       // is not as the empty one
		{0, "o"}:   {1: 9},       // as the empty one
		{0, "ra"}:  {2: 2},       // as "a"
		{0, "ta"}:  {1: 1},       // one form alone: what "a" says holds
		{0, "sta"}: {1: 2},       // is not as "ta", which says what "a" says
		{7, ""}:    {4: 1},       // always, though there is one
		{7, "a"}:   {4: 2},
	}
	entries, want := map[uint64]uint32{}, map[uint64]uint32{}
	s.enter(entries, morph.SeedTag, func(answer int) uint32 { return uint32(10 * answer) })
	for k, v := range map[suffix]uint32{{0, ""}: 10, {0, "a"}: 20, {0, "sta"}: 10, {7, ""}: 40} {
		want[morph.EndingKey(morph.SeedTag, k.under, []byte(k.end))] = v
	}
	if !maps.Equal(entries, want) {
		t.Errorf("%v, want %v", entries, want)
	}
}

// TestEndings: tags by the occurrences of forms that occur ten times at the most; rules by forms, each once, however frequent.
func TestEndings(t *testing.T) {
	tr := &trainer{forms: map[string]map[analysed]int{
		"xa": {{0, 0}: rare}, "yb": {{1, 1}: rare + 1}, "zc": {{1, 2}: 3}, "wd": {{1, 2}: 1},
	}}
	entries := map[uint64]uint32{}
	tr.endings(entries)
	shape := morph.ShapeOf([]byte("xa"))
	for _, c := range []struct {
		seed  uint64
		under byte
		want  uint32
	}{
		{morph.SeedTag, shape, 0},         // 10 of tag 0, 4 of tag 1; with "yb" it would be 15
		{morph.SeedEnding, 0, 0},          // of "xa"
		{morph.SeedEnding, 1, 2 * 1 << 8}, // two forms with rule 2, one with rule 1
	} {
		if got, ok := entries[morph.EndingKey(c.seed, c.under, nil)]; !ok || got != c.want {
			t.Errorf("seed %x under %d: %d, %v, want %d", c.seed, c.under, got, ok, c.want)
		}
	}
}

// TestBuild: there are as many buckets as make four entries or fewer each, at least two, and one more bound than buckets.
func TestBuild(t *testing.T) {
	for entries, buckets := range map[int]int{1: 2, 8: 2, 11: 2, 12: 4, 19: 4, 20: 8} {
		all := map[uint64]uint32{}
		for i := range entries {
			all[uint64(i)<<58|uint64(i)] = 0
		}
		m, err := build(morph.Header{Kind: morph.Kind, Tags: []string{"NOUN"}, Rules: make([]morph.Rule, 1)}, all)
		if err != nil {
			t.Fatal(err)
		}
		var data bytes.Buffer
		if err := m.Write(&data); err != nil {
			t.Fatal(err)
		}
		f, err := modelfile.Parse(data.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		if section, err := f.Section("bucket"); err != nil || len(section) != 4*(buckets+1) {
			t.Errorf("%d entries: %d bytes of bounds, %v, want %d buckets", entries, len(section), err, buckets)
		}
	}
}

// TestMostTags: a model has room for 256 parts of speech.
func TestMostTags(t *testing.T) {
	var s []Word
	for i := range 257 {
		s = append(s, Word{fmt.Sprint("x", i), fmt.Sprint("POS", i), "x"})
	}
	if _, err := Train([][]Word{s[:256]}, Options{}); err != nil {
		t.Errorf("256 parts of speech: %v", err)
	}
	if _, err := Train([][]Word{s}, Options{}); err == nil {
		t.Error("257 parts of speech: no error")
	}
}

// TestTwoFolds: of four sentences in two folds, "sol" is known from the other fold. "mar" and "pan" are not: the model of the other
// fold has seen one adverb and one noun, of which the first is taken, and keeps the form as lemma.
func TestTwoFolds(t *testing.T) {
	sol := []Word{{"sol", "ADV", "sol"}}
	known, unknown, err := Folds([][]Word{sol, {{"mar", "NOUN", "mar"}}, sol, {{"pan", "NOUN", "pan"}}}, 2, Options{})
	if err != nil || known != (Accuracy{2, 2, 2}) || unknown != (Accuracy{2, 0, 2}) {
		t.Errorf("known %+v, unknown %+v, %v", known, unknown, err)
	}
	// Of one sentence no fold has something to learn from and something to score.
	if known, unknown, err = Folds([][]Word{sol}, 2, Options{}); err != nil || known.Tokens+unknown.Tokens != 0 {
		t.Errorf("one sentence: %+v, %+v, %v", known, unknown, err)
	}
	// A block of 50 sentences has one word. Blocks a and c are one fold, b is the other: no word of a test is known.
	var all [][]Word
	for i := range 120 {
		all = append(all, []Word{{fmt.Sprint("w", string(rune('a'+i/50))), "NOUN", "x"}})
	}
	if known, unknown, err = Folds(all, 2, Options{}); err != nil || known.Tokens != 0 || unknown.Tokens != 120 {
		t.Errorf("blocks of 50: %+v, %+v, %v", known, unknown, err)
	}
}
