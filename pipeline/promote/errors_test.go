package promote

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/velum-health/velum/pipeline/durable"
)

// broken is a disk of which operation number at fails, once.
type broken struct {
	durable.FS
	n, at int
	seen  map[string]int
	what  string // the operation that failed, and which one of its kind it was
}

func (b *broken) fails(op, name string) error {
	kind := op + " " + filepath.Ext(name)
	b.seen[kind]++
	if b.n++; b.n != b.at {
		return nil
	}
	b.what = fmt.Sprint(kind, " ", b.seen[kind])
	return fmt.Errorf("test: %w", syscall.EIO)
}

func (b *broken) OpenFile(name string, flag int, perm fs.FileMode) (durable.File, error) {
	if err := b.fails("open", name); err != nil {
		return nil, err
	}
	f, err := b.FS.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return &brokenFile{f, b, name}, nil
}

func (b *broken) Rename(from, to string) error {
	return first(b.fails("rename", to), func() error { return b.FS.Rename(from, to) })
}

func (b *broken) Mkdir(name string, perm fs.FileMode) error {
	return first(b.fails("mkdir", name), func() error { return b.FS.Mkdir(name, perm) })
}

func (b *broken) SyncDir(name string) error {
	return first(b.fails("syncdir", name), func() error { return b.FS.SyncDir(name) })
}

func (b *broken) Stat(name string) (fs.FileInfo, error) {
	if err := b.fails("stat", name); err != nil {
		return nil, err
	}
	return b.FS.Stat(name)
}

func (b *broken) ReadDir(name string) ([]fs.DirEntry, error) {
	if err := b.fails("readdir", name); err != nil {
		return nil, err
	}
	return b.FS.ReadDir(name)
}

func (b *broken) Lock(name string, holder durable.Holder) (io.Closer, error) {
	if err := b.fails("lock", name); err != nil {
		return nil, err
	}
	l, err := b.FS.Lock(name, holder)
	if err != nil {
		return nil, err
	}
	return closer(func() error { return errors.Join(b.fails("unlock", name), l.Close()) }), nil
}

type closer func() error

func (c closer) Close() error { return c() }

func first(err error, do func() error) error {
	if err != nil {
		return err
	}
	return do()
}

type brokenFile struct {
	durable.File
	b    *broken
	name string
}

func (f *brokenFile) Read(p []byte) (int, error) {
	if err := f.b.fails("read", f.name); err != nil {
		return 0, err
	}
	return f.File.Read(p)
}

func (f *brokenFile) Write(p []byte) (int, error) {
	if err := f.b.fails("write", f.name); err != nil {
		return 0, err
	}
	return f.File.Write(p)
}

func (f *brokenFile) Sync() error { return first(f.b.fails("sync", f.name), f.File.Sync) }

func (f *brokenFile) Close() error { return errors.Join(f.b.fails("close", f.name), f.File.Close()) }

// TestNoErrorIsLost fails each operation of each function, once: the function ends with that error, a model that was in use is in
// use still or the next one is, and the next start does what was to be done. A model that is there and cannot be read is
// written again, and a folder that cannot be looked at is made, if it is not there.
func TestNoErrorIsLost(t *testing.T) {
	for what, tt := range map[string]struct {
		before []string
		do     func(f *Folder) error
		want   []string // that may be in use afterwards
	}{
		"first":    {nil, func(f *Folder) error { return second(f.Promote([]byte("a"), time.Time{})) }, []string{"", "a"}},
		"next":     {[]string{"a"}, func(f *Folder) error { return second(f.Promote([]byte("b"), time.Time{})) }, []string{"a", "b"}},
		"same":     {[]string{"a"}, func(f *Folder) error { return second(f.Promote([]byte("a"), time.Time{})) }, []string{"a"}},
		"rollback": {[]string{"a", "b"}, func(f *Folder) error { return second(f.Rollback()) }, []string{"a", "b"}},
		"current":  {[]string{"a"}, func(f *Folder) error { _, _, err := f.Current(); return err }, []string{"a"}},
		"history":  {[]string{"a"}, func(f *Folder) error { return second(f.History()) }, []string{"a"}},
		"files":    {[]string{"a"}, func(f *Folder) error { return second(f.Files()) }, []string{"a"}},
		"read":     {[]string{"a"}, func(f *Folder) error { return second(f.Read(modelFile(sumOf("a")))) }, []string{"a"}},
	} {
		t.Run(what, func(t *testing.T) {
			for at := 1; ; at++ {
				sound := &Folder{Dir: filepath.Join(t.TempDir(), "models")}
				for _, model := range tt.before {
					mustPromote(t, sound, model)
				}
				disk := &broken{FS: durable.OS, at: at, seen: map[string]int{}}
				err := tt.do(&Folder{Dir: sound.Dir, FS: disk})
				if disk.what == "" {
					if err != nil || at == 1 {
						t.Fatalf("of %d operations none failed: %v", at-1, err)
					}
					return
				}
				if !errors.Is(err, syscall.EIO) && !(err == nil && slices.Contains([]string{"first", "next", "same"}, what) && slices.Contains([]string{"stat  1", "stat  2", "open .velum 1", "read .velum 1", "read .velum 2", "close .velum 1"}, disk.what)) {
					t.Errorf("%s failed, and it ends with %v", disk.what, err)
				}
				_, data, err := sound.Current()
				if errors.Is(err, ErrNone) {
					err = nil
				}
				if err != nil || !slices.Contains(tt.want, string(data)) {
					t.Errorf("%s failed: %q is in use, %v", disk.what, data, err)
				}
				mustPromote(t, sound, "next")
				wantCurrent(t, sound, "next")
				entries, err := os.ReadDir(sound.Dir)
				for _, e := range entries {
					if err != nil || strings.HasPrefix(e.Name(), ".") {
						t.Errorf("%s failed: %s is left, %v", disk.what, e.Name(), err)
					}
				}
			}
		})
	}
}

func sumOf(model string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(model))) }
