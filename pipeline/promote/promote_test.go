package promote

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/velum-health/velum/pipeline/durable"
)

var promoted = time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)

func mustPromote(t testing.TB, m *Folder, model string) {
	t.Helper()
	if done, err := m.Promote([]byte(model), promoted); err != nil || !done {
		t.Fatalf("promote: %v, %v", done, err)
	}
}

func wantCurrent(t testing.TB, m *Folder, model string) {
	t.Helper()
	p, data, err := m.Current()
	if err != nil || string(data) != model {
		t.Fatalf("in use: %q, %v; want %q", data, err, model)
	}
	if p.File != modelFile(p.SHA256) {
		t.Errorf("file %q of %s", p.File, p.SHA256)
	}
}

func TestPromote(t *testing.T) {
	t.Parallel()
	m := &Folder{Dir: filepath.Join(t.TempDir(), "models")}
	for _, err := range []error{second(m.History()), second(m.Rollback())} {
		if !errors.Is(err, ErrNone) {
			t.Errorf("empty folder: %v", err)
		}
	}
	mustPromote(t, m, "one")
	wantCurrent(t, m, "one")
	if _, err := m.Rollback(); !errors.Is(err, ErrNone) {
		t.Errorf("nothing to go back to: %v", err)
	}
	mustPromote(t, m, "two")
	if done, err := m.Promote([]byte("two"), promoted); done || err != nil {
		t.Errorf("same again: %v, %v", done, err)
	}
	mustPromote(t, m, "three")
	if h, err := m.History(); err != nil || len(h) != 3 || !h[2].Time.Equal(promoted.Truncate(time.Second)) {
		t.Errorf("history %v, %v", h, err)
	}
	for _, want := range []string{"two", "one"} {
		if _, err := m.Rollback(); err != nil {
			t.Fatal(err)
		}
		wantCurrent(t, m, want)
	}
	mustPromote(t, m, "three") // its file is there already
	wantCurrent(t, m, "three")
	if files, err := m.Files(); err != nil || len(files) != 3 {
		t.Errorf("files %q, %v", files, err)
	}
	left, err := os.ReadDir(m.Dir)
	if err != nil || len(left) != 4 {
		t.Errorf("%v, %v; want three models and the pointer", left, err)
	}
}

func write(t testing.TB, name, data string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(data), 0o600); err != nil {
		t.Fatal(err)
	}
}

func second[T any](_ T, err error) error { return err }

// TestPromoteDamaged: neither a changed model nor a changed pointer is used,
// and a rollback to a model that is not sound is refused.
func TestPromoteDamaged(t *testing.T) {
	t.Parallel()
	m := &Folder{Dir: t.TempDir()}
	mustPromote(t, m, "one")
	mustPromote(t, m, "two")
	h, err := m.History()
	if err != nil {
		t.Fatal(err)
	}
	isIntegrity := func(what string, err error) {
		t.Helper()
		if _, ok := errors.AsType[*durable.IntegrityError](err); !ok {
			t.Errorf("%s: %v, want an IntegrityError", what, err)
		}
	}
	write(t, m.path(h[0].File), "onf")
	isIntegrity("rollback to a changed model", second(m.Rollback()))
	wantCurrent(t, m, "two")
	mustPromote(t, m, "one") // mends it
	write(t, m.path(h[0].File), "onf")
	_, _, err = m.Current()
	isIntegrity("changed model", err)
	if err := os.Remove(m.path(h[0].File)); err != nil {
		t.Fatal(err)
	}
	_, _, err = m.Current()
	isIntegrity("model that is gone", err)
	for _, text := range []string{"", "{}", "null", `{"schema":"velum.current/2"}`, `{"schema":"velum.current/1"}`,
		`{"schema":"velum.current/1","current":{"file":"../../etc/passwd","sha256":"` + h[0].SHA256 + `"}}`} {
		write(t, m.path(pointerName), text)
		isIntegrity("pointer "+text, second(m.History()))
		isIntegrity("promote behind "+text, second(m.Promote([]byte("three"), promoted)))
	}
}

// TestPromoteTogether: of several that promote at once, each is done or finds
// the folder locked, and no promotion is lost.
func TestPromoteTogether(t *testing.T) {
	t.Parallel()
	m := &Folder{Dir: t.TempDir(), FS: durable.OS}
	mustPromote(t, m, "first")
	var all sync.WaitGroup
	var mu sync.Mutex
	done := 1
	for w := range 8 {
		all.Go(func() {
			_, err := m.Promote(fmt.Append(nil, "model ", w), promoted)
			if _, locked := errors.AsType[*durable.LockedError](err); err != nil && !locked {
				t.Error(err)
			}
			if err == nil {
				mu.Lock()
				done++
				mu.Unlock()
			}
		})
	}
	all.Wait()
	if h, err := m.History(); err != nil || len(h) != done {
		t.Errorf("%d promotions were done, %d are in the history, %v", done, len(h), err)
	}
}

func FuzzPointer(f *testing.F) {
	m := &Folder{Dir: f.TempDir()}
	mustPromote(f, m, "one")
	mustPromote(f, m, "two")
	data, err := os.ReadFile(m.path(pointerName))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte(`{"schema":"velum.current/1","current":{"file":"","sha256":""}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, cause := parsePointer(data)
		if cause == "" && (!filepath.IsLocal(p.Current.File) || filepath.Base(p.Current.File) != p.Current.File || p.Current.File[0] == '.') {
			t.Errorf("pointer to %q", p.Current.File)
		}
	})
}
