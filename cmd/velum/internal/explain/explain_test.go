package explain

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/pipeline"
)

// opened opens a configuration in YAML.
func opened(t *testing.T, yaml string) *explaining {
	t.Helper()
	name := filepath.Join(t.TempDir(), "velum.yaml")
	if err := os.WriteFile(name, []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := option.Load(option.Sources{File: name})
	if err != nil {
		t.Fatal(err)
	}
	x, err := open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func (e *explaining) mustExplain(t *testing.T, note string) *Explanation {
	t.Helper()
	said, err := e.explain(context.Background(), typed([]byte(note), e.Config), &Options{At: -1})
	if err != nil {
		t.Fatal(err)
	}
	return said
}

// notes are invented.
var notes = []string{
	"Acude con Rosa Puig, hija de la paciente. Vive en c/ Aragó 12, tel 612345678.",
	"pac de 67 a q viene x dolor toracico. lo trae su hijo Iker. TA 130/80, afebril.",
	"Derivat des de l'Hospital del Mar pel Dr. Ferran Solà el 12/03/2024. Control en 15 dies.",
	"se comenta el caso con dra ortuño, pendiente de eco. NHC 5637110",
	"Trucada de la Montserrat, veïna de Vic: no es troba be. Ve amb el seu marit.",
	"Alergia a penicilina. Parkinson desde 2011. Trabaja en Mercadona de Alcorcón.",
	"exploracio sense canvis, ACxFA ja coneguda, sintrom segons pauta",
	"Correo ana.vidal@example.org, DNI 12345678Z. Natural de Senegal, modista.",
	"paciente que acude por cefalea. juan insiste en que ya la tenia en mayo",
	"Visita domiciliaria: carrer Nou 4, 2n 1a, 08500. Contacte: Pilar (filla) 938851122",
}

// tagged collects the spans that a run would mask.
type tagged struct{ spans [][]pipeline.Span }

func (s *tagged) Put(b *pipeline.Batch) error {
	for i := range b.Len() {
		s.spans = append(s.spans, append([]pipeline.Span(nil), b.Spans.At(i)...))
	}
	return nil
}

// The parts of every decision add up, and the decisions are those of a run.
func TestDecisions(t *testing.T) {
	for _, yaml := range []string{"", "tag: {model: primary-care}\n", "tag: {recall: 0.98}\n"} {
		x := opened(t, yaml)
		decisions, summed := 0, 0
		for _, note := range notes {
			e := x.mustExplain(t, note)
			steps, err := x.TagSteps()
			if err != nil {
				t.Fatal(err)
			}
			var run tagged
			if err := pipeline.Run(context.Background(), typed([]byte(note), x.Config), steps, &run, nil); err != nil {
				t.Fatal(err)
			}
			if got, want := fmt.Sprint(places(e.Spans)), fmt.Sprint(placesOf(run.spans[0])); got != want {
				t.Errorf("%q: explain has spans %s, a run %s", yaml, got, want)
			}
			for i := range e.Words {
				w := &e.Words[i]
				if want := covered(run.spans[0], w.Start, w.End); w.Masked != want {
					t.Errorf("%q: word at %d: masked %v, a run says %v", yaml, w.Start, w.Masked, want)
				}
				if len(w.Why) == 0 {
					t.Errorf("%q: word at %d: no cause", yaml, w.Start)
				}
				decisions++
				summed += addsUp(t, w)
			}
		}
		if decisions < 100 || summed < 100 {
			t.Errorf("%q: only %d decisions, %d sums", yaml, decisions, summed)
		}
	}
}

// addsUp checks the sums of a word and returns how many it has.
func addsUp(t *testing.T, w *Word) (sums int) {
	t.Helper()
	var mean Says
	for _, m := range w.Members {
		if m.Says != nil {
			mean.Tag += m.Weight * m.Says.Tag
			mean.Rival += m.Weight * m.Says.Rival
		}
		if m.Odds == nil {
			continue
		}
		sums++
		sum := m.Odds.Dial + m.Odds.Before + m.Odds.After
		for _, f := range m.Odds.Features {
			sum += f.Weight
		}
		if math.Abs(sum-m.Odds.Log) > 1e-6 {
			t.Errorf("word at %d: the odds are %g, their parts %g", w.Start, m.Odds.Log, sum)
		}
		if p := m.Says; p.Tag > 1e-4 && p.Rival > 1e-4 {
			if said := math.Log(float64(p.Tag / p.Rival)); math.Abs(said-m.Odds.Log) > 1e-2 {
				t.Errorf("word at %d: tagging has odds of %g, the parts %g", w.Start, said, m.Odds.Log)
			}
		}
	}
	if math.Abs(float64(mean.Tag-w.Says.Tag)) > 1e-6 || math.Abs(float64(mean.Rival-w.Says.Rival)) > 1e-6 {
		t.Errorf("word at %d: members %v, together %v", w.Start, mean, *w.Says)
	}
	return sums
}

func places(spans []Span) (p []string) {
	for _, s := range spans {
		p = append(p, fmt.Sprintf("%d-%d %s", s.Start, s.End, s.Category))
	}
	return p
}

func placesOf(spans []pipeline.Span) (p []string) {
	for _, s := range spans {
		p = append(p, fmt.Sprintf("%d-%d %s", s.Start, s.End, s.Category))
	}
	return p
}

// Misses that were planted, and what explain says of each.
func TestWhyNot(t *testing.T) {
	surnames := []string{"Puig", "Solà", "Ortuño", "Vidal", "Marqués", "Rovira", "Casals", "Miralles", "Benítez", "Quesada"}
	cases := []struct{ name, yaml, note, code string }{
		{"never", "resolve: {never: [%[1]s]}\n", "Comentado con %[1]s y con su hija hoy.", causeTaken},
		{"kept", "mask: {operators: {PERSON: keep}}\n", "Acude con la Sra. %[1]s a consulta.", causeKept},
		{"aside", "patterns: {use: false}\nresolve: {never: [\"12345678Z\"]}\n", "Acude con %[1]s, DNI 12345678Z.", causeAside},
	}
	found := 0
	for _, c := range cases {
		for _, name := range surnames {
			yaml := c.yaml
			if strings.Contains(yaml, "%") {
				yaml = fmt.Sprintf(yaml, name)
			}
			x := opened(t, yaml)
			if w := wordOf(x.mustExplain(t, fmt.Sprintf(c.note, name)), name); w == nil || w.Why[0].Code != c.code {
				t.Errorf("%s: %s is explained by %v, not by %s", c.name, name, w, c.code)
			} else {
				found++
			}
		}
	}
	// What the tagger leaves: it says so, and the dial that it names does mask it.
	x := opened(t, "")
	for i, note := range []string{
		"pendiente de hablar con zubi el martes", "avisar a lopez si empeora", "ve amb en cinto", "lo lleva chus en consulta",
		"comentat amb nuri, ok", "dice marchena que baje la dosis", "segun refiere garde la paciente esta mejor", "visto x peñas",
		"amb la tieta queta a casa", "trae informe de quiron", "control x mirete", "consulta de lugo", "parla amb xita", "viu amb la iaia tonia",
		"firma rmg", "adj roig", "cita con saiz", "en breda fins dilluns", "derivo a baza", "tt segun prats",
	} {
		e := x.mustExplain(t, note)
		for k := range e.Words {
			w := &e.Words[k]
			if w.Masked {
				continue
			}
			if c := w.Why[0].Code; c != causeSure && c != causeDoubt && c != causeTaken {
				t.Errorf("note %d, word at %d: %s", i, w.Start, c)
			}
			if w.Says.Tag < 1-inDoubt != (w.Why[0].Code == causeDoubt) {
				t.Errorf("note %d, word at %d: %s at %v", i, w.Start, w.Why[0].Code, *w.Says)
			}
		}
		found++
	}
	if found < 50 {
		t.Errorf("%d of 50 misses are explained", found)
	}
}

func wordOf(e *Explanation, text string) *Word {
	for i := range e.Words {
		if e.Words[i].Text == text {
			return &e.Words[i]
		}
	}
	return nil
}

// Errors name what is missing, and hold nothing of the note.
func TestErrors(t *testing.T) {
	cfg, err := option.Load(option.Sources{})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range []*Options{{At: -1}, {At: -1, Text: "secreta", Word: "otra"}, {At: 100, Text: "secreta"}, {At: -1, Text: "secreta", In: "x", ID: "1"}, {At: -1, In: "x"}} {
		var out, errs bytes.Buffer
		err := Run(context.Background(), &console.Console{Out: &out, Errs: &errs}, cfg, o)
		if err == nil || strings.Contains(err.Error(), "secreta") || out.Len() > 0 {
			t.Errorf("%+v: %v", o, err)
		}
	}
	// A note that is kept back before it has words says why.
	x := opened(t, "")
	e, err := x.explain(context.Background(), &one{text: []byte(strings.Repeat("uno dos tres ", 30_000))}, &Options{At: -1, Word: "tres"})
	if err != nil || e.Status != pipeline.TooLong.String() || e.Masked != "" {
		t.Errorf("a note of too many tokens: %v, %+v", err, e)
	}
}

// A note that its source would set aside is set aside for that reason.
func TestUnsound(t *testing.T) {
	x := opened(t, "tag: {model: primary-care}\n")
	for note, want := range map[string]string{"veo a Rosa\xff": "bad_encoding", "veo a\x00Rosa": "control_text"} {
		if got := x.mustExplain(t, note).Status; got != want {
			t.Errorf("status %s, want %s", got, want)
		}
	}
}

// TestFirstWord: the word at offset 0 is told of if it is asked for, and not by itself.
func TestFirstWord(t *testing.T) {
	for at, want := range map[int]bool{-1: false, 0: true, 4: true} {
		said := &Explanation{Words: []Word{{Start: 0, End: 3, Text: "tos"}}, Conf: new(float32)}
		var out bytes.Buffer
		if err := said.print(&console.Console{Out: &out}, &Options{At: at}); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(out.String(), "tos"); got != want {
			t.Errorf("asked for %d: told %t\n%s", at, got, out.String())
		}
	}
}
