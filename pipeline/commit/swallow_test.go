package commit

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/velum-health/velum/pipeline/durable"
)

// once is a durable.FS of which one operation fails, once: the first that is asked for in the places of
// the program that at names. It notes the places of all operations that it is asked for.
type once struct {
	durable.FS
	mu    sync.Mutex
	at    string
	what  string   // the operation that failed; "": none
	sites []string // of all operations, in their order, each once
}

func (o *once) fails(op, name string) error {
	site := siteOf(op)
	o.mu.Lock()
	defer o.mu.Unlock()
	if !slices.Contains(o.sites, site) {
		o.sites = append(o.sites, site)
	}
	if site != o.at || o.what != "" {
		return nil
	}
	o.what = op + " " + filepath.Base(name)
	return fmt.Errorf("test: %w", syscall.EIO)
}

var sites sync.Map // what siteOf has said, by the stack

// siteOf names the place of the program that asks for an operation, and those that it was called from.
func siteOf(op string) string {
	var stack [40]uintptr
	n := runtime.Callers(4, stack[:])
	type key struct {
		op    string
		stack [40]uintptr
	}
	if known, ok := sites.Load(key{op, stack}); ok {
		return known.(string)
	}
	site := op
	frames := runtime.CallersFrames(stack[:n])
	for more := true; more; {
		var f runtime.Frame
		if f, more = frames.Next(); strings.Contains(f.Function, "velum/pipeline/") && !strings.HasSuffix(f.File, "_test.go") {
			site += fmt.Sprintf(" %s:%d", f.Function[strings.LastIndexByte(f.Function, '.')+1:], f.Line)
		}
	}
	sites.Store(key{op, stack}, site)
	return site
}

func (o *once) OpenFile(name string, flag int, perm fs.FileMode) (durable.File, error) {
	if err := o.fails("open", name); err != nil {
		return nil, err
	}
	f, err := o.FS.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return &onceFile{f, o, name}, nil
}

func (o *once) Rename(from, to string) error {
	return cmpErr(o.fails("rename", to), func() error { return o.FS.Rename(from, to) })
}

func (o *once) Remove(name string) error {
	return cmpErr(o.fails("remove", name), func() error { return o.FS.Remove(name) })
}

func (o *once) Mkdir(name string, perm fs.FileMode) error {
	return cmpErr(o.fails("mkdir", name), func() error { return o.FS.Mkdir(name, perm) })
}

func (o *once) SyncDir(name string) error {
	return cmpErr(o.fails("syncdir", name), func() error { return o.FS.SyncDir(name) })
}

func (o *once) ReadDir(name string) ([]fs.DirEntry, error) {
	if err := o.fails("readdir", name); err != nil {
		return nil, err
	}
	return o.FS.ReadDir(name)
}

func (o *once) Stat(name string) (fs.FileInfo, error) {
	if err := o.fails("stat", name); err != nil {
		return nil, err
	}
	return o.FS.Stat(name)
}

func (o *once) Lock(name string, holder durable.Holder) (io.Closer, error) {
	if err := o.fails("lock", name); err != nil {
		return nil, err
	}
	c, err := o.FS.Lock(name, holder)
	if err != nil {
		return nil, err
	}
	return &onceLock{c, o, name}, nil
}

func cmpErr(err error, do func() error) error {
	if err != nil {
		return err
	}
	return do()
}

type onceLock struct {
	io.Closer
	o    *once
	name string
}

func (l *onceLock) Close() error { return errors.Join(l.o.fails("unlock", l.name), l.Closer.Close()) }

type onceFile struct {
	durable.File
	o    *once
	name string
}

func (f *onceFile) Read(p []byte) (int, error) {
	if err := f.o.fails("read", f.name); err != nil {
		return 0, err
	}
	return f.File.Read(p)
}

func (f *onceFile) ReadAt(p []byte, off int64) (int, error) {
	if err := f.o.fails("readat", f.name); err != nil {
		return 0, err
	}
	return f.File.ReadAt(p, off)
}

func (f *onceFile) Write(p []byte) (int, error) {
	if err := f.o.fails("write", f.name); err != nil {
		n, _ := f.File.Write(p[:len(p)/2])
		return n, err
	}
	return f.File.Write(p)
}

func (f *onceFile) Truncate(size int64) error {
	return cmpErr(f.o.fails("truncate", f.name), func() error { return f.File.Truncate(size) })
}

func (f *onceFile) Sync() error { return cmpErr(f.o.fails("sync", f.name), f.File.Sync) }

func (f *onceFile) Stat() (fs.FileInfo, error) {
	if err := f.o.fails("fstat", f.name); err != nil {
		return nil, err
	}
	return f.File.Stat()
}

func (f *onceFile) Close() error { return errors.Join(f.o.fails("close", f.name), f.File.Close()) }

// small is an archive of small files of two notes, by name; the content of a file is its version.
type small map[string]string

func (s small) plan() *Plan {
	p := &Plan{Roots: []string{"/in"}}
	for _, name := range slices.Sorted(maps.Keys(s)) {
		u := Unit{Input: "/in/" + name, Source: name, Folder: "a", To: 1, Rows: 2, Small: 1}
		copy(u.SHA256[:], s[name]+name)
		p.Units = append(p.Units, u)
	}
	return p
}

// sixteen are files that share a unit.
func sixteen() small {
	s := small{}
	for k := range leastMembers {
		s[fmt.Sprintf("f%02d", k)] = "1"
	}
	return s
}

// halve leaves the lines of a unit of testSink whose notes stay.
func halve(parts *Parts, of *UnitRecord, open func(PartRecord) (durable.File, error), stays func(row int64) bool) (c Counts, err error) {
	for _, p := range of.Parts {
		part, err := parts.Create(p.Kind, ".txt", p.Private)
		if err != nil {
			return c, err
		}
		f, err := open(p)
		if err != nil {
			return c, err
		}
		lines := bufio.NewScanner(struct{ io.Reader }{f})
		for lines.Scan() {
			var row int64
			if _, err := fmt.Sscanf(lines.Text(), "n%d", &row); err == nil {
				if !stays(row) {
					continue
				}
				part.Rows++
				c.Rows++
				if p.Private {
					c.Quarantined++
					c.Reasons.Add(map[string]int64{"null_id": 1})
				} else {
					c.Masked++
				}
			}
			if _, err := fmt.Fprintln(part, lines.Text()); err != nil {
				return c, err
			}
		}
		if err := errors.Join(lines.Err(), f.Close()); err != nil {
			return c, err
		}
	}
	return c, nil
}

// grow gives the archive to an output that grows.
func (s small) grow(dir string, d durable.FS, change func(*UnitOptions)) (*Result, error) {
	o := UnitOptions{Grow: true, Finish: testFinish, Rest: halve}
	if change != nil {
		change(&o)
	}
	return RunUnits(context.Background(), s.plan(), Output{Dir: filepath.Join(dir, "out"), FS: d}, newTestArchive(0).line, o)
}

// forgets says that a file of an archive is to go.
func forgets(name string) func(*UnitOptions) {
	return func(o *UnitOptions) { o.Forget = func(u *UnitRecord, _ string) bool { return u.Input == name } }
}

// TestNoErrorIsLost fails, in the runs that there are, the operation of every place of the program, once. What it was done for ends
// with that error, and done again it makes the trees of a run in which nothing fails. Some errors do no harm: what was there is
// written again, or only looked at.
func TestNoErrorIsLost(t *testing.T) {
	t.Parallel()
	plain := func(a *testArchive, o UnitOptions) func(testing.TB, string, durable.FS) error {
		return func(t testing.TB, dir string, d durable.FS) error {
			_, err := a.run(t, dir, d, o)
			return err
		}
	}
	nothing := func(testing.TB, string, durable.FS) error { return nil }
	other := newTestArchive(3)
	other.config = 1
	begun := func(units int) func(testing.TB, string, durable.FS) error {
		return func(t testing.TB, dir string, _ durable.FS) error {
			newTestArchive(units).begin(t, dir)
			return nil
		}
	}
	between := func(t testing.TB, dir string, d durable.FS) error { // dies when one manifest is placed and the other is not
		if err := plain(newTestArchive(3), UnitOptions{})(t, dir, d); err != nil {
			return err
		}
		_, err := other.run(t, dir, renames{d, filepath.Join(dir, "out", manifestName)}, UnitOptions{})
		if !errors.Is(err, errDied) {
			return fmt.Errorf("it did not die: %w", err)
		}
		return nil
	}
	grown := func(s small, change func(*UnitOptions)) func(testing.TB, string, durable.FS) error {
		return func(_ testing.TB, dir string, d durable.FS) error {
			_, err := s.grow(dir, d, change)
			return err
		}
	}
	fewer := sixteen()
	delete(fewer, "f03")
	seen := map[string]bool{}
	for _, c := range []struct {
		name      string
		begin, do func(testing.TB, string, durable.FS) error
	}{
		{"the first run", nothing, plain(newTestArchive(3), UnitOptions{})},
		{"the same again", plain(newTestArchive(3), UnitOptions{}), plain(newTestArchive(3), UnitOptions{})},
		{"by length", plain(newTestArchive(3), UnitOptions{}), plain(newTestArchive(3), UnitOptions{ByLength: true})},
		{"fresh", plain(newTestArchive(3), UnitOptions{}), plain(newTestArchive(3), UnitOptions{Fresh: true})},
		{"another configuration", plain(newTestArchive(3), UnitOptions{}), plain(other, UnitOptions{})},
		{"fewer units", plain(newTestArchive(4), UnitOptions{}), plain(newTestArchive(2), UnitOptions{})},
		{"after one that died", begun(3), plain(newTestArchive(3), UnitOptions{})},
		{"after one of another plan that died", begun(4), plain(newTestArchive(3), UnitOptions{})},
		{"after one that died between the manifests", between, plain(newTestArchive(3), UnitOptions{})},
		{"files that share a unit", nothing, grown(sixteen(), nil)},
		{"some of them again", grown(sixteen(), nil), grown(fewer, nil)},
		{"one of them goes", grown(sixteen(), nil), grown(small{}, forgets("f05"))},
		{"one goes and others are given", grown(sixteen(), nil), grown(fewer, forgets("f03"))},
		{"in turn", nothing, func(t testing.TB, dir string, d durable.FS) error {
			return newTestArchive(3).inTurn(t, Output{Dir: filepath.Join(dir, "out"), FS: d})
		}},
	} {
		sound := unsynced{durable.OS}
		first := tempDir(t)
		if err := c.begin(t, first, sound); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		whole := tempDir(t)
		copied(t, whole, first)
		count := &once{FS: sound}
		if err := c.do(t, whole, count); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		want := treeOf(t, whole)
		for _, site := range count.sites {
			if testing.Short() && seen[site] {
				continue
			}
			seen[site] = true
			dir := tempDir(t)
			copied(t, dir, first)
			d := &once{FS: sound, at: site}
			err := c.do(t, dir, d)
			switch {
			case d.what == "":
				continue
			case err == nil && !harmless(site) && c.name != "fresh":
				t.Errorf("%s: %s fails at %s and nobody says so", c.name, d.what, site)
			case err != nil && !errors.Is(err, syscall.EIO):
				t.Errorf("%s: %s fails at %s, and what is said is %v", c.name, d.what, site, err)
			}
			if err == nil {
				os.RemoveAll(dir)
				continue
			}
			if err := c.do(t, dir, sound); err != nil {
				t.Errorf("%s: %s failed at %s, and the next one ends with %v", c.name, d.what, site, err)
			} else if now := treeOf(t, dir); now != want {
				t.Errorf("%s: %s failed at %s, and the trees are\n%s\nwant\n%s", c.name, d.what, site, now, want)
			}
			os.RemoveAll(dir)
		}
	}
}

// harmless tells whether a run may go on after an error: a file is read only to see whether it is so already, or has anything to
// lose; a folder is made when it cannot be looked at; a manifest does not count with Fresh, or is read again later; that a run or a plan
// of before is there is found out again by the next one.
func harmless(site string) bool {
	return onlyLooks.MatchString(lines.ReplaceAllString(site, ""))
}

var (
	lines     = regexp.MustCompile(`:\d+`)
	onlyLooks = regexp.MustCompile(`^(open|read|close) ReadFile (place|placeInputs|pending|readManifest kinds) |^stat (MkdirAll|takeTurns|sweep|ReadPlan)\b`)
)

var errDied = errors.New("died")

// renames is a durable.FS in which a process dies before a file gets its name.
type renames struct {
	durable.FS
	to string
}

func (r renames) Rename(from, to string) error {
	if to == r.to {
		return errDied
	}
	return r.FS.Rename(from, to)
}

// copied copies what there is of an output.
func copied(t testing.TB, to, from string) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(from, "out")); err == nil {
		copyTrees(t, to, from)
	}
}
