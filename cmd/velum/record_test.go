package main

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/velum-health/velum/pipeline"
)

// TestRecipeFlags: the recipes of configs/deploy use flags that there are.
func TestRecipeFlags(t *testing.T) {
	root := newRootCommand(&app{out: io.Discard, errs: io.Discard})
	run, _, err := root.Find([]string{"run"})
	if err != nil {
		t.Fatal(err)
	}
	for name, pattern := range map[string]string{
		"velum.service":   `(?s)ExecStart=(.*?)\n\n`,
		"kubernetes.yaml": `(?s)args:(.*?)securityContext:`,
		"airflow_dag.py":  `(?s)\{VELUM\} run(.*?)\n        \)`,
	} {
		text, err := os.ReadFile(filepath.Join("..", "..", "configs", "deploy", name))
		if err != nil {
			t.Fatal(err)
		}
		command := regexp.MustCompile(pattern).FindSubmatch(text)
		if command == nil {
			t.Errorf("%s: no command", name)
			continue
		}
		flags := regexp.MustCompile(`--([a-z-]+)`).FindAllSubmatch(command[1], -1)
		if len(flags) < 5 {
			t.Errorf("%s: flags %q", name, flags)
		}
		for _, f := range flags {
			if run.Flags().Lookup(string(f[1])) == nil && root.PersistentFlags().Lookup(string(f[1])) == nil {
				t.Errorf("%s: velum run has no flag --%s", name, f[1])
			}
		}
	}
}

// TestRecordWithoutLog: a run whose audit log cannot be written does not
// begin, and says so in its metrics.
func TestRecordWithoutLog(t *testing.T) {
	dir := t.TempDir()
	a := &app{out: io.Discard, errs: io.Discard, quiet: true}
	a.startLog()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("id,text\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, log := range []string{file, filepath.Join(file, "below")} {
		r := record{log: log, metrics: filepath.Join(dir, "velum.prom")}
		began := false
		err := r.keep(a, func() error {
			if _, err := r.begin(t.Context(), &pipeline.Plan{}, pipeline.Output{Dir: filepath.Join(dir, "out")}, "placeholder"); err != nil {
				return err
			}
			began = true
			return nil
		})
		if err == nil || began {
			t.Errorf("log %s: began %t, %v", filepath.Base(log), began, err)
		}
		if success, err := readLastSuccess(r.metrics); success != "" || err != nil {
			t.Errorf("log %s: last success %q, %v", filepath.Base(log), success, err)
		}
	}
}

// TestRecordFound: a unit whose run was killed before its line was written gets
// one from the run that finds it done, and only one.
func TestRecordFound(t *testing.T) {
	dir := t.TempDir()
	a := &app{out: io.Discard, errs: io.Discard, quiet: true}
	a.startLog()
	log := filepath.Join(dir, "audit.jsonl")
	for range 3 {
		r := record{log: log}
		err := r.keep(a, func() error {
			if _, err := r.begin(t.Context(), &pipeline.Plan{}, pipeline.Output{Dir: filepath.Join(dir, "out")}, "placeholder"); err != nil {
				return err
			}
			r.unit(&pipeline.UnitRecord{Name: "a"}, true)
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
	a := &app{out: io.Discard, errs: io.Discard, quiet: true}
	a.startLog()
	r := record{log: filepath.Join(dir, "audit.jsonl")}
	err := r.keep(a, func() error {
		ctx, err := r.begin(t.Context(), &pipeline.Plan{}, pipeline.Output{Dir: filepath.Join(dir, "out")}, "placeholder")
		if err != nil {
			t.Fatal(err)
		}
		r.unit(&pipeline.UnitRecord{Name: "a"}, false)
		if ctx.Err() != nil {
			t.Error("stopped without a reason")
		}
		if err := os.WriteFile(r.log, []byte("{}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		r.unit(&pipeline.UnitRecord{Name: "b"}, false)
		r.unit(&pipeline.UnitRecord{Name: "c"}, false)
		if ctx.Err() == nil {
			t.Error("goes on without its audit log")
		}
		return nil
	})
	if exitCodeOf(err) != exitIntegrity {
		t.Errorf("ended with %v", err)
	}
}
