package run

import (
	"strings"
	"testing"

	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/cmd/velum/internal/report"
	"github.com/velum-health/velum/cmd/velum/internal/selection"
	"github.com/velum-health/velum/pipeline/audit"
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
		l.config = c
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
