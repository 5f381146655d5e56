package release

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/velum-health/velum/pipeline/audit"
)

// TestHouse: the ledger of the house is found by the id of the key, and only where somebody made it; one that cannot be looked
// for is an error.
func TestHouse(t *testing.T) {
	keys := t.TempDir()
	name := filepath.Join(keys, HouseName("0a1b"))
	try := func(folder, id string, want ...string) {
		t.Helper()
		l := &Ledger{names: []string{"own"}, alone: true, release: audit.Release{Key: id}}
		err := l.ofHouse(folder)
		if got := l.names[1:]; err != nil || !slices.Equal(got, want) || l.alone != (want == nil) {
			t.Errorf("%s: %q, alone %v, %v; want %q", id, got, l.alone, err, want)
		}
	}
	try(keys, "0a1b")
	if err := os.WriteFile(name, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	try(keys, "0a1b", name)
	try(keys, "0a1c") // it is that of another key
	l := &Ledger{release: audit.Release{Key: "0a1b"}}
	if err := l.ofHouse(filepath.Join(name, "below a file")); err == nil {
		t.Error("below a file there may be a ledger, and nobody could look")
	}
}

// TestHouses: what was released into the log of a tree stays known once the house has a ledger, and what was released with
// one key is known to the run with another whose key lies beside it.
func TestHouses(t *testing.T) {
	folder := t.TempDir()
	key, log := filepath.Join(folder, "keys", "b.key"), filepath.Join(folder, "tagged.jsonl")
	if err := os.Mkdir(filepath.Dir(key), 0o700); err != nil {
		t.Fatal(err)
	}
	house := func(id string) string { return filepath.Join(filepath.Dir(key), HouseName(id)) }
	write := func(name, key string, id uint64) {
		t.Helper()
		r := audit.Release{Key: key, IDs: audit.NewSketch([]uint64{id << 20})}
		if _, err := audit.Append(name, audit.Entry{Event: "release", Key: key, Release: &r}); err != nil {
			t.Fatal(err)
		}
	}
	write(log, "a", 1)         // before the house had ledgers
	write(house("aa"), "a", 2) // with another key that lies there
	write(house("bb"), "c", 3)
	for _, c := range []struct {
		id    uint64
		where string // "": nobody has released it
	}{{1, "in the ledger " + log + ","}, {2, "in the ledger " + house("aa") + ","}, {3, "in the ledger " + house("bb") + ","}, {4, ""}} {
		l := &Ledger{names: []string{log, house("bb")}, release: audit.Release{Key: "b"}}
		if err := l.open(filepath.Join(folder, "out"), filepath.Dir(key)); err != nil {
			t.Fatal(err)
		}
		err := l.may(audit.NewSketch([]uint64{c.id << 20}), func(r *audit.Release) audit.Sketch { return r.IDs })
		if (err == nil) != (c.where == "") || err != nil && !strings.Contains(err.Error(), c.where) {
			t.Errorf("note %d: %v, want %q", c.id, err, c.where)
		}
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
		l := &Ledger{names: []string{log("second")}, release: audit.Release{Key: key}}
		if err := l.open(folder, ""); err != nil {
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
