package proof

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/files"
	"github.com/velum-health/velum/cmd/velum/internal/run"
	"github.com/velum-health/velum/pipeline/audit"
	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/pipeline/patientid"
)

// printed is what a check printed as JSON.
func printed(t *testing.T, into any, do func(c *console.Console) error) error {
	t.Helper()
	var out bytes.Buffer
	c := &console.Console{Out: &out, Errs: new(bytes.Buffer), JSON: true}
	c.StartLog()
	err := do(c)
	if into != nil && json.Unmarshal(out.Bytes(), into) != nil {
		t.Errorf("no JSON: %s", &out)
	}
	return err
}

// TestSolve: of none of 100 notes 1-0.05^(1/100) may leak, 29.5 of 1,000; of a rate of one in a thousand 2,995 have to be read.
func TestSolve(t *testing.T) {
	for _, c := range []struct {
		l              Leaks
		read, left     int64
		observed, upto float64
	}{
		{Leaks{Read: 100, Confidence: .95, Notes: 1000}, 100, 30, 0, 1 - math.Pow(.05, .01)},
		{Leaks{Rate: .001, Confidence: .95}, 2995, 0, 0, 1 - math.Pow(.05, 1./2995)},
		{Leaks{Read: 4, Leaks: 4, Confidence: .5, Notes: 7}, 4, 7, 1, 1},
		{Leaks{Read: 1, Confidence: .95}, 1, 0, 0, .95},
	} {
		if err := c.l.Solve(); err != nil || c.l.Kind != "proof" || c.l.Read != c.read || c.l.Left != c.left || c.l.Observed != c.observed || math.Abs(c.l.Upper-c.upto) > 1e-9 {
			t.Errorf("%+v, %v", c.l, err)
		}
	}
	for name, l := range map[string]Leaks{
		"--confidence": {Read: 1}, "--confidence must": {Read: 1, Confidence: 1}, "--rate": {Rate: 1, Confidence: .9}, "--rate must": {Rate: -.1, Confidence: .9},
		"--read": {Confidence: .9}, "--read must": {Read: 3, Leaks: -1, Confidence: .9}, "--leaks": {Read: 3, Leaks: 4, Confidence: .9}, "--leaks from": {Read: 3, Notes: -1, Confidence: .9},
	} {
		if err := l.Solve(); exit.CodeOf(err) != exit.Config || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	kappa := .5
	var b bytes.Buffer
	full := Leaks{Read: 30, Leaks: 3, Confidence: .95, Observed: .1, Upper: .25, Notes: 100, Left: 25, By: "Ada", Others: 2, Kappa: &kappa, Strata: []audit.Stratum{{Notes: 40, Read: 20, Leaks: 3}, {Notes: 60, Read: 10}}}
	if err := (&console.Console{Out: &b}).Tell(full, LeaksText); err != nil || b.String() != `30 notes read, 3 with a leak (10 %)
  stratum 1, the least sure first: 20 of 40 notes read, 3 with a leak
  stratum 2, the least sure first: 10 of 60 notes read, 0 with a leak
at 95 % confidence at most 25 % of all notes leak: 1 note in 4
read by Ada
other readings of this output are recorded (2): the worst stands, until somebody decides with velum prove adjudicate
agreement of the two readers: kappa 0.50
of 100 notes: at most 25
(exact bound for notes drawn without replacement, whatever the confidences are worth, one-sided; for a random sample and a reader who sees every leak)
` {
		t.Errorf("%s, %v", &b, err)
	}
	b.Reset()
	wanted := Leaks{Rate: .001, Confidence: .95, Read: 2995, Upper: .001}
	if err := (&console.Console{Out: &b}).Tell(wanted, LeaksText); err != nil || !strings.HasPrefix(b.String(), "to prove fewer than 1 note in 1000 at 95 % confidence: read 2995 notes and find no leak\nat 95 % confidence at most 0.1 % of all notes leak: 1 note in 1000\n(exact binomial bound") {
		t.Errorf("%s, %v", &b, err)
	}
	if err := (&console.Console{Out: broken{}}).Tell(wanted, LeaksText); !errors.Is(err, os.ErrClosed) {
		t.Error(err)
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, os.ErrClosed }

// TestRecord records a reading of the sample of an output, another beside it, and which of the two stands.
func TestRecord(t *testing.T) {
	t.Chdir(t.TempDir())
	put(t, "a.csv", "note_id,text\na,Avisar al 600 123 456\nb,Fiebre\nc,Tos\n")
	if _, err := said(func(c *console.Console) error {
		return run.Mask(t.Context(), c, configured(), &run.Options{In: []string{"a.csv"}, Out: "out", Record: run.RecordOptions{Sample: "2"}})
	}); err != nil {
		t.Fatal(err)
	}
	masked(t, "a.csv", "none")
	private, m, err := files.Private("out")
	if err != nil {
		t.Fatal(err)
	}
	sample, extent, err := files.Sample(private, m)
	if err != nil {
		t.Fatal(err)
	}
	reading := func(by string) *audit.Reading {
		r := &audit.Reading{Read: 2, Strata: []audit.Stratum{{To: 18, Notes: 3, Read: 2}}, Sample: sample.SHA256, By: by, Readers: []audit.Reader{{Journal: by}}}
		r.Output = extent.Output
		return r
	}
	record := func(dir string, r *audit.Reading, sums map[string]bool) (*Leaks, error) {
		l := &Leaks{Confidence: .95}
		return l, l.Record(dir, r, sums)
	}
	l, err := record("out", reading("Ada"), nil)
	if err != nil || l.Notes != 3 || l.By != "Ada" || l.Others != 0 || l.Left != 1 || len(l.Strata) != 1 { // were it two of three, one would have been seen
		t.Errorf("%+v, %v", l, err)
	}
	second := reading("Pau")
	if l, err = record("out", second, map[string]bool{"Ada": true}); err != nil || l.By != "Pau" || l.Others != 1 || len(second.Before) != 1 || second.Before[0] != "Ada" {
		t.Errorf("%+v, %+v, %v", l, second, err)
	}
	for what, r := range map[string]func(r *audit.Reading){
		"another sample": func(r *audit.Reading) { r.Sample = "x" }, "another output": func(r *audit.Reading) { r.Output = "x" },
	} {
		x := reading("Eva")
		r(x)
		if _, err := record("out", x, nil); exit.CodeOf(err) != exit.Config || !strings.Contains(err.Error(), "another sample was read, or the output has changed since") {
			t.Errorf("%s: %v", what, err)
		}
	}
	for _, dir := range []string{"nowhere", "none"} {
		if _, err := record(dir, reading("Eva"), nil); err == nil {
			t.Errorf("%s: no error", dir)
		}
	}
	none := reading("Eva")
	none.Strata = nil
	if l, err := record("out", none, nil); err != nil || l.Notes != 3 || l.Left != 3 || len(l.Strata) != 1 { // of what nobody has read all may leak
		t.Errorf("%+v, %v", l, err)
	}
	more := reading("Eva")
	more.Strata = []audit.Stratum{{From: 0, To: 1, Notes: 1000}}
	if _, err := record("out", more, nil); exit.CodeOf(err) != exit.Integrity || !strings.Contains(err.Error(), "is not the sample of this output") {
		t.Errorf("strata of another: %v", err)
	}
	all, err := audit.Readings(audit.LogIn(private))
	if err != nil || len(all) != 3 {
		t.Fatalf("%+v, %v", all, err)
	}
	got, err := said(func(c *console.Console) error { return Adjudicate(t.Context(), c, &LogOptions{File: "out"}) })
	wants(t, "readings", got, err, exit.Done, `^line \d+, \d+-\d\d-\d\d \d\d:\d\d, output [0-9a-f]{12}: 2 notes read by Ada, 0 with a leak, at most 33.33 %$`, `read by Pau, 0 with a leak, at most 33.33 %$`)
	got, err = said(func(c *console.Console) error {
		return Adjudicate(t.Context(), c, &LogOptions{File: "out", Judged: audit.Judgement{Line: all[0].Line, By: "Eva", Why: "she saw more"}})
	})
	wants(t, "adjudicated", got, err, exit.Done, `^Eva lets the reading of line \d+ stand: 2 notes, 0 with a leak$`)
	got, err = said(func(c *console.Console) error { return Adjudicate(t.Context(), c, &LogOptions{File: "out"}) })
	wants(t, "set aside", got, err, exit.Done, `read by Pau, .*, set aside by Eva$`, `!read by Ada, .*set aside`)
	if err := printed(t, nil, func(c *console.Console) error { return Adjudicate(t.Context(), c, &LogOptions{File: "out"}) }); err != nil {
		t.Error(err)
	}
}

// TestMachines: checks as JSON.
func TestMachines(t *testing.T) {
	t.Chdir(t.TempDir())
	put(t, "a.csv", "note_id,patient,text\na,100,Avisar al 600 123 456\nb,200,Fiebre\n")
	put(t, "list.csv", "patient\n200\n")
	masked(t, "a.csv", "out", "read.columns.patient=patient", "people.exclude=list.csv")
	masked(t, "a.csv", "other", "mask.operators=TELEPHONE=suppress")
	var check struct {
		Kind  string `json:"message_type"`
		Trees []json.RawMessage
	}
	if err := printed(t, &check, func(c *console.Console) error { return Trees(t.Context(), c, &Options{Path: "out"}) }); err != nil || check.Kind != "check" || len(check.Trees) != 2 {
		t.Errorf("%+v, %v", check, err)
	}
	var log struct {
		Kind  string `json:"message_type"`
		Lines int
		Head  string
	}
	if err := printed(t, &log, func(c *console.Console) error { return Log(t.Context(), c, &LogOptions{File: "out"}) }); err != nil || log.Kind != "audit" || log.Lines < 3 || len(log.Head) != 64 {
		t.Errorf("%+v, %v", log, err)
	}
	var absent struct {
		Kind string `json:"message_type"`
	}
	if err := printed(t, &absent, func(c *console.Console) error {
		return Absent(t.Context(), c, configured("read.columns.patient=patient", "people.exclude=list.csv"), &Options{In: []string{"a.csv"}, Path: "out"})
	}); err != nil || absent.Kind != "absent" {
		t.Errorf("%+v, %v", absent, err)
	}
	for what, o := range map[string]*Options{"no archive": {Path: "out"}} {
		if _, err := said(func(c *console.Console) error {
			return Absent(t.Context(), c, configured("read.columns.patient=patient", "people.exclude=list.csv"), o)
		}); exit.CodeOf(err) != exit.Config || !strings.Contains(err.Error(), "--exclude and --in go together") {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := said(func(c *console.Console) error {
		return Absent(t.Context(), c, configured("people.exclude=list.csv"), &Options{In: []string{"a.csv"}, Path: "out"})
	}); exit.CodeOf(err) != exit.Config {
		t.Errorf("no column of patients: %v", err)
	}
	if err := printed(t, nil, func(c *console.Console) error {
		return Diff(t.Context(), c, &DiffOptions{Before: "out", After: "other"})
	}); err != nil {
		t.Error(err)
	}
	got, err := said(func(c *console.Console) error {
		return Diff(t.Context(), c, &DiffOptions{Before: "out", After: "other"})
	})
	wants(t, "notes of one alone", got, err, exit.Done, `^notes that both have +\d$`)
	if err := printed(t, nil, func(c *console.Console) error { return Releases(t.Context(), c, &LogOptions{File: "out"}) }); err != nil {
		t.Error(err)
	}
}

// TestNobodys: a note whose patient's id stands for nothing is nobody's; one with an id beside nothing is not.
func TestNobodys(t *testing.T) {
	for raw, want := range map[string]bool{"": true, "NaN": true, " null ": true, "...": true, "N/A\x1f": true, "7": false, "NaN\x1f7": false} {
		raw = strings.ReplaceAll(raw, "\x1f", string([]byte{patientid.Between}))
		a := &absence{remembered: &audit.Forgotten{}, here: unitRows{map[int64]bool{}, map[int64]bool{}, map[int64]nearID{}}}
		a.note(&commit.Unit{}, 3, []byte(raw))
		if a.here.nobodys[3] != want {
			t.Errorf("%q: %v", raw, a.here.nobodys)
		}
	}
}
