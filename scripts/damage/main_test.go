package main

import (
	"io"
	"os"
	"strings"
	"testing"

	"github.com/velum-health/velum/stages/read"
)

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == read.WorkerArgument {
		os.Exit(read.Work(os.Stdin, os.Stdout))
	}
	os.Exit(m.Run())
}

// TestDamage is the short form: 2,000 files.
func TestDamage(t *testing.T) {
	trial, err := newTrial(t.TempDir(), 2026)
	if err != nil {
		t.Fatal(err)
	}
	if err := trial.run(2000, -1, io.Discard); err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	trial.report(&table)
	t.Log("\n" + table.String())
	if err := trial.verdict(); err != nil {
		t.Error(err)
	}
}
