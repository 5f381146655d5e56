package durable

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// nth is an FS whose operation number n fails, and all after it: the process
// died there.
type nth struct {
	FS
	n int
}

var errDied = errors.New("died")

func (d *nth) step() error {
	d.n--
	if d.n < 0 {
		return errDied
	}
	return nil
}

func (d *nth) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	if err := d.step(); err != nil {
		return nil, err
	}
	return d.FS.OpenFile(name, flag, perm)
}

func (d *nth) Rename(from, to string) error {
	return errors.Join(d.step(), d.if0(func() error { return d.FS.Rename(from, to) }))
}
func (d *nth) Remove(name string) error {
	return errors.Join(d.step(), d.if0(func() error { return d.FS.Remove(name) }))
}
func (d *nth) Mkdir(name string, perm fs.FileMode) error {
	return errors.Join(d.step(), d.if0(func() error { return d.FS.Mkdir(name, perm) }))
}
func (d *nth) SyncDir(name string) error {
	return errors.Join(d.step(), d.if0(func() error { return d.FS.SyncDir(name) }))
}

func (d *nth) if0(do func() error) error {
	if d.n < 0 {
		return nil
	}
	return do()
}

func makeDraft(d FS, name string) error {
	draft, err := NewDraft(d, name)
	if err != nil {
		return err
	}
	if err := draft.Write("a", []byte("one")); err != nil {
		return err
	}
	if err := d.Mkdir(draft.Path("in"), 0o700); err != nil {
		return err
	}
	if err := draft.Write("in/b", []byte("two")); err != nil {
		return err
	}
	return draft.Commit()
}

// Whichever operation is the last one before death, the folder is not there or
// whole, and the next one makes it.
func TestDraftDies(t *testing.T) {
	died := 0
	for n := 0; ; n++ {
		name := filepath.Join(t.TempDir(), "above", "turn")
		err := makeDraft(&nth{OS, n}, name)
		if err == nil {
			break
		}
		if !errors.Is(err, errDied) {
			t.Fatal(err)
		}
		died++
		if _, err := os.Stat(name); err != nil {
			if err := makeDraft(OS, name); err != nil {
				t.Fatalf("after death at operation %d: %v", n, err)
			}
		}
		for file, want := range map[string]string{"a": "one", "in/b": "two"} {
			if got, err := os.ReadFile(filepath.Join(name, file)); err != nil || string(got) != want {
				t.Fatalf("after death at operation %d: %s is %q, %v", n, file, got, err)
			}
		}
	}
	if died < 10 {
		t.Errorf("only %d operations could fail", died)
	}
}

func TestDraftTwice(t *testing.T) {
	name := filepath.Join(t.TempDir(), "turn")
	if err := makeDraft(OS, name); err != nil {
		t.Fatal(err)
	}
	if _, err := NewDraft(nil, name); err == nil {
		t.Error("a folder that is there is begun again")
	}
	if info, err := os.Stat(filepath.Join(name, "a")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if err := RemoveFolder(nil, name); err != nil {
		t.Fatal(err)
	}
	if left, _ := os.ReadDir(filepath.Dir(name)); len(left) != 0 {
		t.Errorf("%v is left", left)
	}
	if err := makeDraft(OS, name); err != nil {
		t.Error(err)
	}
}

// unsettled is an FS that knows which folders have names that nobody has
// synced, and looks at them before a folder is made.
type unsettled struct {
	FS
	t       *testing.T
	folders map[string]bool
	made    int
}

func (u *unsettled) Mkdir(name string, perm fs.FileMode) error {
	if u.folders[filepath.Dir(name)] {
		u.t.Error("a draft begins beside a name that is not synced")
	}
	u.made++
	return u.FS.Mkdir(name, perm)
}

func (u *unsettled) SyncDir(name string) error {
	delete(u.folders, name)
	return u.FS.SyncDir(name)
}

// TestDraftSyncsFolder: a draft begins once what stands beside it has its
// name for good, whoever died before syncing it.
func TestDraftSyncsFolder(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "turn-0"), dirMode); err != nil {
		t.Fatal(err)
	}
	u := &unsettled{FS: OS, t: t, folders: map[string]bool{dir: true}}
	if _, err := NewDraft(u, filepath.Join(dir, "turn-1")); err != nil {
		t.Fatal(err)
	}
	if u.made != 1 {
		t.Fatalf("%d folders made", u.made)
	}
}
