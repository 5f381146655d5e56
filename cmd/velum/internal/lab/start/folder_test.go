package start

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/exit"
)

// monthIn is a start in a folder with so many turns.
func monthIn(t *testing.T, turns int) *month {
	t.Helper()
	m := &month{Console: &console.Console{Out: io.Discard, Errs: io.Discard}, Options: &Options{In: "archive", Out: t.TempDir()}}
	for n := range turns {
		write(t, m.at(learnedName, fmt.Sprintf("turn-%02d", n), "turn.json"), "{}")
	}
	return m
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
}

// TestRead: a folder goes on with the archive that it began with; another one is a slip as long as nothing was learned.
func TestRead(t *testing.T) {
	m := monthIn(t, 0)
	if err := m.read(); err != nil || m.state.In != "archive" || m.state.Schema != stateSchema {
		t.Fatalf("an empty folder: %+v, %v", m.state, err)
	}
	m.state.Agreed = []float64{.5}
	if err := m.save(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		in           string
		turns        int
		good, config bool // the proposed configuration stays
	}{{"archive", 0, true, true}, {"./archive/", 2, true, true}, {"other", 0, true, false}, {"other", 1, false, true}} {
		next := monthIn(t, c.turns)
		next.Options.In = c.in
		state, err := os.ReadFile(m.at(stateName))
		if err != nil {
			t.Fatal(err)
		}
		write(t, next.at(stateName), string(state))
		write(t, next.at(configName), "version: 1\n")
		err = next.read()
		_, there := os.Stat(next.at(configName))
		if (err == nil) != c.good || (there == nil) != c.config || len(next.state.Agreed) != 1 || next.turns() != c.turns {
			t.Errorf("%s with %d turns: %v, configuration %v, %+v", c.in, c.turns, err, there, next.state)
		}
		if c.good && filepath.Clean(next.state.In) != filepath.Clean(c.in) {
			t.Errorf("%s: goes on with %s", c.in, next.state.In)
		}
	}
	write(t, m.at(stateName), `{"schema":"velum.start/0"}`)
	if err := m.read(); err == nil {
		t.Error("the state of another velum is read")
	}
}

// TestRunRefuses: no question at all, and a folder of somebody else.
func TestRunRefuses(t *testing.T) {
	m := monthIn(t, 0)
	for _, ask := range []int{0, -1} {
		m.Options.Ask = ask
		if err := Run(t.Context(), m.Console, m.Options); exit.CodeOf(err) != exit.Config {
			t.Errorf("--ask %d: %v", ask, err)
		}
	}
	write(t, m.at("letter.txt"), "x")
	m.Options.Ask = 1
	if err := Run(t.Context(), m.Console, m.Options); err == nil {
		t.Error("a folder with a letter is taken")
	}
	if _, err := os.Stat(m.at(stateName)); !errors.Is(err, os.ErrNotExist) {
		t.Error("something was written into the folder of somebody else")
	}
}

// notes are questions and answers of one evening. Of what was asked, a has its name, and c has none; b has a border too far. A person
// says that a is right, that b is shorter, and that c has a name: three identifiers, of which two had been masked, and one was right.
// Precision is 1/2 and recall 1/3: F1 is 2/5.
const (
	questions = `{"id":"a","text":"ve Ada","spans":[{"start":3,"end":6,"label":"PERSON"}]}
{"id":"b","text":"ve Bea a","spans":[{"start":3,"end":8,"label":"PERSON"}]}
{"id":"c","text":"ve Cleo","spans":[]}
{"id":"d","text":"ve","spans":[]}
`
	answers = `{"id":"a","text":"ve Ada","spans":[{"start":3,"end":6,"label":"PERSON"}]}
{"id":"b","text":"ve Bea a","spans":[{"start":3,"end":6,"label":"PERSON"}]}
{"id":"c","text":"ve Cleo","spans":[{"start":3,"end":7,"label":"PERSON"}]}
`
	asked = `{"schema":"velum.asked/1","notes":[{"id":"a","why":"random"},{"id":"b","why":"unsure"},{"id":"c","why":"random"},{"id":"d","why":"unsure"}]}`
)

// TestCompare: what was asked against what was answered, of all notes and of those drawn at random.
func TestCompare(t *testing.T) {
	m := monthIn(t, 0)
	write(t, m.questions(0), questions)
	write(t, filepath.Join(filepath.Dir(m.questions(0)), "asked.json"), asked)
	if m.waiting() {
		t.Error("nobody asked, and questions wait")
	}
	if err := m.asked(); err != nil || len(m.state.Evenings) != 1 || m.state.Evenings[0].Asked != 4 || !m.waiting() {
		t.Fatalf("%+v, %v", m.state.Evenings, err)
	}
	if sum, err := m.exported(t.Context(), 0); sum != "" || err != nil {
		t.Errorf("no answers: %q, %v", sum, err)
	}
	write(t, m.answers(0), answers)
	if sum, err := m.exported(t.Context(), 0); len(sum) != 64 || err != nil {
		t.Errorf("answers: %q, %v", sum, err)
	}
	random, err := m.random(0)
	if err != nil || !maps.Equal(random, map[string]bool{"a": true, "c": true}) {
		t.Errorf("drawn at random: %v, %v", random, err)
	}
	if err := m.compare(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	e := m.state.Evenings[0]
	if e.Read != 3 || e.Seconds != 0 || m.waiting() {
		t.Errorf("%d notes read in %d s", e.Read, e.Seconds)
	}
	// Of a and c: two identifiers, one masked and right: precision 1, recall 1/2.
	for name, c := range map[string]struct {
		got  *scores
		want string
	}{
		"all":    {e.Before, "{3 3 2 0.400}"},
		"random": {e.Random, "{2 2 1 0.667}"},
	} {
		if c.got == nil || fmt.Sprintf("{%d %d %d %.3f}", c.got.Notes, c.got.Gold, c.got.Masked, c.got.StrictF1) != c.want {
			t.Errorf("%s: %v, want %s", name, c.got, c.want)
		}
	}
	if m.have("answers-01") {
		t.Error("answers that nobody took are there")
	}
	write(t, m.at(learnedName, "answers-01", "notes.jsonl"), answers)
	if !m.have("answers-01") {
		t.Error("answers that were taken are not there")
	}
}

// TestLines has the words of a start before the first evening, after it, and at the end.
func TestLines(t *testing.T) {
	good := &scores{Notes: 4, Gold: 5, Masked: 3, StrictF1: .5}
	for _, c := range []struct {
		name  string
		m     month
		turns int
		want  []string
	}{
		{"the first evening", month{state: state{Evenings: []evening{{Asked: 10}}}}, 1, []string{
			"masked: 90 of 100 notes, 10 in quarantine -> OUT/masked/masked", "  green: all is well",
			"\nnext: 10 questions, some 2 minutes; stop when you are tired, what is decided counts\nvelum review --in OUT/learned/ask-01/notes.jsonl --out OUT/answers-01.jsonl --config OUT/velum.yaml",
			"then, this evening or the next one:\nvelum start --ask 10",
		}},
		{"the second evening", month{
			said:  summary{},
			state: state{Evenings: []evening{{Asked: 10, Read: 4, Seconds: 100, Before: good, Random: &scores{Notes: 1}}, {Asked: 20}}, Agreed: []float64{.75}},
		}, 2, []string{
			"masked: 90 of 100 notes, 10 in quarantine -> OUT/masked/masked", "  green: all is well",
			"evening 1: 4 of 10 questions answered in 100 s: of 5 identifiers in 4 notes 3 had been masked, strict F1 0.500",
			"  those drawn at random: of 0 identifiers in 1 notes 0 had been masked, strict F1 0.000",
			"so far 4 notes were read in 1.6 minutes; the month is masked by the model of turn 1 of 1", "  it is better",
			"the last turn kept 75.0 % of what the model finds; two above 99 % end the questions",
			"\nnext: 20 questions, some 9 minutes; stop when you are tired, what is decided counts\nvelum review --in OUT/learned/ask-02/notes.jsonl --out OUT/answers-02.jsonl --config OUT/velum.yaml",
			"then, this evening or the next one:\nvelum start --ask 10",
		}},
		{"the end", month{
			said:  summary{Done: "nobody knows more"},
			state: state{Evenings: []evening{{Asked: 3, Read: 3, Before: good, Random: &scores{}}}},
		}, 1, []string{
			"masked: 90 of 100 notes, 10 in quarantine -> OUT/masked/masked", "  green: all is well",
			"evening 1: 3 of 3 questions answered: of 5 identifiers in 4 notes 3 had been masked, strict F1 0.500",
			"so far 3 notes were read; the month is masked by the first model", "  it is as good",
			"that is enough: nobody knows more",
			"\nnext, for every month that comes:\nvelum run --in ARCHIVE --out DIR --model OUT/learned/models --config OUT/velum.yaml",
		}},
	} {
		m := c.m
		in := monthIn(t, c.turns)
		m.Console, m.Options = in.Console, in.Options
		m.Typed = []string{"start", "--more", "--ask", "10", "-q"}
		m.said.Rows, m.said.Masked, m.said.Aside, m.said.Light, m.said.Sentence = 100, 90, 10, "green", "all is well"
		report := `{"schema":"velum.learn/3","sentence":"it is as good","promoted_turn":0,"turns":[{"promoted":true}]}`
		if c.turns > 1 {
			report = `{"schema":"velum.learn/3","sentence":"it is better","promoted_turn":1,"turns":[{"promoted":true},{"promoted":true}]}`
		}
		write(t, m.at(learnedName, "report.json"), report)
		var out strings.Builder
		m.Console = &console.Console{Out: &out, Errs: io.Discard}
		if err := m.print(); err != nil {
			t.Fatal(err)
		}
		got, want := strings.ReplaceAll(out.String(), m.Options.Out, "OUT"), strings.Join(c.want, "\n")+"\n"
		if got != want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, want)
		}
		m.Own = true
		if next := m.next(); strings.Contains(next[0], "--config") {
			t.Errorf("%s: who has a configuration is told of another: %s", c.name, next[0])
		}
	}
}

// TestPrint: the sums of all evenings, for machines. 75 seconds are 1.2 minutes, of which a tenth is the least.
func TestPrint(t *testing.T) {
	var out strings.Builder
	m := monthIn(t, 1)
	m.Console = &console.Console{Out: &out, Errs: io.Discard, JSON: true}
	write(t, m.at(learnedName, "report.json"), `{"schema":"velum.learn/3","sentence":"one","remarks":["two"],"promoted_turn":0,"turns":[{"promoted":true}]}`)
	m.state.Evenings = []evening{{Asked: 5, Read: 2, Seconds: 40}, {Asked: 5, Read: 3, Seconds: 35}}
	if err := m.print(); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"message_type":"start"`, `"notes_read":5`, `"minutes":1.2,`, `"judged":["one","two"]`, `"in_use":0`, `"again":false`} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s is not in %s", want, out.String())
		}
	}
	m = monthIn(t, 1)
	out.Reset()
	m.Console = &console.Console{Out: &out, Errs: io.Discard, Quiet: true}
	write(t, m.at(learnedName, "report.json"), `{"schema":"velum.learn/3"}`)
	if err := m.print(); err != nil || out.Len() > 0 {
		t.Errorf("--quiet says %q, %v", out.String(), err)
	}
}
