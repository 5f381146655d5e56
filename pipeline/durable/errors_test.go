package durable

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// broken is an FS of which operation number at fails, once, with an error of the disk.
type broken struct {
	FS
	n, at int
	what  string // the operation that failed
}

func (b *broken) fails(op, name string) error {
	if b.n++; b.n != b.at {
		return nil
	}
	b.what = op + " " + filepath.Base(name)
	return fmt.Errorf("test: %w", syscall.EIO)
}

func (b *broken) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
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
	if err := b.fails("rename", to); err != nil {
		return err
	}
	return b.FS.Rename(from, to)
}

func (b *broken) Remove(name string) error {
	if err := b.fails("remove", name); err != nil {
		return err
	}
	return b.FS.Remove(name)
}

func (b *broken) Mkdir(name string, perm fs.FileMode) error {
	if err := b.fails("mkdir", name); err != nil {
		return err
	}
	return b.FS.Mkdir(name, perm)
}

func (b *broken) SyncDir(name string) error {
	if err := b.fails("syncdir", name); err != nil {
		return err
	}
	return b.FS.SyncDir(name)
}

func (b *broken) ReadDir(name string) ([]fs.DirEntry, error) {
	if err := b.fails("readdir", name); err != nil {
		return nil, err
	}
	return b.FS.ReadDir(name)
}

func (b *broken) Stat(name string) (fs.FileInfo, error) {
	if err := b.fails("stat", name); err != nil {
		return nil, err
	}
	return b.FS.Stat(name)
}

type brokenFile struct {
	File
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

func (f *brokenFile) Sync() error {
	if err := f.b.fails("sync", f.name); err != nil {
		return err
	}
	return f.File.Sync()
}

func (f *brokenFile) Truncate(size int64) error {
	if err := f.b.fails("truncate", f.name); err != nil {
		return err
	}
	return f.File.Truncate(size)
}

func (f *brokenFile) Close() error { return errors.Join(f.b.fails("close", f.name), f.File.Close()) }

// TestNoErrorIsLost fails each operation of each function, once: the function ends with that error.
func TestNoErrorIsLost(t *testing.T) {
	lay := func(t *testing.T, dir string) {
		t.Helper()
		for name, text := range map[string]string{"tree/a/one": "1", "tree/a/b/two": "2", "tree/three": "3", "file": "text", ".tree.tmp/left": "x"} {
			name = filepath.Join(dir, name)
			if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(text), 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		j, _, err := OpenJournal(OS, filepath.Join(dir, "journal"), "f")
		if err == nil {
			err = errors.Join(j.Add(7), j.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
		journal, err := os.OpenFile(filepath.Join(dir, "journal"), os.O_APPEND|os.O_WRONLY, 0)
		if err == nil {
			_, err = journal.WriteString("torn")
			err = errors.Join(err, journal.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, do := range map[string]func(d FS, dir string) error{
		"MkdirAll":   func(d FS, dir string) error { return MkdirAll(d, filepath.Join(dir, "new", "newer")) },
		"WriteFile":  func(d FS, dir string) error { return WriteFile(d, filepath.Join(dir, "file"), []byte("other")) },
		"RemoveAll":  func(d FS, dir string) error { return RemoveAll(d, filepath.Join(dir, "tree")) },
		"RemoveTree": func(d FS, dir string) error { return RemoveFolder(d, filepath.Join(dir, "tree")) },
		"ReadFile": func(d FS, dir string) error {
			data, err := ReadFile(d, filepath.Join(dir, "file"))
			if err == nil && string(data) != "text" {
				return errors.New("another text")
			}
			return err
		},
		"Draft": func(d FS, dir string) error {
			draft, err := NewDraft(d, filepath.Join(dir, "draft"))
			if err != nil {
				return err
			}
			return errors.Join(draft.Write("x", []byte("y")), draft.Commit())
		},
		"ReadJournal": func(d FS, dir string) error {
			lines, err := ReadJournal(d, filepath.Join(dir, "journal"), "f")
			if err == nil && (len(lines) != 1 || string(lines[0]) != "7") {
				return fmt.Errorf("%q", lines)
			}
			return err
		},
		"OpenJournal": func(d FS, dir string) error {
			j, lines, err := OpenJournal(d, filepath.Join(dir, "journal"), "f")
			if err != nil {
				return err
			}
			if len(lines) != 1 {
				return fmt.Errorf("%q", lines)
			}
			return errors.Join(j.Add(8), j.Close())
		},
		"Turn": func(d FS, dir string) error {
			turn, err := TakeTurn(d, filepath.Join(dir, "tree"), "me")
			if err != nil {
				return err
			}
			return errors.Join(turn.Mkdir(filepath.Join(dir, "tree", "made")), turn.Remove("three", RemoveIfThere), turn.Remove("a", RemoveAll), turn.Lost(), turn.End())
		},
	} {
		count := &broken{FS: OS}
		dir := t.TempDir()
		lay(t, dir)
		if err := do(count, dir); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for at := 1; at <= count.n; at++ {
			dir := t.TempDir()
			lay(t, dir)
			d := &broken{FS: OS, at: at}
			err := do(d, dir)
			if looks := strings.HasPrefix(d.what, "stat "); !errors.Is(err, syscall.EIO) && !(looks && err == nil) { // a folder is made that cannot be looked at
				t.Errorf("%s: %s fails, and what is said is %v", name, d.what, err)
			}
		}
	}
}

// TestTurn: who takes the turn of a tree has it alone; another's folder goes with all that is in it, and that one changes nothing any more.
func TestTurn(t *testing.T) {
	root := t.TempDir()
	put := func(name string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(root, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	there := func(name string) bool { _, err := os.Lstat(filepath.Join(root, name)); return err == nil }
	first, err := TakeTurn(OS, root, "first")
	if err != nil || first.Died || first.Lost() != nil {
		t.Fatalf("%+v, %v", first, err)
	}
	put("a")
	put("b")
	if err := errors.Join(first.Remove("a", RemoveIfThere), first.Remove("a", RemoveIfThere), first.Mkdir(filepath.Join(root, "made")), first.Mkdir(filepath.Join(root, "made"))); err != nil || there("a") || !there("made") {
		t.Errorf("removed %t, made %t, %v", !there("a"), there("made"), err)
	}
	if err := os.WriteFile(first.Path("half"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	second, err := TakeTurn(OS, root, "second")
	if err != nil || !second.Died {
		t.Fatalf("%+v, %v", second, err)
	}
	for what, err := range map[string]error{"lost": first.Lost(), "remove": first.Remove("b", RemoveIfThere)} {
		if held, ok := errors.AsType[*LockedError](err); !ok || held.Path != root {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := first.Mkdir(filepath.Join(root, "late")); !Gone(err) || there("late") || !there("b") {
		t.Errorf("the first one goes on: %v", err)
	}
	if err := second.End(); err != nil || there(turnsName) {
		t.Errorf("the turn was given back: %t, %v", !there(turnsName), err)
	}
	if err := second.End(); err != nil {
		t.Errorf("given back twice: %v", err)
	}
	third, err := TakeTurn(OS, root, "third")
	if err != nil || third.Died {
		t.Fatalf("%+v, %v", third, err)
	}
	again, err := TakeTurn(OS, root, "third") // of a process that had the name before
	if err != nil || !again.Died {
		t.Fatalf("%+v, %v", again, err)
	}
	fails := func(FS, string) error { return syscall.EIO }
	if err := again.Remove("b", fails); !errors.Is(err, syscall.EIO) {
		t.Error(err)
	}
	if err := again.End(); err != nil || !there(filepath.Join(turnsName, "third")) { // whoever comes next is to know
		t.Errorf("a turn that failed is given back, %v", err)
	}
	for err, want := range map[error]bool{fs.ErrNotExist: true, syscall.ESTALE: true, syscall.ENOENT: true, syscall.EIO: false, nil: false} {
		if Gone(err) != want {
			t.Errorf("%v is gone: %t", err, !want)
		}
	}
}

// TestWriteFile: a file is there whole, its owner's alone, and nothing beside it.
func TestWriteFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f")
	for _, text := range []string{"one", "", "another"} {
		if err := WriteFile(nil, name, []byte(text)); err != nil {
			t.Fatal(err)
		}
		data, err := ReadFile(OS, name)
		info, err2 := os.Stat(name)
		all, err3 := os.ReadDir(filepath.Dir(name))
		if err := errors.Join(err, err2, err3); err != nil || string(data) != text || info.Mode() != FileMode || len(all) != 1 {
			t.Errorf("%q, %v, %d files, %v", data, info.Mode(), len(all), err)
		}
	}
	dir := filepath.Join(t.TempDir(), "d")
	if err := os.MkdirAll(filepath.Join(dir, "e"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := RemoveFolder(nil, dir+"/"); err != nil {
		t.Fatal(err)
	}
	if all, err := os.ReadDir(filepath.Dir(dir)); err != nil || len(all) != 0 {
		t.Errorf("%v, %v", all, err)
	}
	if err := RemoveFolder(nil, dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder that is not there: %v", err)
	}
	if err := errors.Join(RemoveAll(OS, dir), RemoveIfThere(OS, dir)); err != nil {
		t.Error(err)
	}
	if err := RemoveIfThere(OS, filepath.Dir(dir)+"/\x00"); err == nil {
		t.Error("a name that cannot be")
	}
}

// counted counts the folders that are made and synced.
type counted struct {
	FS
	mu           sync.Mutex
	made, synced int
}

func (c *counted) Mkdir(name string, perm fs.FileMode) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.made++
	return c.FS.Mkdir(name, perm)
}

func (c *counted) SyncDir(name string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.synced++
	return c.FS.SyncDir(name)
}

// TestFolders: a folder is made and its name made durable once, however often it is asked for.
func TestFolders(t *testing.T) {
	d, dir := &counted{FS: OS}, t.TempDir()
	var f Folders
	for range 3 {
		if err := f.Make(d, filepath.Join(dir, "a", "b")); err != nil {
			t.Fatal(err)
		}
	}
	if d.made != 2 || d.synced != 3 { // a, b; and above those that are there and made
		t.Errorf("%d made, %d synced", d.made, d.synced)
	}
	if err := f.Make(d, filepath.Join(dir, "a", "b", "\x00")); err == nil {
		t.Error("a name that cannot be")
	}
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := f.Make(d, filepath.Join(dir, "file")); err == nil {
		t.Error("a file is a folder")
	}
	if err := os.Symlink("a", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if err := f.Make(d, filepath.Join(dir, "link")); err != nil {
		t.Errorf("a link to a folder: %v", err)
	}
	for err, foreign := range map[error]bool{fs.ErrPermission: true, syscall.EROFS: true, syscall.EINVAL: true, syscall.ENOTSUP: true, syscall.EIO: false} {
		if got := syncAbove(refuses{OS, err}, dir); (got == nil) != foreign {
			t.Errorf("%v: %v", err, got)
		}
	}
}

type refuses struct {
	FS
	err error
}

func (r refuses) SyncDir(string) error { return r.err }

// TestWitness: what a library reads keeps its first error, and the end of a file is none.
func TestWitness(t *testing.T) {
	var w Witness
	other := errors.New("damaged")
	if w.Joined(other) != other || w.Joined(nil) != nil {
		t.Error("nothing was seen")
	}
	name := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(name, []byte("abc"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := OS.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	watched := w.Watch(f)
	data, err := io.ReadAll(watched)
	if err != nil || !bytes.Equal(data, []byte("abc")) || w.Err() != nil {
		t.Errorf("%q, %v, %v", data, err, w.Err())
	}
	if _, err := watched.ReadAt(make([]byte, 2), 2); err != io.EOF || w.Err() != nil {
		t.Errorf("the end: %v, %v", err, w.Err())
	}
	if err := watched.Close(); err != nil {
		t.Fatal(err)
	}
	_, first := watched.ReadAt(make([]byte, 1), 0)
	_, second := watched.Read(make([]byte, 1))
	if first == nil || second == nil || w.Err() != first {
		t.Errorf("%v, %v, %v", first, second, w.Err())
	}
	if w.Joined(first) != first || w.Joined(nil) != nil || !errors.Is(w.Joined(other), other) || !errors.Is(w.Joined(other), fs.ErrClosed) {
		t.Errorf("%v", w.Joined(other))
	}
	var late Witness
	if _, err := late.Watch(f).Read(make([]byte, 1)); err == nil || late.Err() != err {
		t.Errorf("a read: %v", late.Err())
	}
}
