package train

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/look"
	"github.com/velum-health/velum/cmd/velum/internal/option"
)

// did is how a training ended, and what it printed.
func did(t *testing.T, do func(context.Context, *console.Console, *option.Config) error, json bool, set ...string) (string, error) {
	t.Helper()
	var out, errs bytes.Buffer
	c := &console.Console{Out: &out, Errs: &errs, Quiet: true, JSON: json}
	c.StartLog()
	cfg, err := option.Load(option.Sources{}.With(append([]string{"run.workers=1"}, set...)))
	if err != nil {
		t.Fatal(err)
	}
	err = do(t.Context(), c, cfg)
	return out.String() + errs.String(), err
}

func trained(t *testing.T, o Options, set ...string) (string, error) {
	t.Helper()
	return did(t, func(ctx context.Context, c *console.Console, cfg *option.Config) error { return Train(ctx, c, cfg, &o) }, false, set...)
}

func put(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func wants(t *testing.T, what, got string, err error, code exit.Code, lines ...string) {
	t.Helper()
	if exit.CodeOf(err) != code {
		t.Errorf("%s: ended with %v: %v", what, exit.CodeOf(err), err)
	}
	if err != nil {
		got += err.Error()
	}
	for _, line := range lines {
		if !regexp.MustCompile("(?m)" + line).MatchString(got) {
			t.Errorf("%s: no %s in\n%s", what, line, got)
		}
	}
}

// names writes compiled lists, notes and gold of which the frequencies tell names from words.
func names(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	put(t, "hombres.csv", "nombre,frec\nPAU,400\nROSA,600\n")
	put(t, "apellidos.csv", "apellido,frec_pri,frec_seg\nPUIG,300,300\nMAR,1,1\n")
	put(t, "words.txt", "mar 900\nrosa 1\n")
	put(t, "notes.jsonl", `{"note_id":"1","text":"Visita de Pau Puig por tos. Ha ido al mar y el mar le gusta, el mar y el mar."}
{"note_id":"2","text":"Acude Rosa con dolor"}
`)
	put(t, "gold.jsonl", `{"note_id":"1","text":"Visita de Pau Puig por tos. Ha ido al mar.","spans":[{"start":10,"end":18,"label":"PERSON"}]}
{"note_id":"2","text":"Acude Rosa con dolor","spans":[{"start":6,"end":10,"label":"PERSON"}]}
`)
	for out, args := range map[string][]string{"names.velum": {"hombres.csv", "apellidos.csv"}, "words.velum": {"CommonWord=words.txt"}} {
		if _, err := did(t, func(_ context.Context, c *console.Console, _ *option.Config) error {
			return look.BuildList(t.Context(), c, &look.ListOptions{Out: out, Lists: args})
		}, false); err != nil {
			t.Fatal(err)
		}
	}
}

func TestDictionary(t *testing.T) {
	names(t)
	sound := func(change func(*Options)) Options {
		o := Options{Kind: "dictionary", Out: "d.velum", Dictionary: DictionaryOptions{Gazetteers: []string{"names.velum"}, Notes: []string{"notes.jsonl"}, Method: "divergence", Category: "PERSON", Classes: []string{"GivenName", "Surname"}}}
		change(&o)
		return o
	}
	got, err := trained(t, sound(func(*Options) {}))
	wants(t, "divergence", got, err, exit.Done, `^d.velum: 0\.0 MB, divergence model of 4 words, 2\d words counted in the archive$`)
	_, err = trained(t, sound(func(o *Options) { o.Out, o.Name = "e.velum", "d" }))
	a, _ := os.ReadFile("d.velum")
	b, _ := os.ReadFile("e.velum")
	if err != nil || !bytes.Equal(a, b) || len(a) == 0 {
		t.Errorf("once more: other bytes, %v", err)
	}
	got, err = trained(t, sound(func(o *Options) {
		o.Dictionary.Method, o.Dictionary.Notes, o.Dictionary.Negative = "binary", nil, []string{"words.velum"}
	}))
	wants(t, "binary", got, err, exit.Done, `binary model of 4 words`)
	for name, change := range map[string]func(*Options){
		"--archive is needed":            func(o *Options) { o.Dictionary.Notes = nil },
		"--gazetteer is needed":          func(o *Options) { o.Dictionary.Gazetteers = nil },
		"no entries of the classes Drug": func(o *Options) { o.Dictionary.Classes = []string{"Drug"} },
		"NOBODY":                         func(o *Options) { o.Dictionary.Category = "NOBODY" },
		"a dictionary is not trained on labelled notes": func(o *Options) { o.Train = []string{"gold.jsonl"} },
		"hombres.csv": func(o *Options) { o.Dictionary.Gazetteers = []string{"hombres.csv"} },
	} {
		got, err := trained(t, sound(change))
		wants(t, name, got, err, exit.Config, regexp.QuoteMeta(name))
	}
}

// TestTaggers trains a CRF and an SVM on some notes, twice to the same bytes, and scores them.
func TestTaggers(t *testing.T) {
	names(t)
	var lines strings.Builder
	for i, name := range []string{"Ana Puig", "Pau Mas", "Rosa Vidal", "Joan Soler", "Núria Pons", "Marta Roca", "Pere Font", "Laia Serra"} {
		for k, before := range []string{"Viene con ", "Llama ", "Acude la señora ", "Control con "} {
			text := before + name + " por tos"
			line, err := json.Marshal(map[string]any{"note_id": string(rune('a'+i)) + string(rune('0'+k)), "text": text, "spans": []map[string]any{{"start": len([]rune(before)), "end": len([]rune(before + name)), "label": "PERSON"}}})
			if err != nil {
				t.Fatal(err)
			}
			lines.WriteString(string(line) + "\n")
		}
	}
	put(t, "train.jsonl", lines.String())
	for _, kind := range []string{"crf", "svm"} {
		o := Options{Kind: kind, Train: []string{"train.jsonl"}, Out: kind + ".velum", Name: "m"}
		got, err := trained(t, o, "train.iterations=5")
		wants(t, kind, got, err, exit.Done, `^`+kind+`.velum: \d\.\d MB, \d+ features, \d+ weights, from 32 notes`)
		o.Out, o.Dev = "again.velum", []string{"gold.jsonl"}
		got, err = trained(t, o, "train.iterations=5", "run.workers=2")
		wants(t, kind+" with dev", got, err, exit.Done, `recall dial: bias  0.0  masking recall \d\.\d+`, `strict`)
		o.Dev, o.Out = nil, "same.velum"
		if _, err := trained(t, o, "train.iterations=5", "run.workers=2"); err != nil {
			t.Fatal(err)
		}
		a, _ := os.ReadFile(kind + ".velum")
		b, _ := os.ReadFile("same.velum")
		if !bytes.Equal(a, b) || len(a) == 0 {
			t.Errorf("%s: other workers, other bytes", kind)
		}
	}
	measure := func(o Options) (string, error) {
		return did(t, func(ctx context.Context, c *console.Console, cfg *option.Config) error {
			return Measure(ctx, c, cfg, &o)
		}, false, "tag.model=crf.velum")
	}
	got, err := measure(Options{Dev: []string{"gold.jsonl"}, Real: "our ward", Out: "measured.velum"})
	wants(t, "measure", got, err, exit.Done, `^  measured on our ward, \d+-\d\d-\d\d: 2 notes, 2 entities, masking recall [01]\.\d+ \[0\.\d+, [01]\.\d+\], precision [01]\.\d+$`)
	got, err = measure(Options{Held: []string{"gold.jsonl"}, Out: "no.velum"})
	wants(t, "held without a model", got, err, exit.Config, `names no model and notes`)
	for name, o := range map[string]Options{
		"no kind":    {Kind: "none", Train: []string{"train.jsonl"}, Out: "no.velum"},
		"no notes":   {Kind: "crf", Out: "no.velum"},
		"other kind": {Kind: "svm", Train: []string{"train.jsonl"}, Init: "svm.velum", Out: "no.velum"},
		"no labels":  {Kind: "crf", Train: []string{"train.jsonl"}, Labels: "none", Out: "no.velum"},
		"no file":    {Kind: "crf", Train: []string{"missing.jsonl"}, Out: "no.velum"},
	} {
		got, err := trained(t, o, "train.iterations=5")
		wants(t, name, got, err, exit.Config)
		if _, err := os.Stat("no.velum"); err == nil {
			t.Errorf("%s: a model is written", name)
		}
	}
}
