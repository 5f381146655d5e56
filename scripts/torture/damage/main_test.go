package main

import (
	"io"
	"os"
	"strings"
	"testing"

	"github.com/velum-health/velum/stages/read/fence"
)

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == fence.WorkerArgument {
		os.Exit(fence.Work(os.Stdin, os.Stdout))
	}
	os.Exit(m.Run())
}

// TestDamage is the short form: 2,000 files of all kinds.
func TestDamage(t *testing.T) { damage(t, 2000, false) }

// TestDamageUnsummed is that of files without page checksums, which a second
// copy or export vouches for.
func TestDamageUnsummed(t *testing.T) { damage(t, 500, true) }

func damage(t *testing.T, files int, unsummed bool) {
	trial, err := newTrial(t.TempDir(), 2026)
	if err != nil {
		t.Fatal(err)
	}
	trial.unsummed = unsummed
	if err := trial.run(files, -1, io.Discard); err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	trial.report(&table)
	t.Log("\n" + table.String())
	if err := trial.verdict(); err != nil {
		t.Error(err)
	}
}
