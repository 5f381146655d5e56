package learn

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
)

func text(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestAnswers asks people about notes, takes what they say, and learns from it, judged by folds: no note is asked about twice, and of two
// answers the later one counts.
func TestAnswers(t *testing.T) {
	t.Chdir(t.TempDir())
	made(t, 30, 3, "gold.jsonl", "jsonl")
	made(t, 60, 1, "archive", "archive")
	put := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("few.txt", "version 1\nsequence line\nword 0\nshape 0\ngazetteer 0\n")
	learn := func(o Options, set ...string) (string, error) {
		o.Out = "one"
		return learned(t, o, append([]string{"learn.dev="}, set...)...)
	}
	got, err := learn(Options{Ask: 4, To: "jsonl", Questions: "asked.jsonl"})
	wants(t, "before any turn", got, err, exit.Done, `^4 notes to correct in asked.jsonl; give them back with --answers$`)
	asked := strings.SplitAfter(strings.TrimSuffix(text(t, "asked.jsonl"), "\n")+"\n", "\n")[:4]
	got, err = learn(Options{Ask: 3, To: "jsonl"})
	wants(t, "others, beside the record", got, err, exit.Done, `^3 notes to correct in one/ask-02/notes.jsonl; `)
	for _, line := range strings.SplitAfter(text(t, "one/ask-02/notes.jsonl"), "\n")[:3] {
		for _, before := range asked {
			if line == before {
				t.Errorf("asked twice: %s", line)
			}
		}
	}
	got, err = learn(Options{Ask: 1000, To: "brat"})
	wants(t, "all that is left", got, err, exit.Done, `^\d+ notes to correct in one/ask-03/notes; `)
	if all, _ := filepath.Glob("one/ask-03/notes/*.txt"); len(all) == 0 {
		t.Error("no note is written")
	}
	for range 5 {
		if got, err = learn(Options{Ask: 1000, To: "jsonl"}); err != nil {
			break
		}
	}
	wants(t, "nothing is left", got, err, exit.Nothing, `no notes to ask about: the 60 notes of the archive are labelled, asked about or learned from, or have no words`)
	put("strangers.jsonl", `{"id":"stranger","text":"x","spans":[]}`+"\n")
	got, err = learn(Options{Answers: []string{"strangers.jsonl"}})
	wants(t, "notes that nobody asked about", got, err, exit.Config, `strangers.jsonl: none of the notes was asked about`)
	got, err = learn(Options{Answers: []string{"missing.jsonl"}})
	wants(t, "no answers", got, err, exit.Config)
	if all, _ := filepath.Glob("one/answers*"); len(all) > 0 {
		t.Errorf("%q are left behind", all)
	}
	put("same.jsonl", asked[0]+asked[1]+asked[0]+`{"id":"stranger","text":"x","spans":[]}`+"\n")
	got, err = learn(Options{Answers: []string{"same.jsonl"}})
	wants(t, "as they were asked", got, err, exit.Done, `answers taken" notes=2 unchanged=2 spans=\d+ others=2$`, `all answers came back as they were asked: is this the corrected copy\?" notes=2`, `strict F1`)
	none := asked[1][:strings.Index(asked[1], `"spans":`)] + `"spans":[]}` + "\n"
	put("changed.jsonl", none+asked[2])
	got, err = learn(Options{Answers: []string{"changed.jsonl"}}, "learn.turns=2")
	wants(t, "one is changed", got, err, exit.Done, `answers taken" notes=2 unchanged=[12] spans=\d+ others=0$`)
	if !strings.Contains(text(t, "one/answers-02/answers.json"), `"notes": 2`) && !strings.Contains(text(t, "one/answers-02/answers.json"), `"notes":2`) {
		t.Error(text(t, "one/answers-02/answers.json"))
	}
	for what, c := range map[string]struct{ set, says string }{
		"a kind that does not learn": {"learn.kind=dictionary", `learn.kind: "dictionary"`},
		"people who object":          {"people.exclude=gold.jsonl", `people.exclude: learning leaves nobody out|mistake`},
		"no archive":                 {"learn.in=", `nothing to learn from`},
	} {
		got, err := learn(Options{}, c.set)
		wants(t, what, got, err, exit.Config, c.says)
	}
}
