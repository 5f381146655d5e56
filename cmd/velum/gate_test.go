package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
)

// TestGate: a run in which stages fail too often commits nothing, neither then
// nor when it is started again without the fault; --fresh does all again.
func TestGate(t *testing.T) {
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in", "a.parquet"), filepath.Join(dir, "out")
	canaryArchive(t, in, 1, faultNotes, false)
	missing := func(name string) *fault {
		all := faults()
		for i := range all {
			if all[i].name == name {
				return &all[i]
			}
		}
		t.Fatalf("no fault %q", name)
		return nil
	}
	for _, step := range []struct {
		name  string
		spoil *fault
		flags []string
		want  exit.Code
	}{
		{"failing", missing("tag: no model"), nil, exit.Privacy},
		{"again", nil, nil, exit.Privacy},
		{"fresh", nil, []string{"--fresh"}, exit.Done},
		{"one failure", missing("verify: seal lost"), []string{"--fresh", "--set", "write.max_quarantined=1"}, exit.Done},
	} {
		var stdout, stderr bytes.Buffer
		a := newApp(&stdout, &stderr, nil)
		if step.spoil != nil {
			a.spoil = step.spoil.spoil
		}
		if code := a.run(append([]string{"run", "-q", "--in", in, "--out", out}, step.flags...)); code != step.want {
			t.Errorf("%s: exit code %d, want %d: %s", step.name, code, step.want, &stderr)
		}
		if step.want == exit.Privacy && !strings.Contains(stderr.String(), "in 10,000") {
			t.Errorf("%s: %s", step.name, &stderr)
		}
	}
}
