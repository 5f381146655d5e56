package durable

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
)

// FS has every file operation by which a run changes its output trees, so that tests can insert a layer that fails the
// Nth operation or loses what was not synced.
type FS interface {
	// OpenFile is os.OpenFile.
	OpenFile(name string, flag int, perm fs.FileMode) (File, error)
	// Rename replaces to, atomically.
	Rename(from, to string) error
	// Remove removes a file or an empty folder.
	Remove(name string) error
	// Mkdir makes one folder.
	Mkdir(name string, perm fs.FileMode) error
	// SyncDir makes the names in a folder durable.
	SyncDir(name string) error
	// ReadDir lists a folder, sorted by name.
	ReadDir(name string) ([]fs.DirEntry, error)
	// Stat is os.Lstat: no link is followed.
	Stat(name string) (fs.FileInfo, error)
	// Lock takes an exclusive lock on a file, which it makes if need be, and
	// writes the holder into it. It does not wait: a *LockedError says who has
	// it. Closing what it returns gives the lock back and removes the file.
	Lock(name string, holder Holder) (io.Closer, error)
}

// File is an open file of an FS.
type File interface {
	io.Reader
	io.ReaderAt
	io.Writer
	io.Closer
	// Truncate cuts the file to size bytes.
	Truncate(size int64) error
	// Sync makes the content durable. After an error the file is not to be
	// trusted: it is written again from its source, never synced again.
	Sync() error
	Stat() (fs.FileInfo, error)
}

// OS is the file system of the machine.
var OS FS = osFS{}

type osFS struct{}

func (osFS) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	f, err := os.OpenFile(name, flag|syscall.O_NOFOLLOW, perm)
	if err != nil {
		return nil, err // not a nil *os.File in an interface
	}
	return f, nil
}

func (osFS) Rename(from, to string) error               { return os.Rename(from, to) }
func (osFS) Remove(name string) error                   { return os.Remove(name) }
func (osFS) Mkdir(name string, perm fs.FileMode) error  { return os.Mkdir(name, perm) }
func (osFS) ReadDir(name string) ([]fs.DirEntry, error) { return os.ReadDir(name) }
func (osFS) Stat(name string) (fs.FileInfo, error)      { return os.Lstat(name) }

func (osFS) SyncDir(name string) error {
	d, err := os.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// DiskFailed reports whether err means that the disk cannot be written: an I/O error or a read-only file system.
func DiskFailed(err error) bool {
	return errors.Is(err, syscall.EIO) || errors.Is(err, syscall.EROFS)
}

// Permissions of output trees: only the owner may read them, since they hold health data, unless the owner decides
// otherwise.
const (
	FileMode = 0o600
	dirMode  = 0o700
)

// MkdirAll creates a folder and its parents and makes each new name durable by syncing its parent. It also syncs the
// parent of the lowest existing folder, because a process that was killed may have created that folder without syncing.
// Higher ones are durable, since nothing is created in a folder before its own name is.
func MkdirAll(d FS, name string) error {
	above := filepath.Dir(name)
	if info, err := d.Stat(name); err == nil && info.IsDir() {
		return syncAbove(d, above)
	}
	if above != name {
		if err := MkdirAll(d, above); err != nil {
			return err
		}
	}
	err := d.Mkdir(name, dirMode)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if errors.Is(err, fs.ErrExist) {
		if err := isDir(d, name); err != nil {
			return err
		}
		return syncAbove(d, above)
	}
	return d.SyncDir(above)
}

// syncAbove syncs a folder above a tree, and ignores that it may not be read, is read-only or cannot be synced: then
// this run has not made a name in it.
func syncAbove(d FS, name string) error {
	err := d.SyncDir(name)
	for _, foreign := range []error{fs.ErrPermission, syscall.EROFS, syscall.EINVAL, syscall.ENOTSUP} {
		if errors.Is(err, foreign) {
			return nil
		}
	}
	return err
}

// Folders remembers the folders that this process has created or synced, to do so only once.
type Folders struct {
	mu      sync.Mutex
	durable map[string]bool
}

// Make is MkdirAll for a folder that this process has not made yet.
func (f *Folders) Make(d FS, name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.durable[name] {
		return nil
	}
	err := MkdirAll(d, name)
	if err == nil && f.durable == nil {
		f.durable = map[string]bool{}
	}
	if err == nil {
		f.durable[name] = true
	}
	return err
}

// isDir follows a link: an output folder may be one.
func isDir(d FS, name string) error {
	_, err := d.ReadDir(name)
	return err
}

// WriteBy writes data to the temporary file tmp, syncs it, and renames it to name.
func WriteBy(d FS, tmp, name string, data []byte) error {
	f, err := d.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, FileMode)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, RemoveIfThere(d, tmp))
	}
	if err := d.Rename(tmp, name); err != nil {
		return errors.Join(err, RemoveIfThere(d, tmp))
	}
	return d.SyncDir(filepath.Dir(name))
}

// ReadFile reads a file of an FS, like os.ReadFile.
func ReadFile(d FS, name string) ([]byte, error) {
	f, err := d.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(f)
	return data, errors.Join(err, f.Close())
}

// RemoveIfThere removes a file or an empty folder. It is no error if it does not exist.
func RemoveIfThere(d FS, name string) error {
	if err := d.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// RemoveAll removes a folder and all that is in it.
func RemoveAll(d FS, name string) error {
	entries, err := d.ReadDir(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		inner := filepath.Join(name, e.Name())
		if e.IsDir() {
			err = RemoveAll(d, inner)
		} else {
			err = RemoveIfThere(d, inner)
		}
		if err != nil {
			return err
		}
	}
	return RemoveIfThere(d, name)
}

// An IntegrityError says that data on disk, or a count, is not as it must be. It holds no text of a note.
type IntegrityError struct {
	Path  string // may be empty
	Cause string
}

func (e *IntegrityError) Error() string {
	if e.Path == "" {
		return e.Cause
	}
	return e.Path + ": " + e.Cause
}
