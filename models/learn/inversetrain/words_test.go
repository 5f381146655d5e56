package inversetrain

import (
	"bytes"
	"strings"
	"testing"

	"github.com/velum-health/velum/models/tag/inverse"
	"github.com/velum-health/velum/pipeline"
)

// tokenize cuts at blanks; ~ stands for no blank between two tokens.
func tokenize(marked string) (text []byte, tokens []pipeline.Token) {
	for i, field := range strings.Fields(marked) {
		for k, form := range strings.Split(field, "~") {
			if len(text) > 0 && k == 0 {
				text = append(text, ' ')
			}
			t := pipeline.Token{Start: int32(len(text))}
			if k > 0 {
				t.Flags |= pipeline.Glued
			}
			if i == 0 && k == 0 {
				t.Flags |= pipeline.LineStart | pipeline.SentenceStart
			}
			text = append(text, form...)
			t.End = int32(len(text))
			tokens = append(tokens, t)
		}
	}
	return text, tokens
}

func TestWords(t *testing.T) {
	c := NewWordCounter()
	for i := range 6 {
		for _, note := range []string{"sin sibilancias ni Bolaños", "y Moreno , moreno Moreno Moreno"} {
			text, tokens := tokenize(note)
			c.Add(uint64(i/2), text, tokens)
		}
		text, tokens := tokenize("xaviera rara")
		c.Add(7, text, tokens) // one patient alone has these
	}
	words, err := c.Words("a", 3, 2)
	if err != nil {
		t.Fatal(err)
	}
	for form, want := range map[string]bool{
		"sibilancias": true, "SIBILANCIAS": true, "sin": true,
		"xaviera": false, "bolaños": false, "nunca": false, "": false,
		"moreno": false, // three of four times it has a capital
		"y":      false, // a letter says nothing
	} {
		if got := words.Common([]byte(form)); got != want {
			t.Errorf("%q: common %v", form, got)
		}
	}
	if v := string(words.Value(nil, []byte("moreno"))); v == "" || v == string(words.Value(nil, []byte("sibilancias"))) {
		t.Errorf("value of a word that has mostly a capital: %q", v)
	}
	if h := words.Header(); h.Patients != 4 || h.Words == 0 || h.Kind != inverse.WordsKind {
		t.Errorf("header %+v", h)
	}
	again, err := inverse.OpenWords(words.Data())
	if err != nil || !again.Common([]byte("sibilancias")) {
		t.Errorf("read back: %v", err)
	}
	second, err := c.Words("a", 3, 2)
	if err != nil || !bytes.Equal(words.Data(), second.Data()) {
		t.Error("the same counts give other bytes")
	}
	var none *inverse.Words
	if none.Common([]byte("sin")) {
		t.Error("no words know one")
	}
}
