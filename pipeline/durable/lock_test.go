package durable

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestLock(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, ".lock")
	first, err := OS.Lock(name, NewHolder("one"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = OS.Lock(name, NewHolder("two"))
	held, ok := errors.AsType[*LockedError](err)
	if !ok || held.Holder.Run != "one" || held.Holder.PID != os.Getpid() {
		t.Fatalf("second lock: %v", err)
	}
	inner, err := OS.Lock(filepath.Join(dir, "x.lock"), NewHolder("other file"))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(first.Close(), inner.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(name); !errors.Is(err, fs.ErrNotExist) {
		t.Error("the lock file stays behind")
	}
}

// TestLockWithoutHolder: a lock whose holder cannot be written leaves no file
// that would pass for one of a run that did not end.
func TestLockWithoutHolder(t *testing.T) {
	name := filepath.Join(t.TempDir(), ".lock")
	if err := os.WriteFile(name, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(name) // and so not to be written
	if err != nil {
		t.Fatal(err)
	}
	if _, err := takeLock(f, NewHolder("full")); err == nil {
		t.Error("taken, and nobody knows by whom")
	}
	if _, err := os.Stat(name); !errors.Is(err, fs.ErrNotExist) {
		t.Error("the lock file stays behind")
	}
}

// TestLockOfRemovedFile: a lock on a file that has lost its name is none.
func TestLockOfRemovedFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), ".lock")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if !stillNamed(f, name) {
		t.Error("the file has its name")
	}
	if err := os.Remove(name); err != nil || stillNamed(f, name) {
		t.Error("the file has lost its name", err)
	}
	if err := os.WriteFile(name, nil, 0o600); err != nil || stillNamed(f, name) {
		t.Error("another file has the name", err)
	}
}
