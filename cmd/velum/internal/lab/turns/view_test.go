package turns

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/velum-health/velum/cmd/velum/internal/report"
)

// TestShips: which model of a turn goes into use, by what the gate said of its own and whether its base has learned what the model in use has.
func TestShips(t *testing.T) {
	base := func(of int) *Base { return &Base{Of: of, File: "base.velum"} }
	for _, c := range []struct {
		name     string
		promoted bool
		beside   int
		base     *Base
		inUse    bool
		file     string
	}{
		{"better", true, 1, nil, true, ModelName},
		{"not better", false, 1, nil, false, ModelName},
		{"not better, with a base", false, 1, base(1), true, "base.velum"},
		{"better, with a base", true, 1, base(1), true, ModelName},
		{"a base of another model than that in use", false, 2, base(1), false, ModelName},
	} {
		turn := Turn{Number: 3, Base: c.base, Groups: []Group{{Turn: 2}}, Training: Training{Gold: 7}, Judgment: Judgment{Beside: c.beside, Promoted: c.promoted}}
		ships := turn.Ships()
		if turn.InUse() != c.inUse || ships.File != c.file {
			t.Errorf("%s: in use %v, %s, want %v, %s", c.name, turn.InUse(), ships.File, c.inUse, c.file)
		}
		if c.file == ModelName && (ships.Of != 3 || ships.Training.Gold != 7 || len(ships.Groups) != 1) {
			t.Errorf("%s: ships %+v", c.name, ships)
		}
	}
}

// TestFolders: those that are numbered without a gap from the first on.
func TestFolders(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"turn-00", "turn-01", "turn-02", "turn-04", "asked-01"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		kind  string
		first int
		want  string
	}{{"turn", 0, "[turn-00 turn-01 turn-02]"}, {"turn", 2, "[turn-02]"}, {"turn", 3, "[]"}, {"asked", 1, "[asked-01]"}, {"asked", 0, "[]"}} {
		var got []string
		for _, folder := range Folders(dir, c.kind, c.first) {
			got = append(got, filepath.Base(folder))
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("%s from %d: %v, want %s", c.kind, c.first, got, c.want)
		}
	}
}

// TestRecords: answers add up, a file that is not there adds nothing, another record is refused.
func TestRecords(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, record any) string {
		t.Helper()
		data, err := Encode(record)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	answers := write(AnswersName, Answers{Schema: AnswersSchema, Notes: 10, Unchanged: 4, Others: 1})
	asked := write(AskedName, Questions{Schema: AskedSchema, Turn: 2, Notes: []Question{{ID: "a"}, {ID: "b"}, {ID: "a"}}})
	sum := Answers{Notes: 5, Unchanged: 2, Others: 3}
	if err := sum.Add(answers); err != nil || sum != (Answers{Notes: 15, Unchanged: 6, Others: 4}) {
		t.Errorf("%+v, %v", sum, err)
	}
	if err := sum.Add(filepath.Join(dir, "none")); err != nil || sum.Notes != 15 {
		t.Errorf("no file: %+v, %v", sum, err)
	}
	if err := sum.Add(asked); err == nil || sum.Notes != 15 {
		t.Errorf("questions for answers: %+v, %v", sum, err)
	}
	q, err := ReadQuestions(asked)
	if err != nil || q.Turn != 2 || len(q.IDs()) != 2 || !q.IDs()["a"] || !q.IDs()["b"] {
		t.Errorf("%+v, %v", q, err)
	}
	if q, err = ReadQuestions(filepath.Join(dir, "none")); err != nil || len(q.Notes) != 0 {
		t.Errorf("a turn that asked nothing: %+v, %v", q, err)
	}
	if _, err = ReadQuestions(answers); err == nil {
		t.Error("answers are read for questions")
	}
}

// TestView has the table of three turns and two categories: gains against the supervised model, which turns are compared, what became worse.
func TestView(t *testing.T) {
	scored := func(f1 float64) Scores { return Scores{Strict: Ratio{F1: f1}} }
	category := func(name string, gold int64, f1, masked float64) CategoryScore {
		return CategoryScore{Category: name, Gold: gold, Ratio: Ratio{F1: f1, Recall: f1 / 2}, MaskedRecall: masked}
	}
	r := &Report{
		Supervised: Scores{Strict: Ratio{F1: .5}, Categories: []CategoryScore{category("PERSON", 9, .5, .75), category("DATE", 4, .5, .5), category("DNI", 1, .5, .5)}},
		Best:       Scores{Strict: Ratio{F1: .75}, Categories: []CategoryScore{category("DATE", 8, .25, .5), category("PERSON", 9, .5, .25), category("DNI", 0, 1, 1)}},
		BestTurn:   2, From: 1,
		Turns: []*Turn{
			{Number: 0, Validation: scored(.5), Selection: &report.Selection{Notes: 11}},
			{Number: 1, Validation: scored(.25)},
			{Number: 2, Validation: scored(.75), Training: Training{Chosen: 30}},
		},
	}
	v := r.view()
	if v.Gain != .25 || v.Notes != 30 || len(v.Rows) != 3 {
		t.Fatalf("a gain of %v by %d notes in %d turns", v.Gain, v.Notes, len(v.Rows))
	}
	for i, want := range []learnRow{{Gain: 0}, {Gain: -.25}, {Gain: .25, Compared: true}} {
		if got := v.Rows[i]; got.Gain != want.Gain || got.Compared != want.Compared {
			t.Errorf("turn %d: %+v, want %+v", i, got, want)
		}
	}
	want := []learnClass{
		{CategoryScore{"PERSON", 9, Ratio{0, .25, .5}, .75}, CategoryScore{"PERSON", 9, Ratio{0, .25, .5}, .25}},
		{CategoryScore{"DATE", 4, Ratio{0, .25, .5}, .5}, CategoryScore{"DATE", 8, Ratio{0, .125, .25}, .5}},
	} // none of DNI, of which the notes have nothing
	if !slices.Equal(v.Classes, want) {
		t.Errorf("%+v, want %+v", v.Classes, want)
	}
	r.Turns[1].Was = &Scores{}
	if got := r.view().Rows; got[0].Compared || !got[1].Compared || !got[2].Compared {
		t.Error("a first turn that was compared with the model in use is compared")
	}
}
