package commit

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"pgregory.net/rapid"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/durable"
)

// The archive of these tests: unit k has 7+k notes; every third note of a
// unit has no id and goes to quarantine.
type testArchive struct {
	units  int
	config byte
	files  byte            // changes the input files
	input  string          // their path
	broken map[int64]error // what the source of a unit returns after its first batch
	loses  int64           // unit whose sink loses a note; -1: none
	slow   bool            // notes take too long
	ran    atomic.Int64    // units whose line was made
}

func (a *testArchive) plan() *Plan {
	p := &Plan{Config: sha256.Sum256([]byte{a.config})}
	for k := range int64(a.units) {
		p.Units = append(p.Units, Unit{
			Input: cmp.Or(a.input, "in.parquet"), Folder: fmt.Sprintf("month=%d", k/2), SHA256: sha256.Sum256([]byte{a.files, byte(k / 2)}),
			From: k, To: k + 1, First: 100 * k, Rows: 7 + k,
		})
	}
	return p
}

func (a *testArchive) line(_ int, u *Unit, parts *Parts) (Line, error) {
	a.ran.Add(1)
	sink, err := newTestSink(parts, a.config, u.From == a.loses)
	return Line{Source: &testSource{left: int(u.Rows), first: u.First, slow: a.slow, err: a.broken[u.From]}, Sink: sink}, err
}

type testSource struct {
	left  int
	first int64
	slow  bool
	err   error
}

func (s *testSource) Next(b *pipeline.Batch) error {
	if s.left == 0 {
		return io.EOF
	}
	b.First = s.first
	for range min(3, s.left) {
		b.ID.Append(fmt.Appendf(nil, "n%d", s.first))
		b.Text.Append([]byte("text"))
		b.Reason = append(b.Reason, pipeline.Sound)
		if s.first%3 == 0 {
			b.Reason[len(b.Reason)-1] = pipeline.NullID
		}
		if s.slow && s.first%4 == 1 {
			b.Reason[len(b.Reason)-1] = pipeline.TimedOut
		}
		s.first++
		s.left--
	}
	if s.err != nil {
		s.left = 0
		return s.err
	}
	return nil
}

// testSink writes ids, one a line.
type testSink struct {
	masked, quarantine *Part
	counts             Counts
	loses              bool
}

func newTestSink(parts *Parts, config byte, loses bool) (*testSink, error) {
	masked, err1 := parts.Create("masked", ".txt", false)
	quarantine, err2 := parts.Create("quarantine", ".txt", true)
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	_, err := fmt.Fprintf(masked, "configuration %d\n", config)
	return &testSink{masked: masked, quarantine: quarantine, loses: loses}, err
}

func (s *testSink) Put(b *pipeline.Batch) error {
	for i, r := range b.Reason {
		if s.loses && i == 1 {
			s.loses = false
			continue
		}
		s.counts.Rows++
		to := s.masked
		if r == pipeline.Sound {
			s.counts.Masked++
		} else {
			to = s.quarantine
			s.counts.Quarantined++
			s.counts.Reasons.Add(map[string]int64{r.String(): 1})
		}
		to.Rows++
		if _, err := fmt.Fprintf(to, "%s\n", b.ID.At(i)); err != nil {
			return err
		}
	}
	return nil
}

func (s *testSink) Close() (Counts, error) { return s.counts, nil }

// finish writes a report in each tree.
func testFinish(_ context.Context, f *Final) error {
	for _, private := range []bool{false, true} {
		part, err := f.Create("report", "report.json", private)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(part, "{\"rows\":%d}\n", f.Manifest.Rows); err != nil {
			return err
		}
	}
	return nil
}

func (a *testArchive) run(t testing.TB, dir string, d durable.FS, o UnitOptions) (*Result, error) {
	t.Helper()
	o.Finish = testFinish
	if d == nil {
		d = unsynced{durable.OS}
	}
	return RunUnits(t.Context(), a.plan(), Output{Dir: filepath.Join(dir, "out"), FS: d}, a.line, o)
}

// tempDir is t.TempDir in memory where the system has such a folder: these
// tests make thousands of files.
func tempDir(t testing.TB) string {
	dir, err := os.MkdirTemp("/dev/shm", "velum-test-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func newTestArchive(units int) *testArchive { return &testArchive{units: units, loses: -1} }

// treeOf lists every file below a folder with its content, but for what says
// where.
func treeOf(t testing.TB, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, name)
		if e.Name() == placesName {
			return nil // where the inputs lay
		}
		if e.IsDir() {
			fmt.Fprintf(&b, "%s/\n", rel)
			return nil
		}
		data, err := os.ReadFile(name)
		fmt.Fprintf(&b, "%s: %q\n", rel, data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// undisturbed is the tree of a run in which nothing goes wrong.
func undisturbed(t testing.TB, a *testArchive) string {
	t.Helper()
	dir := tempDir(t)
	if _, err := a.run(t, dir, nil, UnitOptions{}); err != nil {
		t.Fatal(err)
	}
	return treeOf(t, dir)
}

func mustCheck(t testing.TB, dir string) {
	t.Helper()
	for _, tree := range []string{"out", "out.private"} {
		diffs, err := Check(t.Context(), filepath.Join(dir, tree))
		if err != nil || len(diffs) > 0 {
			t.Errorf("check of %s: %v, %v", tree, diffs, err)
		}
	}
}

// TestCheckStops wants a check of many parts to end when it is told to, and not to say that all is well.
func TestCheckStops(t *testing.T) {
	a, dir := newTestArchive(5), t.TempDir()
	if _, err := a.run(t, dir, nil, UnitOptions{}); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if diffs, err := Check(ctx, filepath.Join(dir, "out")); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %v", diffs, err)
	}
}

func TestRunUnits(t *testing.T) {
	a, dir := newTestArchive(5), t.TempDir()
	r, err := a.run(t, dir, nil, UnitOptions{AtOnce: 3})
	if err != nil {
		t.Fatal(err)
	}
	if r.Done != 5 || r.Reused != 0 || r.Nothing {
		t.Errorf("done %d, reused %d, nothing %v", r.Done, r.Reused, r.Nothing)
	}
	m := r.Manifest
	if m.Rows != 45 || m.Masked+m.Quarantined != 45 || m.Reasons["null_id"] != m.Quarantined || m.Quarantined == 0 {
		t.Errorf("counts %+v", m.Counts)
	}
	mustCheck(t, dir)
	err = filepath.WalkDir(dir, func(name string, e fs.DirEntry, _ error) error {
		info, err := e.Info()
		if name != dir && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", name, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	public, err := os.ReadFile(filepath.Join(dir, "out", "manifest.json"))
	if err != nil || bytes.Contains(public, []byte("in.parquet")) {
		t.Errorf("public manifest names the input file, or %v", err)
	}
}

func TestRunUnitsAgain(t *testing.T) {
	a, dir := newTestArchive(4), t.TempDir()
	if _, err := a.run(t, dir, nil, UnitOptions{}); err != nil {
		t.Fatal(err)
	}
	was := treeOf(t, dir)
	for _, tt := range []struct {
		name         string
		change       func()
		o            UnitOptions
		done, reused int
		nothing      bool
	}{
		{"nothing changed", func() {}, UnitOptions{}, 0, 4, true},
		{"fresh", func() {}, UnitOptions{Fresh: true}, 4, 0, false},
		{"after fresh", func() {}, UnitOptions{}, 0, 4, true},
		{"a part is gone", func() { removePart(t, dir) }, UnitOptions{}, 1, 3, false},
		{"a part is changed", func() { changePart(t, dir) }, UnitOptions{}, 1, 3, false},
		{"_SUCCESS is gone", func() { os.Remove(filepath.Join(dir, "out", "_SUCCESS")) }, UnitOptions{}, 0, 4, false},
		{"report is gone", func() { os.Remove(filepath.Join(dir, "out", "report.json")) }, UnitOptions{}, 0, 4, false},
		{"private manifest is gone", func() { os.Remove(filepath.Join(dir, "out.private", "manifest.json")) }, UnitOptions{}, 4, 0, false},
		{"at the end", func() {}, UnitOptions{}, 0, 4, true},
	} {
		tt.change()
		r, err := a.run(t, dir, nil, tt.o)
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		if r.Done != tt.done || r.Reused != tt.reused || r.Nothing != tt.nothing {
			t.Errorf("%s: done %d, reused %d, nothing %v", tt.name, r.Done, r.Reused, r.Nothing)
		}
		if now := treeOf(t, dir); now != was {
			t.Errorf("%s: the tree is another:\n%s\nwas\n%s", tt.name, now, was)
		}
	}
}

func somePart(t testing.TB, dir string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "out", "masked", "*", "part-*"))
	if err != nil || len(found) == 0 {
		t.Fatal("no part", err)
	}
	return found[len(found)/2]
}

func removePart(t testing.TB, dir string) {
	if err := os.Remove(somePart(t, dir)); err != nil {
		t.Fatal(err)
	}
}

func changePart(t testing.TB, dir string) { flip(t, somePart(t, dir), 3) }

func write(t testing.TB, name, data string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(data), 0o600); err != nil {
		t.Fatal(err)
	}
}

func flip(t testing.TB, name string, bit int) {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	data[bit/8%len(data)] ^= 1 << (bit % 8)
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestRunUnitsChanges(t *testing.T) {
	dir := t.TempDir()
	a := newTestArchive(4)
	for _, tt := range []struct {
		name         string
		change       func()
		done, reused int
	}{
		{"begin", func() {}, 4, 0},
		{"one month more", func() { a.units = 6 }, 2, 4},
		{"another configuration", func() { a.config = 1 }, 6, 0},
		{"other input files", func() { a.files = 1 }, 6, 0},
		{"fewer months", func() { a.units = 2 }, 0, 2},
		{"input renamed", func() { a.input = "moved.parquet" }, 0, 2},
	} {
		tt.change()
		r, err := a.run(t, dir, nil, UnitOptions{AtOnce: 2})
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		if r.Done != tt.done || r.Reused != tt.reused {
			t.Errorf("%s: done %d, reused %d", tt.name, r.Done, r.Reused)
		}
		mustCheck(t, dir)
		if now, want := treeOf(t, dir), undisturbed(t, a); now != want {
			t.Errorf("%s: not the tree of a fresh run:\n%s\nwant\n%s", tt.name, now, want)
		}
	}
}

// TestByLength: with ByLength a part of the last commit is not read, but one that is
// not there, or shorter, is seen; what a start did that did not commit is read.
func TestByLength(t *testing.T) {
	for _, tt := range []struct {
		name     string
		spoil    func(t *testing.T, name string)
		byLength int // units done again
		read     int
	}{
		{"a bit", func(t *testing.T, name string) { flip(t, name, 99) }, 0, 1},
		{"a byte less", func(t *testing.T, name string) {
			info, err := os.Stat(name)
			if err := errors.Join(err, os.Truncate(name, info.Size()-1)); err != nil {
				t.Fatal(err)
			}
		}, 1, 1},
		{"gone", func(t *testing.T, name string) {
			if err := os.Remove(name); err != nil {
				t.Fatal(err)
			}
		}, 1, 1},
		{"a folder", func(t *testing.T, name string) {
			if err := errors.Join(os.Remove(name), os.Mkdir(name, 0o700)); err != nil {
				t.Fatal(err)
			}
		}, 1, 1},
	} {
		for _, committed := range []bool{true, false} {
			for _, byLength := range []bool{true, false} {
				a, dir := newTestArchive(3), tempDir(t)
				if committed {
					if _, err := a.run(t, dir, nil, UnitOptions{}); err != nil {
						t.Fatal(err)
					}
				} else {
					a.begin(t, dir)
				}
				parts, err := filepath.Glob(filepath.Join(dir, "out", "masked", "month=0", "part-*"))
				if err != nil || len(parts) == 0 {
					t.Fatal(parts, err)
				}
				tt.spoil(t, parts[0])
				want := tt.read
				if byLength && committed {
					want = tt.byLength
				}
				r, err := a.run(t, dir, nil, UnitOptions{ByLength: byLength})
				if err != nil || r.Done != want {
					t.Errorf("%s, committed %t, by length %t: %d units done, want %d, %v", tt.name, committed, byLength, r.Done, want, err)
				}
			}
		}
	}
}

// TestForeignFiles: what velum did not write stays, Check names it, and no run
// goes on beside it.
func TestForeignFiles(t *testing.T) {
	a, dir := newTestArchive(2), t.TempDir()
	if _, err := a.run(t, dir, nil, UnitOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"README", "part-0.parquet", "month=0/mine.parquet"} {
		mine := filepath.Join(dir, "out", "masked", name)
		write(t, mine, "")
		a.config = 9
		_, err := a.run(t, dir, nil, UnitOptions{})
		if refused, ok := errors.AsType[*OutputError](err); !ok || !strings.Contains(refused.Cause, mine) {
			t.Errorf("%s: %v", name, err)
		}
		diffs, err := Check(t.Context(), filepath.Join(dir, "out"))
		if err != nil || !slices.Equal(diffs, []Difference{{"masked/" + name, "unknown"}}) {
			t.Errorf("check: %v, %v", diffs, err)
		}
		if err := os.Remove(mine); err != nil {
			t.Error("a file that is not ours was removed")
		}
	}
	if _, err := a.run(t, dir, nil, UnitOptions{}); err != nil {
		t.Error(err)
	}
}

func TestDamagedUnit(t *testing.T) {
	a, dir := newTestArchive(4), t.TempDir()
	a.broken = map[int64]error{2: &DamageError{Path: "in.parquet", RowGroup: 2, Column: "text", Cause: "a page cannot be decoded"}}
	r, err := a.run(t, dir, nil, UnitOptions{AtOnce: 2})
	if err != nil {
		t.Fatal(err)
	}
	u := r.Manifest.Units[2]
	if u.Damage != `row group 2: column "text": a page cannot be decoded` || u.Reasons["bad_unit"] != 9 || len(u.Parts) != 0 {
		t.Errorf("damaged unit: %+v", u)
	}
	if r.Manifest.Reasons["bad_unit"] != 9 || r.Manifest.Rows != 34 {
		t.Errorf("counts: %+v", r.Manifest.Counts)
	}
	mustCheck(t, dir)
	if r, err = a.run(t, dir, nil, UnitOptions{}); err != nil || !r.Nothing {
		t.Errorf("again: %+v, %v", r, err)
	}
}

// What the system could not read is tried again, until the tree is that of an
// undisturbed run; what is damaged is not.
func TestUnreadUnit(t *testing.T) {
	a, dir := newTestArchive(4), t.TempDir()
	a.broken = map[int64]error{1: &DamageError{Path: "in.parquet", RowGroup: 1, Cause: "cannot be read", Unread: true}}
	for range 2 {
		r, err := a.run(t, dir, nil, UnitOptions{AtOnce: 2})
		if err != nil {
			t.Fatal(err)
		}
		if u := r.Manifest.Units[1]; r.Nothing || u.Damage == "" || !u.Unread || len(u.Parts) != 0 || u.Reasons["bad_unit"] != u.Rows {
			t.Fatalf("nothing %v, unit %+v", r.Nothing, u)
		}
		mustCheck(t, dir)
	}
	a.broken = nil
	r, err := a.run(t, dir, nil, UnitOptions{})
	if err != nil || r.Reused != 3 || r.Done != 1 {
		t.Fatalf("%d reused, %d done, %v", r.Reused, r.Done, err)
	}
	if treeOf(t, dir) != undisturbed(t, a) {
		t.Error("the tree is not that of an undisturbed run")
	}
}

// A note that took too long is tried again at the next start, too.
func TestSlowNote(t *testing.T) {
	a, dir := newTestArchive(4), t.TempDir()
	a.slow = true
	r, err := a.run(t, dir, nil, UnitOptions{})
	if err != nil || r.Manifest.Reasons["timed_out"] == 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	mustCheck(t, dir)
	if public, err := ReadManifest(filepath.Join(dir, "out")); err != nil || public.Units[0].Unread {
		t.Errorf("the public manifest says why notes are in quarantine, %v", err)
	}
	a.slow = false
	// Until the commit the parts are those that the last one lists, in both trees.
	whole := func(*UnitRecord, bool) {
		for _, tree := range []string{"out", "out.private"} {
			diffs, err := Check(t.Context(), filepath.Join(dir, tree))
			for _, d := range diffs {
				if d.Kind == "changed" || d.Kind == "missing" && d.Path != successName {
					t.Errorf("during the second run: %v", d)
				}
			}
			if err != nil {
				t.Error(err)
			}
		}
	}
	if r, err = a.run(t, dir, nil, UnitOptions{Done: whole}); err != nil || r.Done != 4 {
		t.Fatalf("%d done, %v", r.Done, err)
	}
	mustCheck(t, dir)
	if treeOf(t, dir) != undisturbed(t, a) {
		t.Error("the tree is not that of an undisturbed run")
	}
}

// A note that takes too long at every start is tried at mostStarts of them and
// stays in quarantine, until somebody wants everything done again.
func TestNoteAlwaysSlow(t *testing.T) {
	a, dir := newTestArchive(4), t.TempDir()
	a.slow = true
	start := func(o UnitOptions, done, starts int, again bool) {
		t.Helper()
		r, err := a.run(t, dir, nil, o)
		if err != nil {
			t.Fatal(err)
		}
		if u := r.Manifest.Units[0]; r.Done != done || u.Starts != starts || u.Unread != again || u.Reasons["timed_out"] == 0 {
			t.Errorf("%d done, %d starts, tried again %v, %v", r.Done, u.Starts, u.Unread, u.Reasons)
		}
		mustCheck(t, dir)
	}
	for k := range mostStarts {
		start(UnitOptions{}, 4, k+1, k+1 < mostStarts)
	}
	start(UnitOptions{}, 0, mostStarts, false)
	start(UnitOptions{Fresh: true}, 4, 1, true)
	public, err := os.ReadFile(filepath.Join(dir, "out", manifestName))
	if err != nil || bytes.Contains(public, []byte(`"starts"`)) {
		t.Errorf("the public manifest says why notes are in quarantine, %v", err)
	}
	a.slow = false
	if r, err := a.run(t, dir, nil, UnitOptions{}); err != nil || r.Done != 4 || treeOf(t, dir) != undisturbed(t, a) {
		t.Errorf("in the end %d done, %v", r.Done, err)
	}
}

func TestLostNote(t *testing.T) {
	a, dir := newTestArchive(3), t.TempDir()
	a.loses = 1
	_, err := a.run(t, dir, nil, UnitOptions{})
	if _, ok := errors.AsType[*durable.IntegrityError](err); !ok {
		t.Fatalf("error %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "out", "manifest.json")); err == nil {
		t.Error("committed")
	}
	a.loses = -1
	if _, err := a.run(t, dir, nil, UnitOptions{}); err != nil {
		t.Fatal(err)
	}
	if treeOf(t, dir) != undisturbed(t, a) {
		t.Error("the tree is not that of an undisturbed run")
	}
}

func TestBadDigest(t *testing.T) {
	a, dir := newTestArchive(1), t.TempDir()
	line := func(_ int, u *Unit, parts *Parts) (Line, error) {
		part, err := parts.Create("masked", ".parquet", false)
		if err != nil {
			return Line{}, err
		}
		part.Rows, part.Digest = u.Rows, "written"
		return Line{Source: &testSource{left: int(u.Rows), first: 1}, Sink: countSink{}}, nil
	}
	for _, tt := range []struct {
		name   string
		verify verifier
	}{
		{"other rows", func(string, io.ReaderAt, int64) (int64, string, error) { return 3, "written", nil }},
		{"other content", func(string, io.ReaderAt, int64) (int64, string, error) { return 7, "read", nil }},
		{"does not open", func(string, io.ReaderAt, int64) (int64, string, error) { return 0, "", io.ErrUnexpectedEOF }},
		{"panic", func(string, io.ReaderAt, int64) (int64, string, error) { panic("library") }},
	} {
		_, err := RunUnits(t.Context(), a.plan(), Output{Dir: filepath.Join(dir, "out")}, line, UnitOptions{Verify: tt.verify})
		if err == nil {
			t.Errorf("%s: no error", tt.name)
		}
		if found, _ := filepath.Glob(filepath.Join(dir, "out", "masked", "*", "*")); len(found) > 0 {
			t.Errorf("%s: the part has got its name", tt.name)
		}
	}
}

// countSink keeps nothing: for runs that are to fail.
type countSink struct{}

func (countSink) Put(*pipeline.Batch) error { return nil }
func (countSink) Close() (Counts, error)    { return Counts{Rows: 7, Masked: 7}, nil }

func TestOutputsApart(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "in"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("in", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, tt := range []struct {
		out, private, in string
		ok               bool
	}{
		{"out", "", "in", true},
		{"in/out", "", "in", false},
		{"in", "", "in", false},
		{"out", "", "out/in", false},
		{"out", "out/private", "in", false},
		{"out/public", "out", "in", false},
		{"out", "in/private", "in", false},
		{"link/out", "", "in", false},
		{"inner", "", "in", true},
	} {
		o := Output{Dir: at(tt.out)}
		if tt.private != "" {
			o.Private = at(tt.private)
		}
		if err := o.Apart(at(tt.in)); (err == nil) != tt.ok {
			t.Errorf("%+v: %v", tt, err)
		}
	}
}

func TestCancelledRunResumes(t *testing.T) {
	t.Parallel()
	a := newTestArchive(6)
	want := undisturbed(t, a)
	for stop := range 6 {
		dir := tempDir(t)
		ctx, cancel := context.WithCancelCause(t.Context())
		stopped := errors.New("stopped")
		seen := 0
		_, err := RunUnits(ctx, a.plan(), Output{Dir: filepath.Join(dir, "out")}, a.line, UnitOptions{AtOnce: 2, Finish: testFinish,
			Done: func(*UnitRecord, bool) {
				if seen++; seen == stop+1 {
					cancel(stopped)
				}
			}})
		if stop < 4 && !errors.Is(err, stopped) {
			t.Fatalf("after %d: %v", stop, err)
		}
		r, err := a.run(t, dir, nil, UnitOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if r.Reused < stop+1 {
			t.Errorf("after %d: only %d reused", stop, r.Reused)
		}
		if treeOf(t, dir) != want {
			t.Errorf("after %d: the tree is another", stop)
		}
	}
}

// faults is a durable.FS in which operation number at fails, and all after it if
// lasting. A write that fails writes half of its data.
type faults struct {
	durable.FS
	mu      sync.Mutex
	n       int
	at      int
	lasting bool
	err     error
}

func (f *faults) fails() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.n++
	return f.n == f.at || f.lasting && f.n > f.at
}

func (f *faults) OpenFile(name string, flag int, perm fs.FileMode) (durable.File, error) {
	if f.fails() {
		return nil, f.err
	}
	file, err := f.FS.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return &faultFile{file, f}, nil
}

func (f *faults) do(op func() error) error {
	if f.fails() {
		return f.err
	}
	return op()
}

func (f *faults) Rename(from, to string) error {
	return f.do(func() error { return f.FS.Rename(from, to) })
}
func (f *faults) Remove(name string) error { return f.do(func() error { return f.FS.Remove(name) }) }
func (f *faults) Mkdir(name string, perm fs.FileMode) error {
	return f.do(func() error { return f.FS.Mkdir(name, perm) })
}
func (f *faults) SyncDir(name string) error { return f.do(func() error { return f.FS.SyncDir(name) }) }

type faultFile struct {
	durable.File
	f *faults
}

func (f *faultFile) Write(data []byte) (int, error) {
	if f.f.fails() {
		n, _ := f.File.Write(data[:len(data)/2])
		return n, f.f.err
	}
	return f.File.Write(data)
}
func (f *faultFile) Sync() error { return f.f.do(f.File.Sync) }
func (f *faultFile) Truncate(size int64) error {
	return f.f.do(func() error { return f.File.Truncate(size) })
}
func (f *faultFile) Close() error {
	fails := f.f.fails()
	if err := f.File.Close(); err != nil || !fails {
		return err
	}
	return f.f.err
}

// TestEveryOperationFails: whatever operation fails, once or from then on,
// the run ends with that error or is not hurt, and the next start makes the
// tree of an undisturbed run.
func TestEveryOperationFails(t *testing.T) {
	t.Parallel()
	a := newTestArchive(3)
	want := undisturbed(t, a)
	count := &faults{FS: unsynced{durable.OS}}
	if _, err := a.run(t, tempDir(t), count, UnitOptions{}); err != nil {
		t.Fatal(err)
	}
	step := 1
	if testing.Short() {
		step = 7
	}
	for at := 1; at <= count.n; at += step {
		for _, lasting := range []bool{false, true} {
			dir := tempDir(t)
			d := &faults{FS: unsynced{durable.OS}, at: at, lasting: lasting, err: fmt.Errorf("test: %w", syscall.ENOSPC)}
			if _, err := a.run(t, dir, d, UnitOptions{}); err != nil && !errors.Is(err, syscall.ENOSPC) {
				t.Errorf("operation %d: error is not that of the disk: %v", at, err)
			} else if err == nil && lasting {
				t.Errorf("operation %d fails for good and the run says that all is well", at)
			}
			if _, err := a.run(t, dir, nil, UnitOptions{}); err != nil {
				t.Fatalf("operation %d, lasting %v: resume: %v", at, lasting, err)
			}
			if now := treeOf(t, dir); now != want {
				t.Fatalf("operation %d, lasting %v: the tree is another:\n%s\nwant\n%s", at, lasting, now, want)
			}
		}
	}
}

// TestChangedConfigurationFails does the same while one commit replaces
// another: until the new manifest is there, the old parts are whole.
func TestChangedConfigurationFails(t *testing.T) {
	t.Parallel()
	a := newTestArchive(2)
	first := tempDir(t)
	if _, err := a.run(t, first, nil, UnitOptions{}); err != nil {
		t.Fatal(err)
	}
	old, err := ReadManifest(filepath.Join(first, "out"))
	if err != nil {
		t.Fatal(err)
	}
	a.config = 1
	want := undisturbed(t, a)
	for at := 1; ; at += 3 {
		dir := tempDir(t)
		copyTrees(t, dir, first)
		d := &faults{FS: unsynced{durable.OS}, at: at, lasting: true, err: syscall.EIO}
		_, err := a.run(t, dir, d, UnitOptions{})
		if err == nil {
			break
		}
		if !durable.DiskFailed(err) {
			t.Errorf("operation %d: %v", at, err)
		}
		now, err := ReadManifest(filepath.Join(dir, "out"))
		if err != nil {
			t.Fatalf("operation %d: no manifest: %v", at, err)
		}
		now.all(func(p PartRecord) bool {
			if now.Config == old.Config && p.Kind == "report" {
				return true // it may have been replaced already
			}
			if kind, err := partState(durable.OS, filepath.Join(dir, "out"), p, false); kind != "" || err != nil {
				t.Errorf("operation %d: %s is %s: %v", at, p.Path, kind, err)
			}
			return true
		})
		if _, err := a.run(t, dir, nil, UnitOptions{}); err != nil {
			t.Fatal(err)
		}
		if treeOf(t, dir) != want {
			t.Fatalf("operation %d: the tree is another", at)
		}
	}
}

// TestTornJournal: whatever becomes of the journal's bytes, the tree is that
// of an undisturbed run.
func TestTornJournal(t *testing.T) {
	t.Parallel()
	a := newTestArchive(4)
	want := undisturbed(t, a)
	begun := tempDir(t)
	a.begin(t, begun)
	journals, err := filepath.Glob(filepath.Join(begun, "out.private", "_runs", "journal"))
	if err != nil || len(journals) != 1 {
		t.Fatal(journals, err)
	}
	name, err := filepath.Rel(begun, journals[0])
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(begun, "copy")
		if err != nil {
			rt.Fatal(err)
		}
		defer os.RemoveAll(dir)
		copyTrees(t, dir, begun)
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			rt.Fatal(err)
		}
		data = data[:rapid.IntRange(0, len(data)).Draw(rt, "length")]
		if len(data) > 0 && rapid.Bool().Draw(rt, "flip") {
			data[rapid.IntRange(0, len(data)-1).Draw(rt, "byte")] ^= 1 << rapid.IntRange(0, 7).Draw(rt, "bit")
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			rt.Fatal(err)
		}
		a.begin(t, dir)
		r, err := a.run(t, dir, nil, UnitOptions{})
		if err != nil {
			rt.Fatal(err)
		}
		if r.Done > 0 {
			rt.Fatalf("%d units were done and journalled and have been done again", r.Done)
		}
		if treeOf(t, dir) != want {
			rt.Fatal("the tree is another")
		}
	})
}

// copyTrees copies both trees of an output.
func copyTrees(t testing.TB, to, from string) {
	t.Helper()
	for _, tree := range []string{"out", "out.private"} {
		err := os.CopyFS(filepath.Join(to, tree), os.DirFS(filepath.Join(from, tree)))
		if err := errors.Join(err, os.Chmod(filepath.Join(to, tree), 0o700)); err != nil {
			t.Fatal(err)
		}
	}
}

// begin does all units and then stops before the commit.
func (a *testArchive) begin(t testing.TB, dir string) {
	t.Helper()
	stop := errors.New("stop")
	_, err := RunUnits(t.Context(), a.plan(), Output{Dir: filepath.Join(dir, "out"), FS: unsynced{durable.OS}}, a.line,
		UnitOptions{Finish: func(context.Context, *Final) error { return stop }})
	if !errors.Is(err, stop) {
		t.Fatal(err)
	}
}

// TestPlanChangesBetweenStarts: what one plan has done serves the next, even
// if that is stopped too.
func TestPlanChangesBetweenStarts(t *testing.T) {
	a, dir := newTestArchive(3), t.TempDir()
	for _, units := range []int{3, 4, 2, 5} {
		a.units = units
		a.begin(t, dir)
	}
	left := filepath.Join(dir, "out.private", "_runs", "killed", "half")
	if err := errors.Join(os.MkdirAll(filepath.Dir(left), 0o700), os.WriteFile(left, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	a.begin(t, dir)
	if _, err := os.Stat(left); !errors.Is(err, fs.ErrNotExist) {
		t.Error("a temporary file of a killed run is still there")
	}
	r, err := a.run(t, dir, nil, UnitOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Reused != 5 {
		t.Errorf("%d reused, %d done", r.Reused, r.Done)
	}
	if treeOf(t, dir) != undisturbed(t, a) {
		t.Error("the tree is another")
	}
}

func TestLock(t *testing.T) {
	a, dir := newTestArchive(1), t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "out.private"), 0o700); err != nil {
		t.Fatal(err)
	}
	other, err := durable.OS.Lock(filepath.Join(dir, "out.private", ".lock"), durable.NewHolder("private"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err = a.run(t, dir, nil, UnitOptions{}); err == nil {
		t.Error("ran beside another run")
	}
	if _, ok := errors.AsType[*durable.LockedError](err); !ok {
		t.Errorf("error %v", err)
	}
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	// What a killed process leaves behind is no lock.
	if err := os.WriteFile(filepath.Join(dir, "out", ".lock"), []byte(`{"pid":1}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err = a.run(t, dir, nil, UnitOptions{}); err != nil {
		t.Error(err)
	}
}

// TestOneWinner starts the same run several times at once.
func TestOneWinner(t *testing.T) {
	dir := t.TempDir()
	var won, locked atomic.Int64
	var wg sync.WaitGroup
	gate := make(chan struct{})
	hold := make(chan struct{})
	for range 8 {
		a := newTestArchive(1)
		wg.Go(func() {
			<-gate
			_, err := RunUnits(t.Context(), a.plan(), Output{Dir: filepath.Join(dir, "out")}, a.line,
				UnitOptions{Finish: func(context.Context, *Final) error { <-hold; return nil }})
			if _, ok := errors.AsType[*durable.LockedError](err); ok {
				if locked.Add(1) == 7 {
					close(hold)
				}
			} else if err == nil {
				won.Add(1)
			} else {
				t.Error(err)
			}
		})
	}
	close(gate)
	wg.Wait()
	if won.Load() != 1 || locked.Load() != 7 {
		t.Errorf("%d won, %d locked out", won.Load(), locked.Load())
	}
}

// TestCheckFindsEveryFlip: no bit of an output tree can change unseen.
func TestCheckFindsEveryFlip(t *testing.T) {
	t.Parallel()
	a, dir := newTestArchive(2), tempDir(t)
	if _, err := a.run(t, dir, nil, UnitOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, tree := range []string{"out", "out.private"} {
		root := filepath.Join(dir, tree)
		err := filepath.WalkDir(root, func(name string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			info, err := e.Info()
			if err != nil {
				return err
			}
			for bit := 0; bit < int(info.Size())*8; bit += 1 + int(info.Size())/13 {
				flip(t, name, bit)
				diffs, err := Check(t.Context(), root)
				if err != nil || len(diffs) == 0 {
					t.Errorf("%s, bit %d: %v, %v", name, bit, diffs, err)
				}
				flip(t, name, bit)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	mustCheck(t, dir)
}

func TestManifestOfOtherVersion(t *testing.T) {
	a, dir := newTestArchive(1), t.TempDir()
	if _, err := a.run(t, dir, nil, UnitOptions{}); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "out", "manifest.json")
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, bytes.Replace(data, []byte("manifest/3"), []byte("manifest/9"), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = a.run(t, dir, nil, UnitOptions{})
	if bad, ok := errors.AsType[*durable.IntegrityError](err); !ok || bad.Path != name {
		t.Errorf("error %v", err)
	}
	if _, err = a.run(t, dir, nil, UnitOptions{Fresh: true}); err != nil {
		t.Errorf("fresh: %v", err)
	}
	mustCheck(t, dir)
}

func FuzzManifest(f *testing.F) {
	f.Add([]byte(`{"schema":"velum.manifest/1","units":[{"parts":[{"path":"a"}]}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := ParseManifest(data)
		if err != nil {
			return
		}
		out, err := m.MarshalFile()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ParseManifest(out); err != nil {
			t.Fatal("what was written does not parse")
		}
	})
}
