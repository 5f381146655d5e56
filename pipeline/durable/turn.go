package durable

import (
	"errors"
	"io/fs"
	"path/filepath"
	"syscall"
)

// A Turn is the right to change a tree. It is a folder in it, and all that its process puts
// into place, makes or takes away goes by one rename from it or to it. Who takes the turn
// moves the folders of all others into its own, and reads only then. So a process that
// stopped and goes on later, on a machine whose locks nobody here knows, changes nothing
// any more: its folder is gone, and what it read does not count.
type Turn struct {
	fs   FS
	root string
	dir  string // of this process

	Died   bool // another had the turn and did not give it back: what it took away may not be synced
	failed bool // the same of this one
}

const turnsName = "_turns"

// TakeTurn takes the turn of a tree, for who has its lock as far as there are locks. name
// is that of no other process.
func TakeTurn(d FS, root, name string) (*Turn, error) {
	t := &Turn{fs: d, root: root, dir: filepath.Join(root, turnsName, name)}
	old, err := d.Stat(t.dir) // of a process that had the name before
	t.Died = old != nil
	if err == nil {
		err = RemoveAll(d, t.dir)
	}
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		err = MkdirAll(d, t.dir)
	}
	if err != nil {
		return nil, err
	}
	others, err := d.ReadDir(filepath.Dir(t.dir))
	for _, e := range others {
		if err == nil && e.Name() != name {
			t.Died, err = true, t.Remove(filepath.Join(turnsName, e.Name()), RemoveAll)
		}
	}
	return t, err
}

// Path is where a file stands that is to be renamed.
func (t *Turn) Path(name string) string { return filepath.Join(t.dir, name) }

// Lost is a *LockedError if another has taken the turn, nil if nobody has.
func (t *Turn) Lost() error {
	_, err := t.fs.Stat(t.dir)
	if Gone(err) {
		return &LockedError{Path: t.root}
	}
	return err
}

// Gone tells whether err says that something is not there any more.
func Gone(err error) bool { return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESTALE) }

// Remove takes a name out of the tree, durably, if it is there. remove is RemoveIfThere
// or RemoveAll.
func (t *Turn) Remove(name string, remove func(FS, string) error) error {
	from, to := filepath.Join(t.root, name), t.Path("away")
	err := t.fs.Rename(from, to)
	if Gone(err) {
		return t.Lost()
	}
	if err == nil {
		err = remove(t.fs, to)
	}
	if err == nil {
		err = t.fs.SyncDir(filepath.Dir(from))
	}
	t.failed = t.failed || err != nil
	return err
}

// Mkdir makes a folder, durably, unless it is there.
func (t *Turn) Mkdir(name string) error {
	_, err := t.fs.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		made := t.Path("new")
		if err = t.fs.Mkdir(made, dirMode); err == nil || errors.Is(err, fs.ErrExist) {
			err = t.fs.Rename(made, name)
		}
	}
	if err != nil {
		return err
	}
	return t.fs.SyncDir(filepath.Dir(name))
}

// End gives the turn back, unless whoever comes next is to know that it failed.
func (t *Turn) End() error {
	if t.failed {
		return nil
	}
	if err := RemoveAll(t.fs, t.dir); err != nil {
		return err
	}
	err := t.fs.Remove(filepath.Dir(t.dir))
	if errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist) { // another has just taken it, or given it back
		return nil
	}
	return err
}
