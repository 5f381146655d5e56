package learn

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/notes"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/stages/read/fence"
	"github.com/velum-health/velum/stages/synth"
)

// TestMain: the program decodes Parquet in processes of its own, which are this one here.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == fence.WorkerArgument {
		os.Exit(fence.Work(os.Stdin, os.Stdout))
	}
	os.Exit(m.Run())
}

func made(t *testing.T, count int64, seed uint64, out, to string) {
	t.Helper()
	c := &console.Console{Out: new(bytes.Buffer), Errs: new(bytes.Buffer), Quiet: true}
	c.StartLog()
	o := notes.SynthOptions{Notes: synth.Options{Notes: count, Seed: seed, Density: 5}, Split: "train", Out: out, To: to, Months: 1}
	if err := notes.Synth(t.Context(), c, &o); err != nil {
		t.Fatal(err)
	}
}

// learned is what learning prints.
func learned(t *testing.T, o Options, set ...string) (string, error) {
	t.Helper()
	var out, errs bytes.Buffer
	c := &console.Console{Out: &out, Errs: &errs}
	c.StartLog()
	cfg, err := option.Load(option.Sources{}.With(append([]string{"run.workers=1", "learn.in=archive", "learn.gold=gold.jsonl", "learn.dev=dev.jsonl", "learn.slice=80", "learn.turns=1",
		"choose.k=20", "choose.min_confidence=0.4", "train.iterations=3", "train.template=./few.txt"}, set...)))
	if err != nil {
		t.Fatal(err)
	}
	if o.BackTo == 0 {
		o.BackTo = -1
	}
	err = Learn(t.Context(), c, cfg, &o)
	return out.String() + errs.String(), err
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

// contents are all that stands in a folder, by path.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(name)
		all[strings.TrimPrefix(name, dir)] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestLearn learns a turn, goes on with another, and makes the same of a second folder with other workers.
func TestLearn(t *testing.T) {
	t.Chdir(t.TempDir())
	made(t, 30, 3, "gold.jsonl", "jsonl")
	made(t, 30, 5, "dev.jsonl", "jsonl")
	made(t, 200, 1, "archive", "archive")
	if err := os.WriteFile("few.txt", []byte("version 1\nsequence line\nword 0\nshape 0\ngazetteer 0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := learned(t, Options{Out: "one"})
	wants(t, "a turn", got, err, exit.Done, `^1 turn: strict F1 `)
	for _, name := range []string{"turn-00/model.velum", "turn-01/model.velum", "turn-01/selected.parquet", "models/_CURRENT", "report.html", "report.json"} {
		if _, err := os.Stat("one/" + name); err != nil {
			t.Error(err)
		}
	}
	got, err = learned(t, Options{Out: "one"}, "learn.turns=2")
	wants(t, "one more", got, err, exit.Done, `^2 turns: strict F1 `)
	got, err = learned(t, Options{Out: "two"}, "learn.turns=2", "run.workers=2")
	wants(t, "another folder", got, err, exit.Done)
	one, two := contents(t, "one"), contents(t, "two")
	for name, text := range one {
		if two[name] != text {
			t.Errorf("%s: other bytes", name)
		}
	}
	if len(one) != len(two) {
		t.Errorf("%d and %d files", len(one), len(two))
	}
	got, err = learned(t, Options{Out: "two", BackTo: 9}, "learn.turns=2")
	wants(t, "back to what was not", got, err, exit.Config)
	got, err = learned(t, Options{Out: "two"}, "learn.turns=3", "choose.k=7")
	wants(t, "other options", got, err, exit.Config, `options or input are not those of turn 2`)
	got, err = learned(t, Options{Out: "two", BackTo: 1}, "learn.turns=2", "choose.k=7")
	wants(t, "back", got, err, exit.Done)
	if back := contents(t, "two"); back["/turn-01/turn.json"] != one["/turn-01/turn.json"] || back["/turn-02/turn.json"] == one["/turn-02/turn.json"] {
		t.Error("turns after going back")
	}
	got, err = learned(t, Options{Out: "one", Ask: 5, To: "jsonl", Questions: "asked.jsonl"}, "learn.turns=2")
	wants(t, "questions", got, err, exit.Done)
	if asked, err := os.ReadFile("asked.jsonl"); err != nil || strings.Count(string(asked), "\n") != 5 {
		t.Errorf("%d notes are asked, %v", strings.Count(string(asked), "\n"), err)
	}
	for name, c := range map[string]struct {
		o   Options
		set string
	}{"nothing to begin with": {Options{Out: "three"}, "learn.gold="}, "nothing to learn from": {Options{Out: "three"}, "learn.in=nowhere"}, "somebody else's": {Options{Out: "archive"}, ""}} {
		set := []string{"learn.turns=1"}
		if c.set != "" {
			set = append(set, c.set)
		}
		got, err := learned(t, c.o, set...)
		wants(t, name, got, err, exit.Config)
	}
	text := one["/turn-01/selected.parquet"]
	if err := os.WriteFile("one/turn-01/selected.parquet", []byte(text+"x"), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err = learned(t, Options{Out: "one"}, "learn.turns=3")
	wants(t, "a turn that was changed", got, err, exit.Integrity, `turn-01/selected.parquet: is not what the turn wrote`)
}
