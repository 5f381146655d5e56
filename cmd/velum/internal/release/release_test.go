package release

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/velum-health/velum/pipeline/audit"
)

// TestHouse: the ledger of the house is found by the id of the key, and only where somebody made it.
func TestHouse(t *testing.T) {
	key := filepath.Join(t.TempDir(), "velum.key")
	if got := houseLedger(key, "0a1b"); got != "" {
		t.Errorf("%s, and nobody made it", got)
	}
	name := filepath.Join(filepath.Dir(key), HouseName("0a1b"))
	if err := os.WriteFile(name, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := houseLedger(key, "0a1b"); got != name {
		t.Errorf("%q, want %s", got, name)
	}
	if got := houseLedger(key, "0a1c"); got != "" {
		t.Errorf("%s is that of another key", got)
	}
}

// TestBeside: the releases of the outputs in the same folder are known, and are asked
// once: what was allowed stays so.
func TestBeside(t *testing.T) {
	folder := t.TempDir()
	log := func(output string) string {
		return filepath.Join(folder, output+".private", filepath.FromSlash(audit.Name))
	}
	write := func(output string, r audit.Release) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(log(output)), 0o700); err != nil {
			t.Fatal(err)
		}
		if _, err := audit.Append(log(output), audit.Entry{Event: "release", Key: r.Key, Release: &r}); err != nil {
			t.Fatal(err)
		}
	}
	ids := audit.NewSketch([]uint64{1 << 20, 2 << 20})
	write("first", audit.Release{Key: "a", IDs: ids})
	if err := os.WriteFile(filepath.Join(folder, "none.private"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	try := func(key string, ids audit.Sketch) error {
		l := &Ledger{name: log("second"), release: audit.Release{Key: key}}
		if err := l.open(filepath.Join(folder, "second.private")); err != nil {
			t.Fatal(err)
		}
		return l.may(ids, func(r *audit.Release) audit.Sketch { return r.IDs })
	}
	if err := try("b", ids); err == nil || !strings.Contains(err.Error(), "another key (release 1 of ") || !strings.Contains(err.Error(), filepath.Join(folder, "first")) {
		t.Errorf("another key: %v", err)
	}
	if err := try("a", ids); err != nil {
		t.Errorf("the same key: %v", err)
	}
	if err := try("b", audit.NewSketch([]uint64{3 << 20})); err != nil {
		t.Errorf("other notes: %v", err)
	}
	write("second", audit.Release{Key: "b", IDs: ids, Allowed: true})
	if err := try("b", ids); err != nil {
		t.Errorf("allowed before: %v", err)
	}
	if err := try("c", ids); err == nil {
		t.Error("a third key")
	}
}
