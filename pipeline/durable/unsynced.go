package durable

import "io/fs"

// Unsynced is an FS that never waits for the disk: for tests and measurements,
// in which nobody cuts the power.
type Unsynced struct{ FS }

// SyncDir does nothing.
func (Unsynced) SyncDir(string) error { return nil }

// OpenFile opens a file whose Sync does nothing.
func (u Unsynced) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	f, err := u.FS.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return unsyncedFile{f}, nil
}

type unsyncedFile struct{ File }

func (unsyncedFile) Sync() error { return nil }
