package durable

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Draft is a folder under construction. It has a temporary name until Commit renames it, so a folder with the final
// name is always complete. A draft left by a process that died is removed by the next draft of that name.
type Draft struct {
	name, tmp string
	fs        FS
}

// NewDraft begins the folder name, which must not exist, and removes what an earlier draft of it left. The parent
// folder is created if needed, and synced: files beside the draft may have been renamed by a process that died before
// it synced. A nil FS means OS.
func NewDraft(d FS, name string) (*Draft, error) {
	if d == nil {
		d = OS
	}
	name = filepath.Clean(name)
	draft := &Draft{name: name, tmp: filepath.Join(filepath.Dir(name), "."+filepath.Base(name)+".tmp"), fs: d}
	if err := MkdirAll(d, filepath.Dir(name)); err != nil {
		return nil, err
	}
	if err := errors.Join(d.SyncDir(filepath.Dir(name)), draft.Discard()); err != nil {
		return nil, err
	}
	if _, err := d.Stat(name); !errors.Is(err, fs.ErrNotExist) {
		return nil, errors.Join(&IntegrityError{Path: name, Cause: "is there already"}, err)
	}
	return draft, d.Mkdir(draft.tmp, dirMode)
}

// Path returns the path of a file of the draft before Commit.
func (d *Draft) Path(file string) string { return filepath.Join(d.tmp, file) }

// Create creates a file that only its owner can read. Commit syncs it, even if it has been closed.
func (d *Draft) Create(file string) (File, error) {
	return d.fs.OpenFile(d.Path(file), os.O_RDWR|os.O_CREATE|os.O_TRUNC, FileMode)
}

// Write creates a file with data.
func (d *Draft) Write(file string, data []byte) error {
	f, err := d.Create(file)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

// Remove removes a file of the draft.
func (d *Draft) Remove(file string) error { return d.fs.Remove(d.Path(file)) }

// Commit syncs all files and folders, and renames the draft to its final name.
func (d *Draft) Commit() error {
	if err := d.sync(d.tmp); err != nil {
		return err
	}
	if err := d.fs.Rename(d.tmp, d.name); err != nil {
		return err
	}
	return d.fs.SyncDir(filepath.Dir(d.name))
}

// sync makes a folder and all below it durable.
func (d *Draft) sync(name string) error {
	entries, err := d.fs.ReadDir(name)
	if err != nil {
		return err
	}
	for _, e := range entries {
		at := filepath.Join(name, e.Name())
		if e.IsDir() {
			err = d.sync(at)
		} else {
			err = d.syncFile(at)
		}
		if err != nil {
			return err
		}
	}
	return d.fs.SyncDir(name)
}

func (d *Draft) syncFile(name string) error {
	f, err := d.fs.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// Discard removes the draft and all that is in it.
func (d *Draft) Discard() error { return RemoveAll(d.fs, d.tmp) }

// RemoveFolder removes a folder and its files. It renames the folder first, so that no crash leaves it incomplete under
// its name. A nil FS means OS.
func RemoveFolder(d FS, name string) error {
	if d == nil {
		d = OS
	}
	name = filepath.Clean(name)
	gone := filepath.Join(filepath.Dir(name), "."+filepath.Base(name)+".tmp")
	if err := RemoveAll(d, gone); err != nil {
		return err
	}
	if err := d.Rename(name, gone); err != nil {
		return err
	}
	if err := d.SyncDir(filepath.Dir(name)); err != nil {
		return err
	}
	return RemoveAll(d, gone)
}

// WriteFile writes a file atomically: temporary file, sync, rename, sync of the folder. Only the owner can read it. A
// nil FS means OS.
func WriteFile(d FS, name string, data []byte) error {
	if d == nil {
		d = OS
	}
	return WriteBy(d, filepath.Join(filepath.Dir(name), "."+filepath.Base(name)+".tmp"), name, data)
}
