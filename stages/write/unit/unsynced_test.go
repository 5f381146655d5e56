package unit

import (
	"io/fs"

	"github.com/velum-health/velum/pipeline/durable"
)

// unsynced is a file system that never waits for the disk: nobody cuts the power here.
type unsynced struct{ durable.FS }

// SyncDir does nothing.
func (unsynced) SyncDir(string) error { return nil }

// OpenFile opens a file whose Sync does nothing.
func (u unsynced) OpenFile(name string, flag int, perm fs.FileMode) (durable.File, error) {
	f, err := u.FS.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return unsyncedFile{f}, nil
}

type unsyncedFile struct{ durable.File }

func (unsyncedFile) Sync() error { return nil }
