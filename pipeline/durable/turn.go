package durable

import (
	"errors"
	"io/fs"
	"path/filepath"
	"syscall"
)

// A Turn is the exclusive right to change a tree. It also works where locks do not hold across machines. A turn is a folder
// inside the tree, and its process makes every change to the tree by a rename from or to that folder. A process that takes
// the turn first moves the folders of all other processes into its own folder, and reads the tree only then. So a process
// that was suspended and then continues can change nothing: its folder is gone, so decisions that rest on what it
// read before have no effect.
type Turn struct {
	fs   FS
	root string
	dir  string // of this process

	Died   bool // the process before had the turn and did not give it back: what it removed may not be synced
	failed bool // the same of this one
}

const turnsName = "_turns"

// TakeTurn takes the turn of a tree for a process that holds its lock, as far as locks work. name must be unique to the
// process.
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

// Path returns a path in the turn's folder for a file to be renamed into the tree.
func (t *Turn) Path(name string) string { return filepath.Join(t.dir, name) }

// Lost returns a *LockedError if another process has taken the turn, otherwise nil.
func (t *Turn) Lost() error {
	_, err := t.fs.Stat(t.dir)
	if Gone(err) {
		return &LockedError{Path: t.root}
	}
	return err
}

// Gone reports whether err means that a file no longer exists.
func Gone(err error) bool { return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESTALE) }

// Remove removes a name from the tree durably, if it exists. remove is RemoveIfThere or RemoveAll.
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

// Mkdir creates a folder durably unless it exists.
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

// End gives the turn back. After a failure it does not, so that the next process notices.
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
