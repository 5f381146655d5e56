package language_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/velum-health/velum/models/word/language"
	"github.com/velum-health/velum/pipeline"
)

// tokens cuts at blanks and before commas and full stops: enough here, and
// models know no stages.
func tokens(text string) (list []pipeline.Token) {
	start := -1
	for i := range len(text) + 1 {
		if i < len(text) && !strings.ContainsRune(" .,\n", rune(text[i])) {
			if start < 0 {
				start = i
			}
			continue
		}
		if start >= 0 {
			list = append(list, pipeline.Token{Start: int32(start), End: int32(i)})
		}
		start = -1
	}
	return list
}

// Languages of models/word/locale that have no weights.
var (
	basque, _   = pipeline.ParseLanguage("eu")
	galician, _ = pipeline.ParseLanguage("gl")
)

var notes = []struct {
	want pipeline.Language
	text string
}{
	{pipeline.Spanish, "Paciente que acude por dolor de espalda desde hace tres días"},
	{pipeline.Spanish, "PACIENTE QUE ACUDE POR DOLOR DE ESPALDA DESDE HACE TRES DIAS"},
	{pipeline.Spanish, "no ha vuelto a tener fiebre, sigue con el mismo tratamiento"},
	{pipeline.Spanish, "Refiere que ayer se cayó en casa y le duele la muñeca"},
	{pipeline.Spanish, "se explica a la familia y se cita para control en una semana"},
	{pipeline.Spanish, "Vive con su hija mayor, buen apoyo familiar"},
	{pipeline.Catalan, "Pacient que acut per mal d'esquena des de fa tres dies"},
	{pipeline.Catalan, "PACIENT QUE ACUT PER MAL D'ESQUENA DES DE FA TRES DIES"},
	{pipeline.Catalan, "no ha tornat a tenir febre, segueix amb el mateix tractament"},
	{pipeline.Catalan, "Refereix que ahir va caure a casa i li fa mal el canell"},
	{pipeline.Catalan, "s'explica a la familia i es cita per control d'aqui una setmana"},
	{pipeline.Catalan, "Viu amb la seva filla gran, bon suport familiar"},
	{pipeline.English, "Patient presents with back pain for the last three days"},
	{pipeline.English, "no more fever, she keeps taking the same treatment at home"},
	{pipeline.English, "He fell yesterday and his wrist still hurts when he moves it"},
	{pipeline.MixedLanguage, "Ayer vino por la tarde porque le dolía mucho la cabeza y tenía fiebre. Avui la mare explica que ja es troba millor i que no li fa mal res"},
	{pipeline.MixedLanguage, "avui no ha volgut esmorzar i diu que li fa molt de mal la panxa. El padre refiere que ayer también estaba así y que no quiso cenar nada"},
	{basque, "Gaixoa ondo dago, ez du minik eta bihar etxera doa"},
	{basque, "EZ DU SUKARRIK BAINA EZTULA DAUKA, SEMEAREKIN ETORRI DA"},
	{galician, "A paciente refire dor no xeonllo dende onte, sen febre"},
	{galician, "Vén co fillo, di que non durmiu e que xa non toma as pastillas"},
	{pipeline.Spanish, "La paciente se llama Ane, es de Ondarroa y vive con su ama"},
	{pipeline.UnknownLanguage, ""},
	{pipeline.UnknownLanguage, "120/80 37.2 98% 2-0-2"},
	{pipeline.UnknownLanguage, "¿? 2º"},
}

func TestOf(t *testing.T) {
	for i, n := range notes {
		if got, _ := language.Of([]byte(n.text), tokens(n.text)); got != n.want {
			t.Errorf("note %d: %q, want %q", i, got, n.want)
		}
	}
}

// Words of the languages at hand are known, with and without accents, in any case;
// those of others are not, and a note is foreign only if there is enough of it.
func TestKnownWords(t *testing.T) {
	for _, n := range []struct {
		text    string
		foreign bool
	}{
		{notes[0].text, false}, {"el paciente refiere dolor de cabeza, niega fiebre", false}, {"REFIERE DOLOR ABDOMINAL Y NAUSEAS DESDE AYER", false},
		{"la pacient explica mal de panxa i febre des d'ahir a la nit", false},
		{"Patienten söker akut för bröstsmärta sedan igår kväll, ringde sjukvårdsrådgivningen", true},
		{"Le patient revient demain avec sa femme pour refaire le pansement du pied droit", true},
		{"sedan igår", false}, {"", false},
	} {
		if _, words := language.Of([]byte(n.text), tokens(n.text)); words.Foreign() != n.foreign {
			t.Errorf("%.20q: %+v", n.text, words)
		}
	}
}

func TestAnyBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := string(rapid.SliceOf(rapid.Byte()).Draw(t, "text"))
		language.Of([]byte(text), tokens(text))
	})
}

// The longest words of the heaviest weights must not run from one half of
// the packed sum into the other: the answer for many is that for one.
func TestLongWords(t *testing.T) {
	for _, word := range []string{"ayuntamientosconstitucionales", "desenvolupamentsconstitucionals", strings.Repeat("the", 30)} {
		one, _ := language.Of([]byte(word), tokens(word))
		many := strings.TrimSpace(strings.Repeat(word+" ", 60))
		if got, _ := language.Of([]byte(many), tokens(many)); one != pipeline.UnknownLanguage && got != one {
			t.Errorf("60 times the same word: %q, once: %q", got, one)
		}
	}
}

func BenchmarkOf(b *testing.B) {
	text := strings.Join([]string{notes[0].text, notes[3].text}, ". ")
	list := tokens(text)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		language.Of([]byte(text), list)
	}
	b.ReportMetric(float64(len(list)), "tokens")
}
