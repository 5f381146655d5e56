package commit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/velum-health/velum/pipeline/durable"
)

// wantOutputError wants a refusal that names something.
func wantOutputError(t *testing.T, what string, err error, names string) {
	t.Helper()
	if refused, ok := errors.AsType[*OutputError](err); !ok || !strings.Contains(refused.Cause, names) {
		t.Errorf("%s: %v; want a refusal that names %s", what, err, names)
	}
}

// runIn runs an archive into an output.
func runIn(a *testArchive, out Output) error {
	out.FS = unsynced{durable.OS}
	_, err := RunUnits(context.Background(), a.plan(), out, a.line, UnitOptions{Finish: testFinish})
	return err
}

// TestNestedOutputs: an output below or above another is refused, whether that
// one has ended or not, and nothing of it is touched.
func TestNestedOutputs(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ first, second string }{
		{"a/2026", "a"}, {"a", "a/2026"}, {"a/b/c", "a"}, {"a", "a/b/c"}, {"a/2026", "link"}, {"a", "link/2026"}, {"a.private/x", "a"}, {"a", "a.private/x"},
	} {
		for _, ended := range []bool{true, false} {
			dir, a := t.TempDir(), newTestArchive(2)
			if err := os.Symlink("a", filepath.Join(dir, "link")); err != nil {
				t.Fatal(err)
			}
			first := Output{Dir: filepath.Join(dir, tt.first)}
			if ended {
				if err := runIn(a, first); err != nil {
					t.Fatal(err)
				}
			} else {
				stop := errors.New("stop")
				_, err := RunUnits(t.Context(), a.plan(), first, a.line, UnitOptions{Finish: func(context.Context, *Final) error { return stop }})
				if !errors.Is(err, stop) {
					t.Fatal(err)
				}
			}
			if err := os.Chmod(filepath.Join(dir, strings.Split(tt.first, "/")[0]), 0o700); err != nil {
				t.Fatal(err)
			}
			was := treeOf(t, first.Dir)
			wantOutputError(t, tt.second+" after "+tt.first, runIn(newTestArchive(1), Output{Dir: filepath.Join(dir, tt.second)}), "output")
			if treeOf(t, first.Dir) != was {
				t.Errorf("%s after %s: the first one is another", tt.second, tt.first)
			}
		}
	}
}

// TestOtherKindOfTree: an output does not go where the private tree of another
// one stands, nor a private tree where an output does.
func TestOtherKindOfTree(t *testing.T) {
	dir := t.TempDir()
	first := Output{Dir: filepath.Join(dir, "a")}
	if err := runIn(newTestArchive(2), first); err != nil {
		t.Fatal(err)
	}
	was := treeOf(t, dir)
	for name, second := range map[string]Output{
		"an output in a private tree": {Dir: filepath.Join(dir, "a.private")},
		"a private tree in an output": {Dir: filepath.Join(dir, "b"), Private: filepath.Join(dir, "a")},
	} {
		if second.Private != "" {
			if err := os.Chmod(second.Private, 0o700); err != nil {
				t.Fatal(err)
			}
		}
		wantOutputError(t, name, runIn(newTestArchive(1), second), "another")
		if treeOf(t, dir) != was {
			t.Errorf("%s: something has changed", name)
		}
	}
}

// TestSiblingOutputs: outputs beside each other are nobody's business.
func TestSiblingOutputs(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "manifest.json"), `{"name":"of another program"}`)
	for _, out := range []string{"a/2026", "a/2027", "b"} {
		if err := runIn(newTestArchive(1), Output{Dir: filepath.Join(dir, out)}); err != nil {
			t.Errorf("%s: %v", out, err)
		}
	}
}

// TestPrivateTree: a private tree is its owner's alone and one output's.
func TestPrivateTree(t *testing.T) {
	t.Parallel()
	dir, a := t.TempDir(), newTestArchive(2)
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := errors.Join(os.Mkdir(at("open"), 0o755), os.Mkdir(at("closed"), 0o700), os.Symlink("closed", at("link"))); err != nil {
		t.Fatal(err)
	}
	write(t, at("file"), "")
	for _, private := range []string{"open", "link", "file"} {
		wantOutputError(t, private, runIn(a, Output{Dir: at("out"), Private: at(private)}), at(private))
	}
	if os.Geteuid() == 0 {
		if err := errors.Join(os.Mkdir(at("theirs"), 0o700), os.Chown(at("theirs"), 990, 990)); err != nil {
			t.Fatal(err)
		}
		wantOutputError(t, "of another user", runIn(a, Output{Dir: at("out"), Private: at("theirs")}), "user 990")
	}
	for mode, ok := range map[fs.FileMode]bool{0o770: false, 0o770 | fs.ModeSetgid: true, 0o775 | fs.ModeSetgid: false} {
		dir := filepath.Join(t.TempDir(), "lent")
		if err := errors.Join(os.Mkdir(dir, 0o700), os.Chmod(dir, mode)); err != nil {
			t.Fatal(err)
		}
		if err := (Output{Dir: at("new"), Private: dir}).Apart(); (err == nil) != ok {
			t.Errorf("private tree of mode %v: %v", mode, err)
		}
	}
	if err := runIn(a, Output{Dir: at("out"), Private: at("closed")}); err != nil {
		t.Fatal(err)
	}
	wantOutputError(t, "of another output", runIn(a, Output{Dir: at("out2"), Private: at("closed")}), at("out"))
	if err := runIn(a, Output{Dir: at("out"), Private: at("closed")}); err != nil {
		t.Errorf("its own: %v", err)
	}
	if err := os.Rename(at("out"), at("out3")); err != nil {
		t.Fatal(err)
	}
	if err := runIn(a, Output{Dir: at("out3"), Private: at("closed")}); err != nil {
		t.Errorf("after its output was moved: %v", err)
	}
}

// TestCopiedOutput: a copy of both trees goes on by itself.
func TestCopiedOutput(t *testing.T) {
	a, dir := newTestArchive(2), t.TempDir()
	if err := runIn(a, Output{Dir: filepath.Join(dir, "out")}); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(dir, "copy")
	if err := os.Mkdir(other, 0o700); err != nil {
		t.Fatal(err)
	}
	copyTrees(t, other, dir)
	a.config = 1
	if err := runIn(a, Output{Dir: filepath.Join(other, "out")}); err != nil {
		t.Error(err)
	}
}

// TestFolderInUse: a folder that holds something else is no place for an
// output, and stays as it is.
func TestFolderInUse(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"out/letters/1.txt", "other.private/notes.txt"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, name), "mine")
	}
	was := treeOf(t, dir)
	wantOutputError(t, "a folder of letters", runIn(newTestArchive(1), Output{Dir: filepath.Join(dir, "out")}), "letters")
	wantOutputError(t, "a private folder of notes", runIn(newTestArchive(1), Output{Dir: filepath.Join(dir, "other")}), "notes.txt")
	if treeOf(t, dir) != was {
		t.Error("something was written")
	}
	for _, name := range []string{"hidden", "hidden/lost+found", "hidden/.cache"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := runIn(newTestArchive(1), Output{Dir: filepath.Join(dir, "hidden")}); err != nil {
		t.Error(err)
	}
}

// TestStores: what names a store is no folder.
func TestStores(t *testing.T) {
	for _, name := range []string{"s3://bucket/masked", "gs://bucket", "azblob://container/x", "file:///tmp/x"} {
		wantOutputError(t, name, Output{Dir: name}.Apart(), "machine")
		wantOutputError(t, name, Output{Dir: t.TempDir(), Private: name}.Apart(), "machine")
	}
}

// TestNothingReadIsNoSuccess: a run without a note leaves no _SUCCESS, and one
// that finds notes later does.
func TestNothingReadIsNoSuccess(t *testing.T) {
	a, dir := newTestArchive(0), t.TempDir()
	success := filepath.Join(dir, "out", successName)
	for _, units := range []int{0, 1, 0} {
		a.units = units
		if _, err := a.run(t, dir, nil, UnitOptions{}); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(success); (err == nil) != (units > 0) {
			t.Errorf("%d units: %v", units, err)
		}
	}
}

// TestDamagedOwnPart: damage of what velum wrote is not mended by fetching it.
func TestDamagedOwnPart(t *testing.T) {
	a, dir := newTestArchive(1), t.TempDir()
	_, err := RunUnits(t.Context(), a.plan(), Output{Dir: filepath.Join(dir, "out")}, a.line, UnitOptions{
		Finish: func(context.Context, *Final) error {
			return &DamageError{Path: "candidates/part-1", RowGroup: 2, Cause: "a page cannot be decoded"}
		},
	})
	bad, ok := errors.AsType[*durable.IntegrityError](err)
	if _, damage := errors.AsType[*DamageError](err); !ok || damage || bad.Path != "candidates/part-1" {
		t.Errorf("%v", err)
	}
}

// TestGroup: with the option the group reads the public tree and nothing else,
// whatever the umask; folders of runs and what is in them have one mode throughout.
func TestGroup(t *testing.T) {
	for _, group := range []bool{true, false} {
		a, dir := newTestArchive(3), t.TempDir()
		out := Output{Dir: filepath.Join(dir, "out"), Group: group}
		if _, err := RunUnits(t.Context(), a.plan(), out, a.line, UnitOptions{Finish: testFinish}); err != nil {
			t.Fatal(err)
		}
		wantModes(t, dir, group)
	}
}

// wantModes checks the modes of all that stands in both trees.
func wantModes(t testing.TB, dir string, group bool) {
	t.Helper()
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || name == dir {
			return err
		}
		info, err := e.Info()
		want := fs.FileMode(0o600)
		public := group && !strings.Contains(name, "out.private")
		if public && filepath.Base(name) != lockName && !(e.IsDir() && strings.Contains(name, "/_")) {
			want = 0o640
		}
		if e.IsDir() {
			want |= want >> 2 & 0o110
		}
		if info.Mode().Perm() != want {
			t.Errorf("group %t: %s has mode %04o, want %04o", group, name, info.Mode().Perm(), want)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// TestPublicWhileItRuns kills a plan, a shard and a finish at every operation. What stands
// in the public tree then has the modes of one that has ended, no file of it has a digest
// of an input, and plan and journals stand in the private tree.
func TestPublicWhileItRuns(t *testing.T) {
	t.Parallel()
	a := newTestArchive(3)
	var sums []string
	for _, u := range a.plan().Units {
		sums = append(sums, fmt.Sprintf("%x", u.SHA256))
	}
	for _, group := range []bool{true, false} {
		planned, did := false, 0
		for at := 1; ; at++ {
			dir := tempDir(t)
			killed := &faults{FS: durable.OS, at: at, lasting: true, err: errors.New("killed")}
			out := Output{Dir: filepath.Join(dir, "out"), FS: killed}
			if group {
				killed.FS = groupFS{durable.OS, out.Dir}
			}
			err := a.inTurn(t, out)
			wantModes(t, dir, group)
			_, bad := os.Stat(filepath.Join(dir, "out.private", planName))
			planned = planned || bad == nil
			for name, data := range filesBelow(t, out.Dir) {
				if strings.Contains(name, journalName) || slices.ContainsFunc(sums, func(sum string) bool { return strings.Contains(data, sum) }) {
					t.Errorf("killed at operation %d: %s is in the public tree", at, name)
				}
			}
			if did++; err == nil || t.Failed() {
				break
			}
		}
		if !planned || did < 100 {
			t.Errorf("%d operations, a plan was seen: %t", did, planned)
		}
	}
}

// inTurn plans, does the one share there is, and finishes.
func (a *testArchive) inTurn(t testing.TB, out Output) error {
	p, err := Prepare(a.plan(), out, UnitOptions{})
	if err != nil {
		return err
	}
	if err := errors.Join(p.Save(), p.Close()); err != nil {
		return err
	}
	if p, err = joined(out, UnitOptions{Attempt: "x"}, false); err != nil {
		return err
	}
	if err := errors.Join(p.DoShare(t.Context(), 0, 1, a.line), p.Close()); err != nil {
		return err
	}
	if p, err = joined(out, UnitOptions{Finish: testFinish}, true); err != nil {
		return err
	}
	_, err = p.Commit(t.Context())
	return errors.Join(err, p.Close())
}

// joined takes up the plan that is there.
func joined(out Output, o UnitOptions, lock bool) (*Prepared, error) {
	plan, err := ReadPlan(&out)
	if err != nil {
		return nil, err
	}
	return Join(out, o, plan, lock)
}

func filesBelow(t testing.TB, dir string) map[string]string {
	all := map[string]string{}
	_ = filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Error(err)
			}
			all[name] = string(data)
		}
		return nil
	})
	return all
}
