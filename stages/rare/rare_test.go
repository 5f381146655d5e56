package rare_test

import (
	"strings"
	"testing"

	"github.com/velum-health/velum/configs"
	"github.com/velum-health/velum/models/release/rarity"
	"github.com/velum-health/velum/models/tag/rules"
	"github.com/velum-health/velum/models/word/gazetteer"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/markup"
	"github.com/velum-health/velum/stages/rare"
	"github.com/velum-health/velum/stages/tokenize"
)

// notes have in brackets what a tagger has found; want is what singles somebody out, by category.
var notes = []struct{ text, want string }{
	{"enfermedad de Pompe, en seguimiento", "DISEASE:enfermedad de Pompe"},
	{"signo de Russell en nudillos", ""},
	{"hijo del alcalde de [LOCATION:Vilabona]", "OFFICE:alcalde"},
	{"único trasplantado de [DATE:2019] en la provincia", "FIRST:único trasplantado de"},
	{"dosis única, riñón único, hija única", ""},
	{"madre de trillizos; sale en la tele", "FAMILY:trillizos MEDIA:sale en la tele"},
	{"mide 2,15 m", "BODY:mide 2,15 m"},
	{"mide 2 cm la lesión", ""},
	{"[PERSON:Pompe] refiere tos", ""},
	{"condemnat per homicidi", "COURT:condemnat per homicidi"},
	{"supervivent de l'accident de tren", "EVENT:supervivent de l'accident"},
	{"primera persona de [LOCATION:Roda] en la provincia", "FIRST:primera persona de FIRST:en la provincia"},
	{"treballa de guarda al pantà", "OFFICE:guarda al pantà"},
	{"trabaja de administrativa en una gestoría", ""},
	{"es la síndica", "OFFICE:síndica"},
	{"es el segundo ciclo", ""},
	{"catorce hermanos", "FAMILY:catorce hermanos"},
	{"tres hermanos", ""},
	{"a su padre lo mataron", "FAMILY:padre lo mataron"},
	{"su padre murió de un infarto", ""},
	{"el veí més vell del nucli", "FIRST:més vell del nucli"},
	{"la zona más dolorosa del hombro", ""},
	{"sombrerera de la guardia", "OFFICE:sombrerera de la guardia"},
	{"cadera de la pierna, portador de la sonda", ""},
	{"HTA, DM2, dislipemia. TA 138/82. Control en 3 meses.", ""},
}

func step(t *testing.T, do string, k int) func(*pipeline.Batch) error {
	t.Helper()
	text, err := configs.Pack(configs.RarePack)
	if err != nil {
		t.Fatal(err)
	}
	p, err := rules.Compile(string(text), rules.Resources{Lists: gazetteer.Default()})
	if err != nil {
		t.Fatal(err)
	}
	return rare.New(rare.Options{Packs: []*rules.Pack{p}, Do: do, Alone: rarity.Alone(k)}).New()
}

func batch(t *testing.T, texts ...string) *pipeline.Batch {
	t.Helper()
	b := new(pipeline.Batch)
	for _, marked := range texts {
		text, spans, err := markup.Parse(marked)
		if err != nil {
			t.Fatal(err)
		}
		b.ID.Append([]byte("7"))
		b.Text.Append([]byte(text))
		b.Spans.Append(spans...)
		b.Reason = append(b.Reason, pipeline.Sound)
	}
	if err := tokenize.New(tokenize.Options{}).New()(b); err != nil {
		t.Fatal(err)
	}
	return b
}

func TestReview(t *testing.T) {
	for _, n := range notes {
		b := batch(t, n.text)
		if err := step(t, rare.Review, 0)(b); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range b.Rare.At(0) {
			got = append(got, s.Category.String()+":"+string(b.Text.At(0)[s.Start:s.End]))
		}
		if all := strings.Join(got, " "); all != n.want {
			t.Errorf("%s: found %q, want %q", n.text, all, n.want)
		}
	}
}

// Of what is one in a thousand nothing stays; a note that stands alone by several is held.
func TestGeneralizeAndHold(t *testing.T) {
	alone, common := "madre de trillizos, hija del ministro [PERSON:Roca]", "hija del alcalde"
	b := batch(t, alone, common)
	if err := step(t, rare.Generalize, 0)(b); err != nil {
		t.Fatal(err)
	}
	if n := len(b.Spans.At(0)); n != 3 || b.Rare.Len() != 0 || len(b.Spans.At(1)) != 1 {
		t.Errorf("%d and %d spans, %d lists of rare ones", n, len(b.Spans.At(1)), b.Rare.Len())
	}
	b = batch(t, "primera persona de [LOCATION:Roda] en la provincia")
	if err := step(t, rare.Generalize, 0)(b); err != nil || len(b.Spans.At(0)) != 3 {
		t.Errorf("a phrase that a span divides has %d spans, want one on each side of it: %v", len(b.Spans.At(0)), err)
	}
	b = batch(t, alone, common)
	if err := step(t, rare.Hold, 0)(b); err != nil {
		t.Fatal(err)
	}
	if b.Reason[0] != pipeline.StandsAlone || b.Reason[1] != pipeline.Sound {
		t.Errorf("reasons %v", b.Reason)
	}
	if b = batch(t, common); step(t, rare.Hold, 1000)(b) != nil || b.Reason[0] != pipeline.StandsAlone {
		t.Error("with k of 1000 a mayor's daughter is not held")
	}
}
