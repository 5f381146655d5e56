package run

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/pipeline/commit"
)

// TestRecordWithoutLog: a run whose audit log cannot be written does not
// begin, and says so in its metrics.
func TestRecordWithoutLog(t *testing.T) {
	dir := t.TempDir()
	a := &console.Console{Out: io.Discard, Errs: io.Discard, Quiet: true}
	a.StartLog()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("id,text\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, log := range []string{file, filepath.Join(file, "below")} {
		r := record{Console: a, RecordOptions: RecordOptions{Audit: log, Metrics: filepath.Join(dir, "velum.prom")}}
		began := false
		err := r.keep(func() error {
			if _, err := r.begin(t.Context(), &commit.Planned{}, commit.Output{Dir: filepath.Join(dir, "out")}, new(option.Config)); err != nil {
				return err
			}
			began = true
			return nil
		})
		if err == nil || began {
			t.Errorf("log %s: began %t, %v", filepath.Base(log), began, err)
		}
		text, err := os.ReadFile(r.Metrics)
		if err != nil || strings.Contains(string(text), "last_success") || !strings.Contains(string(text), "velum_run_exit_code") {
			t.Errorf("log %s: %v, %s", filepath.Base(log), err, text)
		}
	}
}

// TestRecordFound: a unit whose run was killed before its line was written gets
// one from the run that finds it done, and only one.
func TestRecordFound(t *testing.T) {
	dir := t.TempDir()
	a := &console.Console{Out: io.Discard, Errs: io.Discard, Quiet: true}
	a.StartLog()
	log := filepath.Join(dir, "audit.jsonl")
	for range 3 {
		r := record{Console: a, RecordOptions: RecordOptions{Audit: log}}
		err := r.keep(func() error {
			if _, err := r.begin(t.Context(), &commit.Planned{}, commit.Output{Dir: filepath.Join(dir, "out")}, new(option.Config)); err != nil {
				return err
			}
			r.unit(&commit.UnitRecord{Name: "a"}, true)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(log)
	if n := strings.Count(string(text), `"event":"found"`); err != nil || n != 1 {
		t.Errorf("%d lines of the unit, want 1; %v", n, err)
	}
}

// TestRecordStops: a run ends when its audit log cannot go on.
func TestRecordStops(t *testing.T) {
	dir := t.TempDir()
	a := &console.Console{Out: io.Discard, Errs: io.Discard, Quiet: true}
	a.StartLog()
	r := record{Console: a, RecordOptions: RecordOptions{Audit: filepath.Join(dir, "audit.jsonl")}}
	err := r.keep(func() error {
		ctx, err := r.begin(t.Context(), &commit.Planned{}, commit.Output{Dir: filepath.Join(dir, "out")}, new(option.Config))
		if err != nil {
			t.Fatal(err)
		}
		r.unit(&commit.UnitRecord{Name: "a"}, false)
		if ctx.Err() != nil {
			t.Error("stopped without a reason")
		}
		if err := os.WriteFile(r.Audit, []byte("{}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		r.unit(&commit.UnitRecord{Name: "b"}, false)
		r.unit(&commit.UnitRecord{Name: "c"}, false)
		if ctx.Err() == nil {
			t.Error("goes on without its audit log")
		}
		return nil
	})
	if exit.CodeOf(err) != exit.Integrity {
		t.Errorf("ended with %v", err)
	}
}
