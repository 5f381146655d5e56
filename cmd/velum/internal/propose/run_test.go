package propose

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/text/encoding/charmap"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/option"
)

const evolution = `COD_EVOL;NHC;FEC_NOTA;FEC_NAC;SERVEI;TXT_EVOL
A-001;4000001;03/02/2026;01/01/1950;Medicina de família;"Acude la señora Lucía Rovira, tel 600 123 456, por tos"
A-002;4000002;04/02/2026;02/03/1961;Infermeria;Control de la tensión en un mes con analítica
A-003;4000001;05/02/2026;01/01/1950;Medicina de família;Dolor en el riñón desde hace días
A-004;4000003;05/02/2026;09/09/1980;Urgències;Refiere mareo al levantarse, sin fiebre
`

// the configuration that is proposed for it, but for the lines of remarks
const proposed = `read:
  format: auto
  encoding: auto
  columns:
    text: TXT_EVOL                 # 44 characters a note; es 75 %, not told 25 %
    id: [COD_EVOL]                 # unique in 4 rows; as A-999
    patient: NHC                   # 3 patients, as 9999999
    date: FEC_NOTA                 # as 99/99/9999
  keep: []                         # columns that pass as they are; one may say who somebody is, so none by default
  # there are: FEC_NAC, SERVEI
# together these could single somebody out (velum help extracts); to keep them, name them in read.keep too
# anonymity: {k: 5, columns: {FEC_NAC: date, SERVEI: value}}
`

// looked is what a look at an archive prints.
func looked(t *testing.T, o Options, set ...string) (string, error) {
	t.Helper()
	var out, errs bytes.Buffer
	c := &console.Console{Out: &out, Errs: &errs}
	c.StartLog()
	cfg, err := option.Load(option.Sources{}.With(append([]string{"tag.fast=true", "run.workers=1"}, set...)))
	if err != nil {
		t.Fatal(err)
	}
	err = Run(t.Context(), c, cfg, &o)
	return out.String() + errs.String(), err
}

func put(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// wants holds what was said against expressions, which match a line; with "!" in front they must not.
func wants(t *testing.T, what, got string, err error, code exit.Code, lines ...string) {
	t.Helper()
	if exit.CodeOf(err) != code {
		t.Errorf("%s: %v", what, err)
	}
	if err != nil {
		got += err.Error()
	}
	for _, line := range lines {
		not, is := strings.CutPrefix(line, "!")
		if regexp.MustCompile("(?m)"+not).MatchString(got) == is {
			t.Errorf("%s: %s in\n%s", what, line, got)
		}
	}
}

func TestRun(t *testing.T) {
	t.Chdir(t.TempDir())
	latin1, err := charmap.ISO8859_1.NewEncoder().String(evolution)
	if err != nil {
		t.Fatal(err)
	}
	put(t, "evol.csv", latin1)
	o := Options{In: "evol.csv", Out: "velum.yaml", Yes: true}
	got, err := looked(t, o)
	wants(t, "columns", got, err, exit.Done, `^evol.csv: csv, latin-1, delimiter ';', 4 notes`, `text +TXT_EVOL: `, `id +COD_EVOL: unique in 4 rows; as A-999`, `patient +NHC: 3 patients, as 9999999`, `date +FEC_NOTA: as 99/99/9999`,
		`left out +FEC_NAC, SERVEI`, `masked .*\[TELEPHONE\]`, `!600 123 456`, `^velum run --in evol.csv --out masked --config velum.yaml --audit 20$`)
	text, err := os.ReadFile("velum.yaml")
	if err != nil || !strings.Contains(string(text), proposed) {
		t.Errorf("%s, %v", text, err)
	}
	got, err = looked(t, o)
	wants(t, "it is there", got, err, exit.Config, `velum.yaml is there already`)
	o.Force = true
	got, err = looked(t, o)
	wants(t, "by force", got, err, exit.Done)
	got, err = looked(t, Options{In: "evol.csv", Out: "other.yaml"})
	wants(t, "nobody is there", got, err, exit.Config, "no terminal; say --yes|no terminal")
	got, err = looked(t, Options{In: "evol.csv", Try: 100})
	wants(t, "shown", got, err, exit.Done, `^A-001  .*\[TELEPHONE\]`, `^A-004  `, `4 notes shown of 4`)
	got, err = looked(t, Options{In: "evol.csv", Try: 2})
	wants(t, "two shown", got, err, exit.Done, `2 notes shown of 4`)
	if n := len(regexp.MustCompile(`(?m)^A-00`).FindAllString(got, -1)); n != 2 {
		t.Errorf("%d notes are shown", n)
	}
	got, err = looked(t, Options{In: "evol.csv", Out: "told.yaml", Yes: true}, "read.columns.text=SERVEI", "read.columns.id=COD_EVOL")
	wants(t, "told", got, err, exit.Done)
	if text, err := os.ReadFile("told.yaml"); err != nil || !strings.Contains(string(text), "    text: SERVEI ") {
		t.Errorf("%s, %v", text, err)
	}
	got, err = looked(t, Options{In: "evol.csv", Out: "no.yaml", Yes: true}, "read.columns.text=texto")
	wants(t, "a column that is not there", got, err, exit.Config, `no column named texto`)
	got, err = looked(t, Options{In: "nothere.csv", Out: "no.yaml", Yes: true})
	wants(t, "no archive", got, err, exit.Config)
	if _, err := os.Stat("no.yaml"); err == nil {
		t.Error("a configuration is written")
	}
}

func TestShapesOfArchives(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, dir := range []string{"months/2026/01", "months/2026/02", "notas"} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	put(t, "two.csv", "NHC,Curso,Observaciones\n1,\"Acude por tos\ny fiebre, control en un mes\",\"La hija, Anna Puig, pide informe\"\n1,Dolor de espalda desde ayer,Se avisa a la familia por teléfono\n2,Control de tensión en enfermería,Sin cambios desde la última visita\n")
	put(t, "months/2026/01/n.csv", "id,nota\n1,Control en un mes con analítica\n")
	put(t, "months/2026/02/n.csv", "id,nota\n2,Avisar al 600 123 456 si empeora\n")
	put(t, "notas/uno.txt", "Control en un mes\n")
	put(t, "notas/dos.txt", "Avisar al 600 123 456 si empeora\n")
	put(t, "tabla.txt", "codigo\tnota\n1\tControl en un mes con analítica\n2\tAvisar al 600 123 456 si empeora\n")
	put(t, "nums.csv", "a,b\n1,2.5\n2,3.5\n")
	put(t, "j.jsonl", `{"codigo":"a1","nota":"Control en un mes con analítica"}`+"\n"+`{"codigo":"a2","nota":"Avisar al 600 123 456 si empeora"}`+"\n")
	for _, c := range []struct {
		in    string
		code  exit.Code
		lines []string
		yaml  []string
	}{
		{"two.csv", exit.Done, []string{`note that no column names a note`, `note that .*could be the text as well: `}, []string{"ids: drop"}},
		{"months", exit.Done, []string{`in 2 folders from 2026/01 to 2026/02`}, []string{"text: nota", "id: [id]"}},
		{"notas", exit.Done, []string{`^notas: 2 files of txt, 2 notes`}, nil},
		{"tabla.txt", exit.Done, nil, []string{"format: csv", "text: nota", "id: [codigo]"}},
		{"j.jsonl", exit.Done, []string{`jsonl, utf-8, 2 notes`}, []string{"text: nota", "id: [codigo]"}},
		{"nums.csv", exit.Config, nil, nil},
	} {
		got, err := looked(t, Options{In: c.in, Out: c.in + ".yaml", Yes: true})
		wants(t, c.in, got, err, c.code, c.lines...)
		text, _ := os.ReadFile(c.in + ".yaml")
		for _, line := range c.yaml {
			if !strings.Contains(string(text), line) {
				t.Errorf("%s: no %s in\n%s", c.in, line, text)
			}
		}
	}
}

func TestNamesOfColumns(t *testing.T) {
	for name, want := range map[string]string{"FEC_NOTA": "fec nota", "fecNota": "fec nota", "NúmHistòria": "num historia", "a1b2": "a b", "": "", "TEXTO": "texto", "idPaciente2": "id paciente", "Año": "ano"} {
		if got := strings.Join(words(name), " "); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	c := &column{name: "FEC_NOTA", number: 2}
	if c.called("fec data") != 1 || c.called("dat") != 0 || c.shown() != "FEC_NOTA" || (&column{number: 2}).shown() != "(column 3)" {
		t.Error("what a column is called")
	}
	for _, x := range []struct {
		c    column
		text float64
		code bool
	}{
		{column{name: "x", filled: 10, words: 50, letters: 90, bytes: 100, longest: 90, values: many(10)}, 5, false},
		{column{name: "nota", filled: 10, words: 50, letters: 90, bytes: 100, longest: 90, values: many(10)}, 15, false},
		{column{name: "x", filled: 10, words: 50, letters: 90, bytes: 100, longest: 90, values: many(5)}, 2.5, false}, // each comes twice
		{column{name: "x", filled: 10, words: 29, letters: 90, bytes: 100, values: many(10)}, 0, false},
		{column{name: "nota", filled: 10, words: 15, letters: 90, bytes: 100, values: many(10)}, 4.5, false},
		{column{name: "nota", filled: 10, words: 14, letters: 90, bytes: 100, values: many(10)}, 0, false},
		{column{name: "nota", filled: 10, words: 50, letters: 49, bytes: 100, values: many(10)}, 0, false},
		{column{name: "nota", filled: 10, words: 50, letters: 50, bytes: 100, dates: 5, values: many(10)}, 15, false},
		{column{name: "nota", filled: 10, words: 50, letters: 50, bytes: 100, dates: 6, values: many(10)}, 0, false},
		{column{filled: 10, words: 50, letters: 90, bytes: 100, values: many(10)}, 0, false}, // its name may be words of a note
		{column{name: "nota"}, 0, false},
		{column{name: "x", filled: 10, words: 11, longest: 64}, 0, true},
		{column{name: "x", filled: 10, words: 12, longest: 64}, 0, false},
		{column{name: "x", filled: 10, words: 10, longest: 65}, 0, false},
		{column{filled: 10, words: 10, longest: 5}, 0, false},
	} {
		x.c.letters = max(x.c.letters, 0)
		if got := x.c.textScore(); got != x.text && !(x.code && got == 0) || x.c.isCode() != x.code {
			t.Errorf("%+v: %g, a code %t", x.c, got, x.c.isCode())
		}
	}
}

// many are so many values.
func many(n uint64) map[uint64]struct{} {
	all := map[uint64]struct{}{}
	for k := range n {
		all[k] = struct{}{}
	}
	return all
}
