package commit

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/velum-health/velum/pipeline/durable"
)

// pending is a durable.FS that knows which folders hold names that a power loss may
// undo. It outlives a killed run, as the state of the kernel does.
type pending struct {
	durable.FS
	t       testing.TB
	folders map[string]bool
}

func (p *pending) changed(name string, err error) error {
	if err == nil {
		p.folders[filepath.Dir(name)] = true
	}
	return err
}

func (p *pending) Mkdir(name string, perm fs.FileMode) error {
	return p.changed(name, p.FS.Mkdir(name, perm))
}

// Rename checks that a manifest gets its name after all that it lists.
func (p *pending) Rename(from, to string) error {
	if filepath.Base(to) == manifestName {
		p.settled("a manifest is placed")
	}
	return p.changed(to, p.FS.Rename(from, to))
}

func (p *pending) Remove(name string) error { return p.changed(name, p.FS.Remove(name)) }

func (p *pending) SyncDir(name string) error {
	delete(p.folders, name)
	return p.FS.SyncDir(name)
}

// settled checks that no folder of parts, nor one above, can lose a name.
func (p *pending) settled(when string) {
	p.t.Helper()
	for name := range p.folders {
		if _, err := os.Stat(name); err == nil && !strings.Contains(name, runsName) && (when != "a manifest is placed" || strings.Contains(name, "month=")) {
			p.t.Errorf("%s: names in %s are not synced", when, name)
		}
	}
}

// TestKilledThenPowerLoss kills a run at every operation; after the next one
// has ended well no name is left that a power loss could undo.
func TestKilledThenPowerLoss(t *testing.T) {
	t.Parallel()
	a := newTestArchive(3)
	for at := 1; ; at++ {
		dir := tempDir(t)
		p := &pending{FS: unsynced{durable.OS}, t: t, folders: map[string]bool{}}
		killed := errors.Join(errors.New("killed"), syscall.EIO)
		_, err := a.run(t, dir, &faults{FS: p, at: at, lasting: true, err: killed}, UnitOptions{})
		if err == nil {
			return
		}
		if _, err := a.run(t, dir, p, UnitOptions{}); err != nil {
			t.Fatalf("operation %d: %v", at, err)
		}
		if p.settled("after success"); t.Failed() {
			t.Fatalf("killed at operation %d", at)
		}
	}
}

// TestResumeSyncsFolders: folders whose names nobody has synced when a run
// begins, as a run that died beside it leaves them, are synced before success.
func TestResumeSyncsFolders(t *testing.T) {
	a, dir := newTestArchive(3), tempDir(t)
	a.begin(t, dir)
	p := &pending{FS: unsynced{durable.OS}, t: t, folders: map[string]bool{
		filepath.Join(dir, "out", "masked"): true, filepath.Join(dir, "out.private", "quarantine"): true,
	}}
	if _, err := a.run(t, dir, p, UnitOptions{}); err != nil {
		t.Fatal(err)
	}
	p.settled("after success")
}
