package commit

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/velum-health/velum/pipeline/durable"
)

var promoted = time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)

func mustPromote(t testing.TB, m *ModelFolder, model string) {
	t.Helper()
	if done, err := m.Promote([]byte(model), promoted); err != nil || !done {
		t.Fatalf("promote: %v, %v", done, err)
	}
}

func wantCurrent(t testing.TB, m *ModelFolder, model string) {
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
	m := &ModelFolder{Dir: filepath.Join(tempDir(t), "models")}
	for _, err := range []error{second(m.History()), second(m.Rollback())} {
		if !errors.Is(err, ErrNoModel) {
			t.Errorf("empty folder: %v", err)
		}
	}
	mustPromote(t, m, "one")
	wantCurrent(t, m, "one")
	if _, err := m.Rollback(); !errors.Is(err, ErrNoModel) {
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
	m := &ModelFolder{Dir: tempDir(t)}
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
	flip(t, m.path(h[0].File), 3)
	isIntegrity("rollback to a changed model", second(m.Rollback()))
	wantCurrent(t, m, "two")
	mustPromote(t, m, "one") // mends it
	flip(t, m.path(h[0].File), 3)
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

// TestPromoteFails: whatever operation fails, once or from then on as in a
// crash, a whole model is in use: the old one, or the new one, and the new one
// if there was no error. The next start does it.
func TestPromoteFails(t *testing.T) {
	t.Parallel()
	big := string(bytes.Repeat([]byte("model "), 1000))
	for _, c := range []struct {
		name string
		do   func(m *ModelFolder) error
		want string
	}{
		{"promote", func(m *ModelFolder) error { return second(m.Promote([]byte(big), promoted)) }, big},
		{"rollback", func(m *ModelFolder) error { return second(m.Rollback()) }, "one"},
	} {
		for at := 1; ; at++ {
			ended := false
			for _, lasting := range []bool{false, true} {
				sound := &ModelFolder{Dir: tempDir(t), FS: durable.Unsynced{FS: durable.OS}}
				mustPromote(t, sound, "one")
				mustPromote(t, sound, "two")
				d := &faults{FS: durable.Unsynced{FS: durable.OS}, at: at, lasting: lasting, err: fmt.Errorf("test: %w", syscall.ENOSPC)}
				err := c.do(&ModelFolder{Dir: sound.Dir, FS: d})
				ended = d.n < at
				_, data, bad := sound.Current()
				switch {
				case bad != nil || string(data) != "two" && string(data) != c.want:
					t.Fatalf("%s, operation %d, lasting %v: %d bytes in use, %v", c.name, at, lasting, len(data), bad)
				case err == nil && string(data) != c.want:
					t.Fatalf("%s, operation %d, lasting %v: no error and nothing done", c.name, at, lasting)
				case string(data) == "two":
					if err := c.do(sound); err != nil {
						t.Fatalf("%s again: %v", c.name, err)
					}
					wantCurrent(t, sound, c.want)
				}
			}
			if ended {
				break
			}
		}
	}
}

// TestPromoteTogether: of several that promote at once, each is done or finds
// the folder locked, and no promotion is lost.
func TestPromoteTogether(t *testing.T) {
	t.Parallel()
	m := &ModelFolder{Dir: tempDir(t), FS: durable.Unsynced{FS: durable.OS}}
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
	m := &ModelFolder{Dir: f.TempDir()}
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
