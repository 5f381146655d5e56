package bilstm_test

import (
	"strings"
	"testing"

	"github.com/velum-health/velum/models/learn/bilstmtrain"
	"github.com/velum-health/velum/models/tag/bilstm"
	"github.com/velum-health/velum/models/tag/features"
	"github.com/velum-health/velum/pipeline"
)

// A note of these tests is words; those in brackets are spans: [P:Ada Roca].
// All of them are invented.
type note struct {
	text   []byte
	tokens []pipeline.Token
	tags   []pipeline.Tag
}

var (
	person, place = pipeline.Category(1), pipeline.Category(2)
	tags          = &pipeline.TagSet{Categories: []pipeline.Category{person, place}}
)

func parse(text string) note {
	var n note
	inside, first := pipeline.O, true
	for line := range strings.SplitSeq(text, "\n") {
		for k, w := range strings.Fields(line) {
			if strings.HasPrefix(w, "[") {
				inside, first = map[byte]pipeline.Tag{'P': 1, 'L': 3}[w[1]], true
				w = w[3:]
			}
			word, end := strings.CutSuffix(w, "]")
			if len(n.text) > 0 {
				n.text = append(n.text, ' ')
			}
			t := pipeline.Token{Start: int32(len(n.text)), End: int32(len(n.text) + len(word))}
			if k == 0 {
				t.Flags = pipeline.LineStart | pipeline.SentenceStart
			}
			n.text = append(n.text, word...)
			n.tokens = append(n.tokens, t)
			y := inside
			if y != pipeline.O && !first {
				y++
			}
			n.tags = append(n.tags, y)
			if first = false; end {
				inside = pipeline.O
			}
		}
	}
	return n
}

var sentences = []string{
	"Acude [P:Ada Roca] con tos", "Vive en [L:Villanueva del Pardo] desde 1999", "Dolor de rodilla", "Remite el Dr. [P:Blas Soto Mena]",
	"[P:Núria] no acude a la cita", "Natural de [L:Sotoverde]", "Afebril , buen estado", "La señora [P:Roca] refiere mareo",
	"Traslado a [L:Ojuelos] con [P:Ona Pla]", "TA 120/80", "Habla con [P:Joan Pla i Roca]\nVive en [L:Pardo]", "Se pauta reposo",
	"[P:Blas] vive en [L:Ojuelos Altos]", "Control en un mes", "Avisa a [P:Carme Soto]", "De [L:Villanueva] , sin alergias",
	"Herida en la mano", "El hijo , [P:Pau Mena] , la acompaña", "Residente en [L:Castro del Pinar]", "Firma [P:Dra. Ona Pla Soto]",
}

const small = "version 1\nsequence line\nlower 0\ncapitals 0\nshape 0\nsuffix2 0\nborder -1..1\ntokennumber 0\ntokeninsentence 0\nlineabove 0\n"

// tiny is a variant of a size that a test can afford.
func tiny(t testing.TB, name string) (bilstm.Architecture, bilstm.Recipe) {
	a, r, err := bilstm.Variant(name)
	if err != nil {
		t.Fatal(err)
	}
	a.Word, a.Char, a.CharUnits, a.Units = 16, 8, 8, 16
	if a.Feature > 0 {
		a.Feature = 8
	}
	if a.Window > 0 {
		a.Window = max(4, a.Window/6)
	}
	r.MinCount = 1
	return a, r
}

func corpusOf(t testing.TB, a bilstm.Architecture, texts []string) *bilstmtrain.Corpus {
	t.Helper()
	template, err := features.Parse(small)
	if err != nil {
		t.Fatal(err)
	}
	c, err := bilstmtrain.NewCorpus(a, template, tags, features.Resources{})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range texts {
		n := parse(s)
		if err := c.Add(n.text, n.tokens, nil, n.tags); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

func fit(t testing.TB, a bilstm.Architecture, r bilstm.Recipe, texts []string) *bilstm.Model {
	t.Helper()
	m, err := bilstmtrain.Train(corpusOf(t, a, texts), bilstmtrain.TrainOptions{Recipe: r, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// shapesToTest are networks that together have every layer and objective.
func shapesToTest(t *testing.T) map[string]bilstm.Architecture {
	all := map[string]bilstm.Architecture{}
	for _, name := range []string{"default", "boot", "ngrid", "d-2", "b-1"} {
		all[name], _ = tiny(t, name)
	}
	two := all["default"]
	two.Layers, two.Chars = 2, "none"
	all["two layers"] = two
	bare := all["default"]
	bare.Chars, bare.Feature = "none", 0
	all["words only"] = bare
	return all
}
