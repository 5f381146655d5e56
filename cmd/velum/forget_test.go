package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/pipeline/durable"
)

// deadBefore is a file system on which a process dies when it is about to
// rename a file to one of that name, or to remove it.
type deadBefore struct {
	durable.FS
	name string
}

func (d deadBefore) Rename(from, to string) error {
	if to == d.name {
		return errors.New("died")
	}
	return d.FS.Rename(from, to)
}

func (d deadBefore) Remove(name string) error {
	if name == d.name {
		return errors.New("died")
	}
	return d.FS.Remove(name)
}

// TestForgetDies: a forget that died when the manifests knew no more of what it
// takes out is ended by the same command, and nothing of it stays in the trees.
func TestForgetDies(t *testing.T) {
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in"), filepath.Join(dir, "out")
	for i := range 2 {
		canaryArchive(t, filepath.Join(in, fmt.Sprintf("month=%d", i), "a.parquet"), uint64(i), 20, false)
	}
	velum := func(d durable.FS, want exit.Code, args string) {
		t.Helper()
		var errs bytes.Buffer
		a := newApp(&errs, &errs, nil)
		a.disk = d
		args += " -q --out " + out + " --audit-log " + filepath.Join(dir, "audit.jsonl")
		if code := a.run(strings.Fields(args)); code != want {
			t.Fatalf("velum %s: exit code %d, want %d: %s", args, code, want, errs.String())
		}
	}
	forget := "run forget " + filepath.Join(in, "month=0")
	for _, dies := range []string{filepath.Join(out, "manifest.json"), filepath.Join(out+".private", "_SUCCESS"), filepath.Join(out, "_runs")} {
		if err := errors.Join(os.RemoveAll(out), os.RemoveAll(out+".private")); err != nil {
			t.Fatal(err)
		}
		velum(nil, exit.Done, "run --in "+in)
		velum(deadBefore{durable.OS, dies}, exit.Failed, forget)
		velum(nil, exit.Done, forget)
		velum(nil, exit.Nothing, forget)

		for _, root := range []string{out, out + ".private"} {
			err := filepath.WalkDir(root, func(name string, e fs.DirEntry, err error) error {
				if err == nil && (e.Name() == "_runs" || strings.Contains(name, "month=0") && !e.IsDir()) {
					t.Errorf("died before %s: %s stays", dies, name)
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
}
