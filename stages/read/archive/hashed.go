package archive

import (
	"errors"
	"io"
	"os"
	"sync"

	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/stages/read/input"
)

// hashed holds the identity (size, times, inode) of a file at the time it was hashed, or a later identity for which the
// content was found unchanged.
type hashed struct {
	mu       sync.Mutex // units of a file are read side by side
	identity input.Identity
}

// still reports whether a file with this identity has the content that was hashed. The identity also changes when a
// link is made or permissions change; then the file is hashed again.
func (f *File) still(now input.Identity) bool {
	f.hashed.mu.Lock()
	defer f.hashed.mu.Unlock()
	was := &f.hashed.identity
	same := now
	if was.Device == 0 { // another machine looked
		same.Device = 0
	}
	if same == *was {
		return true
	}
	if now.Size != was.Size {
		return false
	}
	sum, id, err := input.HashFile(f.Path, io.Discard, func() error { return nil })
	if err != nil || id != now || sum != f.SHA256 {
		return false
	}
	*was = now
	return true
}

// stillOpen is still, but returns an error.
func (f *File) stillOpen(now input.Identity) error {
	if !f.still(now) {
		return f.changed()
	}
	return nil
}

// stays checks the open file at the beginning and at the end of a unit.
func (f *File) stays(file *os.File) error {
	info, err := file.Stat()
	if err != nil {
		return f.changed()
	}
	return f.stillOpen(input.Identify(info))
}

// changed returns the error that the file has changed since its units were named. They are not done; the next start
// plans them anew.
func (f *File) changed() error {
	return input.Unread(f.Path, "has changed since the run began")
}

// same reports whether the file still has the content that was hashed.
func (f *File) same() bool {
	now, err := os.Stat(f.Path)
	return err == nil && f.still(input.Identify(now))
}

// blame returns err, unless it says that the file is damaged and the file has changed since it was hashed: then it
// returns an error that says so.
func (f *File) blame(err error) error {
	damage, ok := errors.AsType[*commit.DamageError](err)
	if ok && !damage.Unread && f.hashed != nil && !f.same() {
		return f.changed()
	}
	return err
}
