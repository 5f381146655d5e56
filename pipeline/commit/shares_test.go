package commit

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/velum-health/velum/pipeline/durable"
)

// prepared readies the trees of dir for the archive.
func (a *testArchive) prepared(dir string) (*Prepared, error) {
	return Prepare(a.plan(), Output{Dir: filepath.Join(dir, "out"), FS: unsynced{durable.OS}}, UnitOptions{AtOnce: 2, Finish: testFinish})
}

// TestShares: however the units are shared out among calls of Do, side by side
// or after each other, before or after a start that died, the trees are those
// of one run.
func TestShares(t *testing.T) {
	t.Parallel()
	a := newTestArchive(6)
	want := undisturbed(t, a)
	rapid.Check(t, func(rt *rapid.T) {
		dir := tempDir(t)
		share := rapid.SliceOfN(rapid.IntRange(0, 2), 6, 6).Draw(rt, "share of each unit")
		dies := rapid.IntRange(0, 3).Draw(rt, "shares done by a start that died")
		r, err := a.prepared(dir)
		if err != nil {
			rt.Fatal(err)
		}
		var all sync.WaitGroup
		for k, name := range []string{"-a", "-b", "-c"} {
			units := slices.DeleteFunc(r.Todo(), func(i int) bool { return share[i] != k })
			if k == dies {
				all.Wait()
				if r, err = reborn(a, r, dir); err != nil {
					rt.Fatal(err)
				}
			}
			all.Go(func() {
				if err := r.Do(context.Background(), name, units, a.line); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		result, err := r.Commit(context.Background())
		if err := errors.Join(err, r.Close()); err != nil {
			rt.Fatal(err)
		}
		if result.Done+result.Reused != 6 || treeOf(t, dir) != want {
			rt.Fatalf("%d done, %d reused, and the trees are others", result.Done, result.Reused)
		}
	})
}

// reborn lets a process die and another begin.
func reborn(a *testArchive, r *Prepared, dir string) (*Prepared, error) {
	if err := r.Close(); err != nil {
		return nil, err
	}
	return a.prepared(dir)
}

// TestCommitTakesJournals: a commit knows what others have journalled since it
// was prepared, and refuses to leave a unit out.
func TestCommitTakesJournals(t *testing.T) {
	a, dir := newTestArchive(4), t.TempDir()
	r, err := a.prepared(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Do(t.Context(), "-mine", []int{1}, a.line); err != nil {
		t.Fatal(err)
	}
	_, err = r.Commit(t.Context())
	if _, ok := errors.AsType[*PlanError](err); !ok {
		t.Fatalf("commit of a quarter: %v", err)
	}
	if err := r.Save(); err != nil {
		t.Fatal(err)
	}
	other, err := joined(Output{Dir: filepath.Join(dir, "out"), FS: r.fs}, UnitOptions{}, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Do(t.Context(), "-other", []int{0, 2, 3}, a.line); err != nil {
		t.Fatal(err)
	}
	result, err := r.Commit(t.Context())
	if err := errors.Join(err, r.Close()); err != nil || result.Reused != 3 {
		t.Fatalf("%+v, %v", result, err)
	}
	if treeOf(t, dir) != undisturbed(t, a) {
		t.Error("the tree is another")
	}
	mustCheck(t, dir)
}
