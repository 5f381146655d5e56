package study

import (
	"bytes"
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/option"
)

// studied is what a study prints.
func studied(t *testing.T, o Options, set ...string) (string, error) {
	t.Helper()
	var out, errs bytes.Buffer
	c := &console.Console{Out: &out, Errs: &errs, Version: "1"}
	c.StartLog()
	if o.By == "" {
		o.By = "note"
	}
	if o.Kinds == nil {
		o.Kinds = []string{"crf", "enet=crf:train.l1=0.5"}
	}
	o.Gold, o.Beta, o.Draws, o.Seed, o.Times = []string{"gold.jsonl"}, 1, 20, 1, max(o.Times, 1)
	err := Run(t.Context(), c, option.Sources{}.With(append([]string{"run.workers=1", "train.iterations=2", "train.template=./few.txt"}, set...)), &o)
	return out.String() + errs.String(), err
}

// gold writes notes with a name each, and a template of features that is trained at once.
func gold(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	var lines strings.Builder
	for i, name := range []string{"Ana Puig", "Pau Mas", "Rosa Vidal", "Joan Soler", "Núria Pons", "Marta Roca"} {
		for k, before := range []string{"Viene con ", "Llama ", "Acude la señora ", "Control con "} {
			line, err := json.Marshal(map[string]any{"note_id": string(rune('a'+i)) + string(rune('0'+k)), "text": before + name + " por tos",
				"spans": []map[string]any{{"start": len([]rune(before)), "end": len([]rune(before + name)), "label": "PERSON"}}})
			if err != nil {
				t.Fatal(err)
			}
			lines.WriteString(string(line) + "\n")
		}
	}
	for name, text := range map[string]string{"gold.jsonl": lines.String(), "more.jsonl": strings.ReplaceAll(lines.String(), `"note_id":"`, `"note_id":"m`), "few.txt": "version 1\nword -1..1\nshape 0\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
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

// TestStudies does one of each study, twice where the second must find what the first did.
func TestStudies(t *testing.T) {
	gold(t)
	got, err := studied(t, Options{Way: "folds", K: 2, Out: "one"})
	wants(t, "folds", got, err, exit.Done, `^24 notes, 24 groups by note, 4 trials$`, `^crf +12 +[01]\.\d+`, `^enet +12 +[01]\.\d+`, `^crf - enet: strict F1 [+-]0\.\d+ \[.*\], by chance \d\.\d+`)
	first, err := os.ReadFile("one/study.json")
	if err != nil || !bytes.Contains(first, []byte(`"schema": "velum.study/1"`)) || bytes.Contains(first, []byte("Puig")) {
		t.Errorf("%v", err)
	}
	trials, _ := os.ReadDir("one/trials")
	if len(trials) != 4 {
		t.Fatalf("%d trials", len(trials))
	}
	if err := os.WriteFile("one/trials/"+trials[0].Name(), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err = studied(t, Options{Way: "folds", K: 2, Out: "one"}, "run.workers=2")
	wants(t, "once more", got, err, exit.Done, `a trial is damaged; it is done again`)
	if again, err := os.ReadFile("one/study.json"); err != nil || !bytes.Equal(first, again) {
		t.Errorf("another result, %v", err)
	}
	for _, c := range []struct {
		o     Options
		lines []string
	}{
		{Options{Way: "curve", Shares: []float64{50, 100}, Times: 2, K: 2}, []string{`^crf +50 % +\d+ `, `^100 %: crf - enet`}},
		{Options{Way: "confidence", K: 2, Thresholds: []float64{0, 0.9}, Kinds: []string{"crf"}}, []string{`≥ 0.9 .* of notes`}},
		{Options{Way: "grid", K: 2, Vary: []string{"train.l2=0.1,10"}, Kinds: []string{"crf"}}, []string{`^crf +picked by the other folds +12 `}},
		{Options{Way: "mix", With: []string{"more.jsonl"}, Shares: []float64{0, 100}, K: 2, Kinds: []string{"crf"}}, []string{`^crf +100 % --with`}},
		{Options{Way: "ablate", Dev: []string{"more.jsonl"}, Kinds: []string{"crf"}}, []string{`^crf: -word - all: strict F1`}},
		{Options{Way: "ablate", Dev: []string{"more.jsonl"}, Forward: true, Kinds: []string{"crf"}}, []string{`^crf +\+(word|shape) .* taken`}},
		{Options{Way: "rank", Dev: []string{"more.jsonl"}, Kinds: []string{"crf"}}, []string{`^crf  PERSON +[+-]\d+\.\d+ +(word|shape)\[-?\d\]`}},
	} {
		c.o.Out = "one"
		got, err := studied(t, c.o)
		wants(t, c.o.Way, got, err, exit.Done, c.lines...)
	}
	for name, o := range map[string]Options{
		"fold":    {Way: "fold", Out: "no"},
		"no kind": {Way: "folds", Out: "no", Kinds: []string{}},
		"unknown": {Way: "folds", Out: "no", Kinds: []string{"svn"}},
		"twice":   {Way: "folds", Out: "no", K: 2, Kinds: []string{"crf", "crf"}},
		"labels":  {Way: "folds", Out: "no", Labels: "none"},
		"option":  {Way: "folds", Out: "no", Kinds: []string{"crf:train.l7=2"}},
		"learns":  {Way: "folds", Out: "no", Kinds: []string{"dictionary"}},
		"groups":  {Way: "folds", Out: "no", By: "ward"},
	} {
		got, err := studied(t, o)
		wants(t, name, got, err, exit.Config)
		if _, err := os.Stat("no"); err == nil {
			t.Errorf("%s: something is written", name)
		}
	}
	if err := os.WriteFile("one/study.json", []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err = studied(t, Options{Way: "folds", K: 2, Out: "one"})
	wants(t, "what others found cannot be read", got, err, exit.Integrity)
}
