// Package crftest makes notes, tag sets and lists, all invented, for the tests of packages
// crf and crftrain.
package crftest

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/velum-health/velum/models/tag/features"
	"github.com/velum-health/velum/models/word/gazetteer"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/markup"
)

// Note is a note with tokens, tags and pattern matches.
type Note struct {
	Text    []byte
	Tokens  []pipeline.Token
	Matches []pipeline.Match
	Tags    []pipeline.Tag
}

// New makes a Note from marked text (see package markup). It splits at spaces; a token "|" begins a line and is a token
// itself.
func New(t testing.TB, set *pipeline.TagSet, marked string) Note {
	t.Helper()
	text, spans, err := markup.Parse(marked)
	if err != nil {
		t.Fatal(err)
	}
	n := Note{Text: text}
	at := 0
	for word := range strings.FieldsSeq(string(text)) {
		start := at + strings.Index(string(text[at:]), word)
		at = start + len(word)
		tok := pipeline.Token{Start: int32(start), End: int32(at)}
		if len(n.Tokens) == 0 || word == "|" {
			tok.Flags = pipeline.LineStart | pipeline.SentenceStart
		}
		if strings.Count(word, "-") == 2 {
			date, err := pipeline.ParseCategory("DATE")
			if err != nil {
				t.Fatal(err)
			}
			n.Matches = append(n.Matches, pipeline.Match{Start: int32(start), End: int32(at), Category: date, Score: 1, Checked: len(word)%2 == 0})
		}
		n.Tokens = append(n.Tokens, tok)
	}
	n.Tags = make([]pipeline.Tag, len(n.Tokens))
	set.Encode(n.Tags, n.Tokens, spans)
	return n
}

func Set(scheme pipeline.Scheme) *pipeline.TagSet {
	set := &pipeline.TagSet{Scheme: scheme}
	for _, name := range []string{"PERSON", "LOCATION", "DATE"} {
		c, err := pipeline.ParseCategory(name)
		if err != nil {
			panic(err)
		}
		set.Categories = append(set.Categories, c)
	}
	return set
}

// Notes returns n notes of one to three lines made of invented phrases.
func Notes(t testing.TB, set *pipeline.TagSet, n int, seed uint64) []Note {
	r := rand.New(rand.NewPCG(seed, 0))
	pick := func(words ...string) string { return words[r.IntN(len(words))] }
	var notes []Note
	for range n {
		var b strings.Builder
		for line := range 1 + r.IntN(3) {
			if line > 0 {
				b.WriteString(" | ")
			}
			b.WriteString(pick("acude", "viene", "visto", "control") + " ")
			b.WriteString(pick("", "con tos", "sin fiebre", "por dolor de rodilla") + " ")
			b.WriteString(pick("", "", "Sra. [PERSON:Marta Oliva]", "[PERSON:Pau Serra Vidal]", "con [PERSON:Iris]") + " ")
			b.WriteString(pick("", "vive en [LOCATION:Vallfosca]", "desde [LOCATION:Torre del Prat]", "") + " ")
			b.WriteString(pick("", fmt.Sprintf("el [DATE:%d-%d-20%02d]", 1+r.IntN(28), 1+r.IntN(12), r.IntN(30)), "dosis 3-4-5", ""))
		}
		notes = append(notes, New(t, set, b.String()))
	}
	return notes
}

const Template = `version 1
sequence line
bias
word -2..2
lower 0
suffix3 -1..1
shortshape -1..1
capitals -2..1
gazetteer -1..1
border -2..2
pattern -1..1
bigram 0..1
key 0
tokeninsentence 0
sentenceinnote 0
`

func Parsed(t testing.TB, text string) *features.Template {
	t.Helper()
	tpl, err := features.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return tpl
}

// Lists is a small gazetteer.
type Lists struct{}

func (Lists) Classes(form []byte) gazetteer.Class {
	switch string(form) {
	case "Marta", "Pau", "Iris":
		return gazetteer.GivenName
	case "Vallfosca":
		return gazetteer.Municipality | gazetteer.Surname
	}
	return 0
}

func (Lists) Fingerprint() uint64 { return 77 }

func Resources() features.Resources { return features.Resources{Lexicon: Lists{}} }
