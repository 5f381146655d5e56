package morphtrain

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/velum-health/velum/models/word/morph"
)

// The treebank of the tests: invented sentences.
const toyTreebank = `# sent_id = 1
1	La	el	DET	_	_	_	_	_	_
2	rosa	rosa	NOUN	_	_	_	_	_	_
3-4	del	_	_	_	_	_	_	_	_
3	de	de	ADP	_	_	_	_	_	_
4	el	el	DET	_	_	_	_	_	_
5	jardín	jardín	NOUN	_	_	_	_	_	_
5.1	es	ser	AUX	_	_	_	_	_	_

1	Rosa	Rosa	PROPN	_	_	_	_	_	_
2	vive	vivir	VERB	_	_	_	_	_	_
3	en	en	ADP	_	_	_	_	_	_
4	Vallfosca	Vallfosca	PROPN	_	_	_	_	_	_

1	La	el	DET	_	_	_	_	_	_
2	niña	niño	NOUN	_	_	_	_	_	_
3	come	comer	VERB	_	_	_	_	_	_
4	rosas	rosa	NOUN	_	_	_	_	_	_
5	casas	casa	NOUN	_	_	_	_	_	_
6	mesas	mesa	NOUN	_	_	_	_	_	_
7	corre	correr	VERB	_	_	_	_	_	_
8	barre	barrer	VERB	_	_	_	_	_	_
`

func read(t testing.TB, text string) [][]Word {
	t.Helper()
	var all [][]Word
	for s, err := range Sentences(strings.NewReader(text)) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	return all
}

func toy(t testing.TB) *morph.Model {
	t.Helper()
	m, err := Train(read(t, toyTreebank), Options{Name: "toy"})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestSentences(t *testing.T) {
	s := read(t, toyTreebank+"\n\n")
	if len(s) != 3 {
		t.Fatalf("%d sentences", len(s))
	}
	want := []Word{{"La", "DET", "el"}, {"rosa", "NOUN", "rosa"}, {"del", "ADP+DET", "de+el"}, {"jardín", "NOUN", "jardín"}}
	if !slices.Equal(s[0], want) {
		t.Errorf("%v, want %v", s[0], want)
	}
}

// Errors say where and quote nothing.
func TestSentencesErrors(t *testing.T) {
	word := "1\tSECRETO\tx\tNOUN\t_\t_\t_\t_\t_\t_\n"
	for _, tt := range []struct{ text, want string }{
		{word + "2\tSECRETO\n", "line 2: not the ten columns of CoNLL-U"},
		{word + strings.Replace(word, "1", "SECRETO", 1), "line 2: first column is no number"},
		{strings.Replace(word, "1", "4-2", 1), "line 1: range of a contraction that is no range"},
		{strings.Replace(word, "NOUN", "_", 1), "line 1: word without a part of speech"},
		{strings.Replace(word, "1", "1-2", 1) + "\n" + word, "line 2: contraction without words"},
		{word + strings.Repeat("x", maxLine+1), "line 2: bufio.Scanner: token too long"},
	} {
		var got error
		for _, err := range Sentences(strings.NewReader(tt.text)) {
			got = err
		}
		if got == nil || got.Error() != tt.want {
			t.Errorf("%.20q: error %v, want %q", tt.text, got, tt.want)
		}
	}
}

func TestModel(t *testing.T) {
	m := toy(t)
	for _, tt := range []struct{ form, pos, lemma string }{
		{"la", "DET", "el"},
		{"LA", "DET", "el"},
		{"del", "ADP+DET", "de+el"},
		{"Del", "ADP+DET", "de+el"},
		{"rosa", "NOUN", "rosa"},
		{"Rosa", "PROPN", "Rosa"},
		{"vive", "VERB", "vivir"},
		{"Vallserena", "PROPN", "Vallserena"}, // unknown, by its capital
		{"cosas", "NOUN", "cosa"},             // unknown, by its ending
		{"cierre", "VERB", "cierrer"},
		{"", "DET", ""},
		{"\xff", "DET", "\ufffd"},
	} {
		pos, lemma := string(m.AppendPOS(nil, []byte(tt.form))), string(m.AppendLemma(nil, []byte(tt.form)))
		if pos != tt.pos || lemma != tt.lemma {
			t.Errorf("%q: %s %q, want %s %q", tt.form, pos, lemma, tt.pos, tt.lemma)
		}
	}
	if h := m.Header(); h.Name != "toy" || h.Tokens != 16 || h.Forms == 0 {
		t.Errorf("header %+v", h)
	}
	known, unknown := score(m, read(t, toyTreebank))
	if known.Tokens != 16 || unknown.Tokens != 0 || known.POS != 16 || known.Lemma != 16 {
		t.Errorf("on what it was trained from: %+v, %+v", known, unknown)
	}
}

// The rule of a form and a lemma makes the lemma.
func TestRuleFor(t *testing.T) {
	for _, tt := range []struct{ form, lemma string }{
		{"niñas", "niño"}, {"Casas", "casa"}, {"Rosa", "Rosa"}, {"FUE", "ser"}, {"él", "ella"}, {"ñ", "n"}, {"aé", "aè"}, {"", "x"}, {"x", ""}, {"al", "a+el"},
	} {
		r := ruleFor(tt.form, tt.lemma)
		if got := string(r.Apply(nil, []byte(tt.form), morph.AppendLower(nil, []byte(tt.form)))); got != tt.lemma {
			t.Errorf("%s: rule %+v gives %q, want %q", tt.form, r, got, tt.lemma)
		}
	}
}

// The same treebank gives the same bytes, and the file reads back.
func TestFile(t *testing.T) {
	var a, b bytes.Buffer
	if err := toy(t).Write(&a); err != nil {
		t.Fatal(err)
	}
	if err := toy(t).Write(&b); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(a.Bytes(), b.Bytes()) {
		t.Error("two trainings gave two files")
	}
	m, err := morph.Open(a.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if got := string(m.AppendLemma(nil, []byte("rosas"))); got != "rosa" {
		t.Errorf("lemma %q after opening", got)
	}
	if _, err := Train(nil, Options{}); err == nil {
		t.Error("no words: no error")
	}
}

// Folds score every word once, on a model that has not seen its sentence.
func TestFolds(t *testing.T) {
	var all [][]Word
	for range 4 * foldBlock {
		all = append(all, read(t, toyTreebank)...)
	}
	known, unknown, err := Folds(all, 4, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if known.Tokens != 4*foldBlock*16 || unknown.Tokens != 0 || known.POS != known.Tokens || known.Lemma != known.Tokens {
		t.Errorf("%+v, %+v", known, unknown)
	}
	two := append(read(t, "1\tsolo\tsolo\tADV\t_\t_\t_\t_\t_\t_\n\n"), all[1])
	_, unknown, err = Folds(two, 2, Options{})
	if err != nil || unknown.Tokens != 5 {
		t.Errorf("two folds without a word in common: %d unknown, %v", unknown.Tokens, err)
	}
}

func FuzzSentences(f *testing.F) {
	f.Add(toyTreebank)
	f.Add("0\ta\ta\tX\t_\t_\t_\t_\t_\t_")
	f.Add("1-2\ta\t_\t_\t_\t_\t_\t_\t_\t_\n9\tb\tb\tX\t_\t_\t_\t_\t_\t_\n\n1\tc\tc\tX\t_\t_\t_\t_\t_\t_")
	f.Fuzz(func(t *testing.T, text string) {
		for s, err := range Sentences(strings.NewReader(text)) {
			if err != nil {
				return
			}
			for _, w := range s {
				if w.Form == "" || w.POS == "" || w.Lemma == "" {
					t.Fatal("a word without form, part of speech or lemma")
				}
			}
		}
	})
}

// An ending that one form has says nothing of its own: what it would say is left to the shorter one.
func TestLeast(t *testing.T) {
	var sentence []Word
	for i := range 12 {
		sentence = append(sentence, Word{fmt.Sprintf("%ca", 'b'+i), "NOUN", "x"}, Word{fmt.Sprintf("%cor", 'b'+i), "ADJ", "x"})
	}
	sentence = append(sentence, Word{"mor", "ADJ", "x"})
	for _, c := range []struct{ form, want string }{{"tira", "NOUN"}, {"mira", "VERB"}} {
		sentence = append(sentence, Word{c.form, "VERB", "x"})
		m, err := Train([][]Word{sentence}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := string(m.AppendPOS(nil, []byte("estira"))); got != c.want {
			t.Errorf("with %s: %s, want %s", c.form, got, c.want)
		}
	}
}
