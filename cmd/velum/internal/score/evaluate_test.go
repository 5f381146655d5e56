package score

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/stages/score"
)

// evaluated is what Evaluate prints.
func evaluated(t *testing.T, o Options, json bool) (string, error) {
	t.Helper()
	var out, errs bytes.Buffer
	c := &console.Console{Out: &out, Errs: &errs, Quiet: true, JSON: json}
	c.StartLog()
	cfg, err := option.Load(option.Sources{}.With([]string{"tag.fast=true", "run.workers=1"}))
	if err != nil {
		t.Fatal(err)
	}
	o.Draws, o.Beta = -1, 1
	err = Evaluate(t.Context(), c, cfg, &o)
	return out.String(), err
}

func put(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestEvaluate has three gold names and two dates, of which a system finds two names, one too short, and no date.
func TestEvaluate(t *testing.T) {
	t.Chdir(t.TempDir())
	put(t, "gold.jsonl", `{"note_id":"a","text":"Viene Ana Puig con Pau","spans":[{"start":6,"end":14,"label":"PERSON"},{"start":19,"end":22,"label":"PERSON"}]}
{"note_id":"b","text":"El 3/4/2024 llama Ot","spans":[{"start":3,"end":11,"label":"DATE"},{"start":18,"end":20,"label":"PERSON"}]}
`)
	put(t, "system.jsonl", `{"note_id":"a","text":"Viene Ana Puig con Pau","spans":[{"start":6,"end":9,"label":"PERSON"},{"start":19,"end":22,"label":"PERSON"}]}
{"note_id":"b","text":"El 3/4/2024 llama Ot","spans":[]}
`)
	put(t, "labels.jsonl", `{"note_id":"a","text":"Viene Ana Puig con Pau","spans":[{"start":6,"end":14,"label":"EMAIL"}]}
{"note_id":"b","text":"El 3/4/2024 llama Ot","spans":[]}
`)
	put(t, "empty.jsonl", "")
	got, err := evaluated(t, Options{Gold: "gold.jsonl", System: "system.jsonl", Brief: true}, false)
	if want := `category                             gold  masked precision  recall      F1
DATE                                    1       0    0.0000  0.0000  0.0000
PERSON                                  3       1    0.5000  0.3333  0.4000
masking recall by entity 0.2500 (1 of 4), notes without a leak 0.0000
`; err != nil || got != want {
		t.Errorf("%s%v, want\n%s", got, err, want)
	}
	got, err = evaluated(t, Options{Gold: "gold.jsonl", System: "gold.jsonl", Other: "system.jsonl", Seed: 1}, false)
	if err != nil || !strings.Contains(got, "\nagainst the other system: strict F1 +0.6667, probability of chance ") { // 1 less 2·1/(2+4)
		t.Errorf("%s%v", got, err)
	}
	got, err = evaluated(t, Options{Gold: "gold.jsonl", System: "gold.jsonl", Other: "system.jsonl", Seed: 1}, true)
	var r struct {
		Notes int `json:"notes"`
		Test  struct{ Shuffles int }
	}
	if json.Unmarshal([]byte(got), &r) != nil || r.Notes != 2 || err != nil {
		t.Errorf("%s%v", got, err)
	}
	for _, c := range []struct {
		name string
		o    Options
		want exit.Code
	}{
		{"no gold", Options{System: "system.jsonl"}, exit.Config},
		{"no notes", Options{Gold: "empty.jsonl", System: "empty.jsonl"}, exit.Nothing},
		{"no label in common", Options{Gold: "gold.jsonl", System: "labels.jsonl"}, exit.Config},
		{"enough", Options{Gold: "gold.jsonl", System: "system.jsonl", AtLeast: 0.25}, exit.Done},
		{"not enough", Options{Gold: "gold.jsonl", System: "system.jsonl", AtLeast: 0.26}, exit.Privacy},
		{"an unknown label set", Options{Gold: "gold.jsonl", System: "system.jsonl", Labels: "x"}, exit.Config},
		{"no system", Options{Gold: "gold.jsonl", System: "missing.jsonl"}, exit.Config},
	} {
		if _, err := evaluated(t, c.o, false); exit.CodeOf(err) != c.want {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if _, err := evaluated(t, Options{Gold: "gold.jsonl", System: "system.jsonl", Errors: "errors.jsonl"}, false); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("errors.jsonl")
	if err != nil || strings.Count(string(text), "\n") != 3 || !strings.Contains(string(text), `"id":"a","kind":"border","leaks":true,"gold":{"start":6,"end":14,"category":"PERSON","text":"Ana Puig"},"system":{"start":6,"end":9,"category":"PERSON","text":"Ana"}`) ||
		!strings.Contains(string(text), `"id":"b","kind":"missing","leaks":true,"gold":{"start":3,"end":11,"category":"DATE","text":"3/4/2024"},"before":"El ","after":" llama Ot"}`) {
		t.Errorf("%s%v", text, err)
	}
}

// TestModelAgainstGold has the model find a telephone number.
func TestModelAgainstGold(t *testing.T) {
	t.Chdir(t.TempDir())
	put(t, "gold.jsonl", `{"note_id":"a","text":"Avisar al 600 123 456","spans":[{"start":10,"end":21,"label":"TELEPHONE"}]}`+"\n")
	got, err := evaluated(t, Options{Gold: "gold.jsonl", Brief: true}, false)
	if err != nil || !strings.Contains(got, "masking recall by entity 1.0000 (1 of 1), notes without a leak 1.0000\n") {
		t.Errorf("%s%v", got, err)
	}
	got, err = evaluated(t, Options{Gold: "gold.jsonl", Dial: true}, true)
	var r struct{ Positions []position }
	if json.Unmarshal([]byte(got), &r) != nil || err != nil || len(r.Positions) != 1 {
		t.Fatalf("%s%v", got, err)
	}
	if p := r.Positions[0]; p.Entities != 1 || p.Masked != 1 || p.Gold != 3 || p.Found != 3 || p.System != 3 || p.Safe != 2 || p.HIPAA != 3 || p.Legal != 3 || p.EntityRecall != 1 || p.WordRecall != 1 || p.HIPAARecall != 1 || p.WordPrecision != 1 || p.Lost != 0 {
		t.Errorf("%+v", p)
	}
	put(t, "none.jsonl", `{"note_id":"a","text":"Tos","spans":[]}`+"\n")
	if _, err := evaluated(t, Options{Gold: "none.jsonl", Dial: true}, false); exit.CodeOf(err) != exit.Nothing {
		t.Error(err)
	}
}

// TestCounting counts words by hand: gold a name of two words and a profession, masked the second word of the name and a safe one.
func TestCounting(t *testing.T) {
	person, _ := pipeline.ParseCategory("PERSON")
	date, _ := pipeline.ParseCategory("DATE")
	text := "Ana Puig , maestra ve hoy"
	b := &pipeline.Batch{Reason: []pipeline.Reason{pipeline.Sound}}
	b.Text.Append([]byte(text))
	b.ID.Append([]byte("a"))
	b.Tokens.Append(pipeline.Token{Start: 0, End: 3}, pipeline.Token{Start: 4, End: 8}, pipeline.Token{Start: 9, End: 10}, pipeline.Token{Start: 11, End: 18}, pipeline.Token{Start: 19, End: 21}, pipeline.Token{Start: 22, End: 25})
	b.Gold.Append(pipeline.Span{Start: 0, End: 8, Category: person}, pipeline.Span{Start: 11, End: 18, Category: date})
	b.Spans.Append(pipeline.Span{Start: 4, End: 8, Category: person}, pipeline.Span{Start: 22, End: 25, Category: date})
	c := &counting{Scorer: score.New(score.Options{Draws: -1}), hipaa: func(c pipeline.Category) pipeline.Category {
		if c == person {
			return c
		}
		return pipeline.None
	}}
	if err := c.Put(b); err != nil {
		t.Fatal(err)
	}
	if want := (position{Gold: 3, Found: 1, System: 2, Safe: 2, HIPAA: 2, Legal: 1}); c.at != want {
		t.Errorf("%+v, want %+v", c.at, want)
	}
	for form, want := range map[string]bool{"a": true, "7": true, "-ñ": true, ",": false, "": false, "·«": false} {
		if isWord([]byte(form)) != want {
			t.Errorf("%q is a word: %t", form, !want)
		}
	}
	if share(1, 0) != 0 || share(1, 4) != 0.25 {
		t.Error("shares")
	}
}

func TestClip(t *testing.T) {
	for _, c := range []struct {
		text  string
		front bool
		want  string
	}{{"ñandú", true, "ñandú"}, {"\xb1andú", true, "andú"}, {"andú", false, "andú"}, {"and\xc3", false, "and"}, {"a\xe2\x82", false, "a"}, {"\x82\xac\x20b", true, " b"}, {"", true, ""}, {"", false, ""}} {
		if got := string(clip([]byte(c.text), c.front)); got != c.want {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
}
