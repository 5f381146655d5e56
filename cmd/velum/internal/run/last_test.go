package run

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/flow"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/cmd/velum/internal/report"
	"github.com/velum-health/velum/cmd/velum/internal/selection"
	"github.com/velum-health/velum/pipeline/audit"
	"github.com/velum-health/velum/stages/read/archive"
)

// TestLastStepName: whatever changes what the last step makes is part of its name, so that it is done again, and what it does not
// read is not.
func TestLastStepName(t *testing.T) {
	name := func(l *lastStep, set ...string) string {
		t.Helper()
		c, err := option.Load(option.Sources{}.With(set))
		if err != nil {
			t.Fatalf("%q: %+v", set, err)
		}
		l.masking = &masking{Flow: &flow.Flow{Config: c}}
		return l.String()
	}
	plain := name(new(lastStep))
	for _, c := range []struct {
		what string
		last lastStep
		set  string
		adds string // to the name; "": the name is the same
	}{
		{"nothing", lastStep{}, "run.workers=3", ""},
		{"selection that is off", lastStep{}, "choose.k=7", ""},
		{"groups that are off", lastStep{}, "anonymity.suppress=0.1", ""},
		{"an extract of months", lastStep{stand: map[uint64]bool{}}, "read.unit_notes=10", ""},
		{"quarantine", lastStep{}, "write.max_quarantined=0.25", "write.max_quarantined=0.25"},
		{"language", lastStep{}, "report.lang=ca", "report.lang=ca"},
		{"selection", lastStep{selection: new(selection.Selector)}, "choose.k=7", "choose.k=7"},
		{"groups", lastStep{}, "anonymity.k=5 read.keep=sex anonymity.columns=sex=value", "anonymity.k=5 anonymity.l="},
		{"a reading", lastStep{readings: []audit.Recorded{{Reading: &audit.Reading{Read: 40, Leaks: 2, Extent: audit.Extent{Output: "0123456789abcdef"}}}}}, "run.workers=3", "read=2/40 of 0123456789ab, set aside for 0"},
		{"a reading that was judged", lastStep{readings: []audit.Recorded{{Reading: &audit.Reading{Read: 40, Extent: audit.Extent{Output: "0123456789abcdef"}}, Judged: &audit.Judgement{Line: 9}}}}, "run.workers=3", "read=0/40 of 0123456789ab, set aside for 9"},
		{"dates that move", lastStep{}, "mask.operators=DATE=shift", `dates="`},
		{"places that stand", lastStep{stand: map[uint64]bool{1: true, 2: false}}, "run.workers=3", "stand=2"},
		{"attacks", lastStep{attacks: new(report.Attacks)}, "gate.attacks=a.json gate.max_leak=0.5", "gate.max_leak=0.5"},
	} {
		got := name(&c.last, strings.Fields(c.set)...)
		if c.adds == "" && got != plain {
			t.Errorf("%s: %q, want %q", c.what, got, plain)
		}
		if c.adds != "" && (!strings.Contains(" "+got+" ", " "+c.adds) || got == plain) {
			t.Errorf("%s: no %q in %q", c.what, c.adds, got)
		}
	}
	if !strings.HasPrefix(plain, "write.max_quarantined=") || strings.Contains(plain, "\n") {
		t.Error(plain)
	}
}

// TestDrift: what differs between files is said once a column and change, with how many files have it and the first of them.
func TestDrift(t *testing.T) {
	var log bytes.Buffer
	c := &console.Console{Out: &log, Errs: &log}
	c.StartLog()
	m := &masking{Console: c, archive: &archive.Archive{Drift: []archive.Drift{
		{Path: "2.parquet", Column: "sex", Change: "is missing"}, {Path: "3.parquet", Column: "sex", Change: "is missing"},
		{Path: "3.parquet", Column: "age", Change: "is new: INT64"}, {Path: "4.parquet", Column: "sex", Change: "is new: INT64"},
	}}}
	m.logDrift()
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	for k, want := range []string{`column=sex change="is missing" files=2 first=2.parquet`, `column=age change="is new: INT64" files=1 first=3.parquet`, `column=sex change="is new: INT64" files=1 first=4.parquet`} {
		if len(lines) != 3 || !strings.Contains(lines[k], want) {
			t.Errorf("no %s in %q", want, lines)
		}
	}
}

// TestEstimate: a dry run reckons with the notes that are not done, by the number of workers.
func TestEstimate(t *testing.T) {
	t.Chdir(t.TempDir())
	put(t, "in/a.csv", "a1,7,Tos", "a2,8,Fiebre")
	o := Options{In: []string{"in"}, Out: "out"}
	estimate := func(set ...string) (p struct {
		Notes   int64   `json:"notes"`
		Seconds float64 `json:"estimated_seconds"`
	}) {
		t.Helper()
		dry := o
		dry.Dry = true
		d := started(t, func(ctx context.Context, c *console.Console, load loader) error {
			c.JSON = true
			return Mask(ctx, c, func() (*option.Config, error) { return load(nil) }, &dry)
		}, set...)
		if err := json.Unmarshal([]byte(d.out), &p); err != nil || d.code != exit.Done {
			t.Fatalf("%s, %v, %v", d.out, d.err, err)
		}
		return p
	}
	for _, c := range []struct {
		workers string
		want    float64
	}{{"1", 2.0 / notesPerSecondAndCore}, {"2", 1.0 / notesPerSecondAndCore}} {
		if got := estimate("run.workers=" + c.workers); got.Notes != 2 || got.Seconds != c.want {
			t.Errorf("%s workers: %+v, want %g", c.workers, got, c.want)
		}
	}
	masked(t, o).wants(t, "run", exit.Done)
	put(t, "in/b.csv", "b1,7,Tos")
	if got := estimate(); got.Notes != 3 || got.Seconds != 1.0/notesPerSecondAndCore {
		t.Errorf("one more: %+v", got)
	}
}

// TestPlanOfPeople: a plan is not done when others object than when it was made.
func TestPlanOfPeople(t *testing.T) {
	t.Chdir(t.TempDir())
	put(t, "in/a.csv", "a1,7,Tos", "a2,8,Fiebre")
	list := func(text string) {
		t.Helper()
		if err := os.WriteFile("list.csv", []byte("patient_id\n"+text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	list("7\n")
	const set = "people.exclude=list.csv"
	masked(t, Options{In: []string{"in"}, Out: "out", Save: true}, set).wants(t, "plan", exit.Done)
	shard := func() done {
		return started(t, func(ctx context.Context, c *console.Console, load loader) error {
			return Shard(ctx, c, load, &Options{Plan: "out", Shard: "1/1"})
		}, set)
	}
	list("8\n")
	shard().wants(t, "others object", exit.Config, "plan")
	list("7\n")
	shard().wants(t, "the same object", exit.Done, "shard 1/1: 2 notes")
}
