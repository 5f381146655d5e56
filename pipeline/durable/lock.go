package durable

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"time"
)

// Holder describes the process that holds a lock, for people to read. The lock itself belongs to the kernel and ends
// with the process, so that nobody has to remove it by hand.
type Holder struct {
	Run   string    `json:"run"` // what the process does
	PID   int       `json:"pid"`
	Host  string    `json:"host"`
	Boot  string    `json:"boot_id,omitempty"` // boot id of the machine
	Start time.Time `json:"start"`
}

// NewHolder describes this process.
func NewHolder(run string) Holder {
	host, _ := os.Hostname()
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return Holder{Run: run, PID: os.Getpid(), Host: host, Boot: strings.TrimSpace(string(boot)), Start: time.Now().UTC().Truncate(time.Second)}
}

// A LockedError says that another process is writing the same tree.
type LockedError struct {
	Path   string
	Holder Holder // zero if the holder could not be read
}

func (e *LockedError) Error() string {
	if e.Holder.PID == 0 {
		return fmt.Sprintf("%s is locked by another run", e.Path)
	}
	h := e.Holder
	return fmt.Sprintf("%s is locked by run %s: process %d on %s since %s", e.Path, h.Run, h.PID, h.Host, h.Start.Format(time.RFC3339))
}

// Lock implements FS with flock(2).
func (osFS) Lock(name string, holder Holder) (io.Closer, error) {
	for {
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, FileMode)
		if err != nil {
			return nil, err
		}
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, errors.Join(&LockedError{name, holderIn(f)}, f.Close())
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("lock %s: %w", name, err), f.Close())
		}
		if stillNamed(f, name) {
			return takeLock(f, holder)
		}
		// The previous holder removed the file after this process opened it and before it locked it, so the locked file no
		// longer has a name.
		if err := f.Close(); err != nil {
			return nil, err
		}
	}
}

// holderIn reads who holds the lock. A holder takes the lock first and then writes its name, so a reader may have to
// wait for the name; it waits a fifth of a second at most.
func holderIn(f io.ReaderAt) (h Holder) {
	for range 20 {
		data, _ := io.ReadAll(io.NewSectionReader(f, 0, 1<<16))
		if json.Unmarshal(data, &h) == nil && h.PID != 0 {
			return h
		}
		time.Sleep(10 * time.Millisecond)
	}
	return Holder{}
}

func stillNamed(f *os.File, name string) bool {
	here, err1 := f.Stat()
	there, err2 := os.Lstat(name)
	return err1 == nil && err2 == nil && os.SameFile(here, there)
}

func takeLock(f *os.File, holder Holder) (io.Closer, error) {
	data, err := json.Marshal(holder)
	if err == nil {
		err = f.Truncate(0)
	}
	if err == nil {
		_, err = f.WriteAt(append(data, '\n'), 0)
	}
	l := &osLock{f}
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

type osLock struct{ f *os.File }

// Close removes the lock file while the lock is still held, so that no other process can have locked the same name.
func (l *osLock) Close() error { return errors.Join(os.Remove(l.f.Name()), l.f.Close()) }
