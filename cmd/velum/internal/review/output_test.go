package review

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/cmd/velum/internal/run"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/audit"
)

// outputOf makes an output of invented notes: one has a control character and is set aside, one says what hardly anybody is.
func outputOf(t *testing.T, out string, set ...string) *option.Config {
	t.Helper()
	if err := os.WriteFile("a.csv", []byte("note_id,text\na,Avisar al 600 123 456\nb,Tos\nc,Tos \x01 y fiebre\nd,\"Enfermedad de Pompe, es alcaldesa de Olot\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var cfg *option.Config
	c := &console.Console{Out: new(bytes.Buffer), Errs: new(bytes.Buffer)}
	c.StartLog()
	if err := run.Mask(t.Context(), c, func() (*option.Config, error) {
		var err error
		cfg, err = option.Load(option.Sources{}.With(append([]string{"tag.fast=true", "run.workers=1", "write.max_quarantined=1"}, set...)))
		return cfg, err
	}, &run.Options{In: []string{"a.csv"}, Out: out, Record: run.RecordOptions{Sample: "2"}}); err != nil {
		t.Fatal(err)
	}
	return cfg
}

// ran is what a review says.
func ran(t *testing.T, cfg *option.Config, o Options) (string, error) {
	t.Helper()
	var out bytes.Buffer
	c := &console.Console{Out: &out, Errs: new(bytes.Buffer)}
	c.StartLog()
	o.Lang = "en"
	err := Run(t.Context(), c, cfg, &o)
	return out.String(), err
}

// decidedBy opens a session, lets do decide, and exports.
func decidedBy(t *testing.T, cfg *option.Config, o Options, do func(s *session)) string {
	t.Helper()
	o.Lang = "en"
	s, err := open(t.Context(), cfg, &o)
	if err != nil {
		t.Fatal(err)
	}
	defer s.journal.Close()
	do(s)
	var out bytes.Buffer
	if err := s.export(t.Context(), &console.Console{Out: &out}, &o); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestSampleOfOutput: the notes of a sample come in the order of its lots, with what was masked; what is added was left.
func TestSampleOfOutput(t *testing.T) {
	t.Chdir(t.TempDir())
	cfg := outputOf(t, "out")
	o := Options{Ask: "audit", Of: "out", In: "a.csv", Out: "read.jsonl", Reader: "Ada", Export: true}
	if got, err := ran(t, cfg, o); err != nil || got != "0 of 2 notes decided: nothing to write\n" {
		t.Errorf("%q, %v", got, err)
	}
	person, _ := pipeline.ParseCategory("PERSON")
	got := decidedBy(t, cfg, o, func(s *session) {
		if len(s.notes) != 2 || len(s.order) != 2 || s.notes[s.order[0]].Rank != 0 || s.notes[s.order[1]].Rank != 1 || s.drawn.Reader != "Ada" || s.drawn.Sample == "" || s.drawn.Output == "" || s.key != nil {
			t.Fatalf("%+v %v %+v", s.notes, s.order, s.drawn)
		}
		for k, i := range s.order {
			n := &s.notes[i]
			if n.id == "a" && (len(n.spans) != 1 || n.text[n.spans[0].Start:n.spans[0].End] != "600 123 456") || n.id == "c" {
				t.Errorf("%+v", n)
			}
			spans := slices.Clone(n.spans)
			if k == 0 {
				spans = append(spans, pipeline.Span{Start: 0, End: 3, Category: person})
			}
			slices.SortFunc(spans, func(a, b pipeline.Span) int { return int(a.Start - b.Start) })
			if err := s.decide(i, spans, ""); err != nil {
				t.Fatal(err)
			}
		}
	})
	if !strings.HasPrefix(got, "2 of 2 notes decided -> read.jsonl\n1 of them hold what was not masked: ") {
		t.Errorf("%q", got)
	}
	r, _, err := Reading([]string{"read.jsonl"}, nil)
	if err != nil || r.Read != 2 || r.Leaks != 1 || r.By != "Ada" {
		t.Errorf("%+v, %v", r, err)
	}
	if err := os.WriteFile("a.csv", []byte("note_id,text\na,Otra\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ran(t, cfg, o); exit.CodeOf(err) != exit.Config || !strings.Contains(err.Error(), "1 files that were masked are not there as they were: a.csv") {
		t.Errorf("another archive: %v", err)
	}
	o.Of = "nowhere"
	if _, err := ran(t, cfg, o); exit.CodeOf(err) != exit.Config {
		t.Errorf("no output: %v", err)
	}
}

// TestQuarantineOfOutput: what a run has set aside is shown with the reason, if it is text.
func TestQuarantineOfOutput(t *testing.T) {
	t.Chdir(t.TempDir())
	cfg := outputOf(t, "out")
	o := Options{Ask: "quarantine", Of: "out", In: "a.csv", Out: "aside.jsonl", Export: true}
	got := decidedBy(t, cfg, o, func(s *session) {
		if len(s.notes) != 1 || s.unseen != 0 || s.notes[0].id != "c" || s.notes[0].text != "Tos \x01 y fiebre" || s.notes[0].about != pipeline.ControlText.String() || len(s.notes[0].spans) != 0 {
			t.Fatalf("%+v", s.notes)
		}
		if err := s.decide(0, nil, ""); err != nil {
			t.Fatal(err)
		}
	})
	if got != "1 of 1 notes decided -> aside.jsonl\nall are decided; next: velum prove evaluate --gold aside.jsonl\n" {
		t.Errorf("%q", got)
	}
	o.Ask, o.Out = "rare", "rare.jsonl"
	if _, err := ran(t, cfg, o); exit.CodeOf(err) != exit.Config || !strings.Contains(err.Error(), "has no list of such notes") {
		t.Errorf("nothing that is rare was listed: %v", err)
	}
}

// TestRareOfOutput: what singles somebody out and is marked no more may stand, and the log of the output says so.
func TestRareOfOutput(t *testing.T) {
	t.Chdir(t.TempDir())
	cfg := outputOf(t, "out", "mask.rare=review")
	o := Options{Ask: "rare", Of: "out", In: "a.csv", Out: "rare.jsonl", Export: true}
	marked := 0
	got := decidedBy(t, cfg, o, func(s *session) {
		if len(s.notes) != 1 || s.notes[0].id != "d" || len(s.notes[0].spans) == 0 || len(s.notes[0].places) != len(s.notes[0].spans) {
			t.Fatalf("%+v", s.notes)
		}
		marked = len(s.notes[0].spans)
		if err := s.decide(0, s.notes[0].spans[:1], ""); err != nil {
			t.Fatal(err)
		}
	})
	if !strings.HasPrefix(got, "1 of 1 notes decided -> rare.jsonl\nall are decided; next: the same `velum run` with --spans rare.jsonl") {
		t.Errorf("%q", got)
	}
	log, err := os.ReadFile(audit.LogIn("out.private"))
	if err != nil || strings.Contains(string(log), `"stand":[`) != (marked > 1) {
		t.Errorf("%d are marked, one stays, %v\n%s", marked, err, log)
	}
}

// TestOptions: what does not go together, and keys that there are not.
func TestOptions(t *testing.T) {
	if got := Questions(); !slices.Equal(got, []string{"spans", "audit", "quarantine", "rare", "usefulness"}) {
		t.Error(got)
	}
	known := ""
	for name := range Keys() {
		known = name
	}
	for says, o := range map[string]Options{
		"":                       {Keys: map[string]string{known: "F2"}},
		"--of is needed":         {Ask: "audit"},
		"--reader says nothing":  {Reader: "Ada"},
		"--of says nothing here": {Of: "out"},
		`no key "nobody"`:        {Keys: map[string]string{"nobody": "F2"}},
		"has no key":             {Keys: map[string]string{known: ""}},
	} {
		if err := o.Check(); says == "" && err != nil || says != "" && (exit.CodeOf(err) != exit.Config || !strings.Contains(err.Error(), says)) {
			t.Errorf("%s: %v", says, err)
		}
	}
}

// ends ends a session when its address is printed.
type ends struct {
	bytes.Buffer
	stop func()
}

func (e *ends) Write(p []byte) (int, error) {
	if strings.Contains(string(p), "Open this address") {
		defer e.stop()
	}
	return e.Buffer.Write(p)
}

// TestSession: a session compares two people, is served until it ends, and writes what was decided.
func TestSession(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"in.jsonl":    invented,
		"other.jsonl": strings.Replace(invented, `"start":17,"end":20,"label":"PERSON"`, `"start":17,"end":20,"label":"LOCATION"`, 1),
		"none.jsonl":  "", "bad.jsonl": `{"id":"a","text":null}` + "\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cfg, err := option.Load(option.Sources{})
	if err != nil {
		t.Fatal(err)
	}
	// Three spans of each, of which two are the same; three notes, of which one differs.
	got, err := ran(t, cfg, Options{In: "in.jsonl", Other: "other.jsonl", Out: "out.jsonl", Export: true})
	if err != nil || !strings.HasPrefix(got, "3 notes that both have, 1 differ; F1 0.6667 of 3 and 3 spans, kappa 0.") || !strings.HasSuffix(got, "0 of 3 notes decided: nothing to write\n") {
		t.Errorf("%q, %v", got, err)
	}
	var out bytes.Buffer
	c := &console.Console{Out: &out, Errs: new(bytes.Buffer), JSON: true}
	c.StartLog()
	var said struct {
		Kind      string `json:"message_type"`
		Agreement struct{ Notes, Differ int }
	}
	if err := Run(t.Context(), c, cfg, &Options{In: "in.jsonl", Other: "other.jsonl", Out: "j.jsonl", Export: true}); err != nil || json.NewDecoder(&out).Decode(&said) != nil || said.Kind != "agreement" || said.Agreement.Notes != 3 || said.Agreement.Differ != 1 {
		t.Errorf("%+v, %v", said, err)
	}
	ctx, stop := context.WithCancel(t.Context())
	e := &ends{stop: stop}
	c = &console.Console{Out: e, Errs: new(bytes.Buffer)}
	c.StartLog()
	if err := Run(ctx, c, cfg, &Options{In: "in.jsonl", Out: "served.jsonl"}); err != nil || !strings.Contains(e.String(), "3 notes, 0 decided. Open this address, once, on this machine:\n\n  http://127.0.0.1:") || !strings.HasSuffix(e.String(), "0 of 3 notes decided: nothing to write\n") {
		t.Errorf("%q, %v", e.String(), err)
	}
	for what, o := range map[string]Options{
		"missing.jsonl": {In: "missing.jsonl"}, "no note that can be shown": {In: "none.jsonl"}, "bad.jsonl: no note": {In: "bad.jsonl"}, "nobody": {In: "in.jsonl", Labels: "nobody"}, "other": {In: "in.jsonl", Other: "missing.jsonl"},
	} {
		o.Out, o.Export = "no.jsonl", true
		if _, err := ran(t, cfg, o); exit.CodeOf(err) != exit.Config {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := os.Stat("no.jsonl"); err == nil {
		t.Error("something is written")
	}
	if got := kappa(map[[2]string]int{}); got != 0 {
		t.Error(got)
	}
	if got := kappa(map[[2]string]int{{"x", "x"}: 7}); got != 1 {
		t.Error(got)
	}
}
