package turns

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/velum-health/velum/cmd/velum/internal/page"
)

// A turn that is not in use says why: it is worse, chance would do as much, or something is lost.
func TestNotInUse(t *testing.T) {
	lost := []GateLine{{Category: "PERSON", Measure: maskedRecall, Was: .9, Now: .8}, {Category: "DATE", Measure: foundRecall, Was: .7, Now: .6}, {Category: "ALL", Measure: maskedRecall, Was: .5, Now: .4}}
	for _, c := range []struct {
		what    string
		better  [2]float64
		answers int
		gated   []GateLine
		want    string
	}{
		{"worse", [2]float64{-.2, -.1}, 50, lost, "Turn 3 is worse than the model in use (95 % interval of the difference in strict F1: −0.2000 to −0.1000)"},
		{"nothing is lost", [2]float64{.1, .2}, 0, nil, "95 % interval of its gain in strict F1 is 0.1000 to 0.2000. Answers of people would tell: --ask 100."},
		{"chance", [2]float64{-.1, .1}, 0, lost, "Turn 3 is not shown to be better than the model in use: the 95 % interval of its gain in strict F1 is −0.1000 to 0.1000. Answers of people would tell"},
		{"begins at nothing", [2]float64{0, .1}, 0, lost, "Answers of people would tell: --ask 100."},
		{"ends at nothing", [2]float64{-.1, 0}, 1, lost, "More answers would tell."},
		{"better, with answers", [2]float64{.1, .2}, 1, lost, "is better (95 % interval of its gain in strict F1: 0.1000 to 0.2000) and not in use, for something is lost: masked of PERSON 0.9000 → 0.8000, found of DATE 0.7000 → 0.6000, masked of all identifiers 0.5000 → 0.4000."},
	} {
		r := Report{}
		r.In(page.LanguageOf("en"))
		turn := Turn{Number: 3, Answers: c.answers, Judgment: Judgment{Better: &c.better, Gated: c.gated}}
		if got := r.NotInUse(&turn); !strings.Contains(strings.ReplaceAll(got, "\u00a0", " "), c.want) {
			t.Errorf("%s: %q", c.what, got)
		}
	}
}

// Records of questions and answers: none is none, one of another version is refused, several add up.
func TestQuestionsAndAnswers(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	a := Answers{}
	err := errors.Join(a.Add(filepath.Join(dir, "none")), a.Add(write("one", `{"schema": "velum.answers/1", "notes": 10, "unchanged": 4, "others": 1}`)),
		a.Add(write("two", `{"schema": "velum.answers/1", "notes": 5, "unchanged": 2, "others": 3}`)))
	if err != nil || a.Notes != 15 || a.Unchanged != 6 || a.Others != 4 {
		t.Errorf("%+v, %v", a, err)
	}
	if a.Add(write("old", `{"schema": "velum.answers/0", "notes": 10}`)) == nil || a.Add(write("torn", `{"schema": "velum.an`)) == nil || a.Add(dir) == nil || a.Notes != 15 {
		t.Errorf("a record of another version, half a one or a folder is taken: %+v", a)
	}
	q := Questions{Schema: AskedSchema, Turn: 2, Notes: []Question{{ID: "a"}, {ID: "b"}}}
	data, err := Encode(q)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := ReadQuestions(write("asked", string(data))); err != nil || got.Turn != 2 || len(got.IDs()) != 2 || !got.IDs()["b"] {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := ReadQuestions(filepath.Join(dir, "none")); err != nil || len(got.Notes) != 0 {
		t.Errorf("%+v, %v", got, err)
	}
	for _, name := range []string{"old", "torn", ""} {
		if _, err := ReadQuestions(filepath.Join(dir, name)); err == nil {
			t.Errorf("%q is read", name)
		}
	}
}
