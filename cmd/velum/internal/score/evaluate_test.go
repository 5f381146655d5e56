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
	got, err := evaluated(t, Options{Gold: "gold.jsonl", System: "system.jsonl"}, false)
	if want := `2 notes (2 with PHI, 0 in quarantine not scored), 4 gold spans, 2 system spans

measure                     P       R       F1      95 % of R  95 % of F1  macro P  R       F1
strict                      0.5000  0.2500  0.3333                         0.2500   0.2500  0.2500
span                        0.5000  0.2500  0.3333                         0.2500   0.2500  0.2500
merged                      0.5000  0.2500  0.3333                         0.2500   0.2500  0.2500
joined                      0.5000  0.2500  0.3333                         0.2500   0.2500  0.2500
covering                    0.5000  0.2500  0.3333                         0.2500   0.2500  0.2500
overlapping                 1.0000  0.5000  0.6667                         0.5000   0.5000  0.5000
relaxed                     0.5000  0.2500  0.3333                         0.2500   0.2500  0.2500
tokens                      1.0000  0.2222  0.3636                         0.5000   0.3333  0.4000
masked_tokens               1.0000  0.2222  0.3636                         0.5000   0.3333  0.4000
masked_characters           1.0000  0.3333  0.5000                         0.5000   0.3000  0.3750
masked_entities             1.0000  0.2500  0.4000                         0.5000   0.2500  0.3333
strict, mean of categories  0.2500  0.1667  0.2000

category  gold  system  right  P       R       F1      masked  masked R  type  short  long  both  spurious  missing
DATE      1     0       0      0.0000  0.0000  0.0000  0       0.0000    0     0      0     0     0         1
PERSON    3     2       1      0.5000  0.3333  0.4000  1       0.3333    0     1      0     0     0         1

errors: 0 type, 1 short, 0 long, 0 short and long (0 of these with another type too), 0 spurious, 2 missing

clean notes 0.0000 (0 of 2), of those with PHI 0.0000 (0 of 2)
leaks 3 spans, 1.50000 a line, 1.50000 a sentence
direct identifiers masked in 0.0000 of the notes that have some (0 of 2)
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
	got, err := evaluated(t, Options{Gold: "gold.jsonl"}, false)
	if err != nil || !strings.Contains(got, "masking recall by entity 1.0000 (1 of 1), notes without a leak 1.0000\n") {
		t.Errorf("%s%v", got, err)
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
