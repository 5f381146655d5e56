package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/cobra"

	"github.com/velum-health/velum/models/modelfile"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/stages/read"
)

func TestExitCodes(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want exitCode
	}{
		{nil, 0},
		{errors.New("x"), 1},
		{exit(exitQuarantined, errors.New("x"), ""), 3},
		{fmt.Errorf("run: %w", exit(exitNothing, errors.New("x"), "")), 4},
		{(&configError{[]mistake{{}}}).orNil(), 10},
		{exitf(exitLocked, "", "x"), 11},
		{&os.PathError{Op: "write", Path: "p", Err: syscall.ENOSPC}, 14},
		{fmt.Errorf("write: %w", syscall.EDQUOT), 14},
		{fmt.Errorf("tag: %w", errInterrupted), 130},
		{errors.Join(errors.New("x"), errTerminated), 143},
		{context.DeadlineExceeded, 1},
		{fmt.Errorf("run: %w", &pipeline.LockedError{Path: "out"}), 11},
		{&pipeline.KeyError{Path: "k"}, 12},
		{&pipeline.IntegrityError{}, 13},
		{fmt.Errorf("model m: %w", modelfile.ErrDamaged), 13},
		{fmt.Errorf("model m: %w", modelfile.ErrNotAModel), 10},
		{&read.SchemaError{Path: "p"}, 10},
		{exit(exitIntegrity, syscall.ENOSPC, ""), 13}, // what the verb says goes before the cause
	} {
		if got := exitCodeOf(tt.err); got != tt.want {
			t.Errorf("%v: %d, want %d", tt.err, got, tt.want)
		}
	}
	for _, c := range exitCodes {
		if c.String() == "" {
			t.Errorf("%d has no name", c)
		}
	}
	if len(exitCodes) != len(exitNames) {
		t.Error("exitCodes and exitNames differ")
	}
}

func TestPrintExit(t *testing.T) {
	print := func(err error, asJSON bool) string {
		var b bytes.Buffer
		printExit(&b, err, asJSON)
		return b.String()
	}
	if got := print(nil, true); got != "" {
		t.Errorf("no error prints %q", got)
	}
	broken := exitf(exitDiskFull, "free some space", "write out/part\n1\x1b[31m: no space")
	if got, want := print(broken, false), "velum: write out/part 1 [31m: no space; free some space\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	var got struct {
		Kind     string `json:"message_type"`
		Code     int
		Name     string
		Error    string
		Remedy   string
		Mistakes []mistake
	}
	wrong := (&configError{[]mistake{{File: "b", Line: 2, Message: "m"}, {File: "b", Line: 1, Message: "<"}}}).orNil()
	line := print(wrong, true)
	if err := json.Unmarshal([]byte(line), &got); err != nil || strings.Count(line, "\n") != 1 {
		t.Fatalf("%v in %q", err, line)
	}
	if got.Kind != "exit_error" || got.Code != 10 || got.Name != "configuration" || len(got.Mistakes) != 2 || got.Mistakes[0].Line != 1 {
		t.Errorf("got %+v", got)
	}
}

// A panic's value may hold text of a note: neither it nor a part of it is
// printed.
func TestPanicIsNotQuoted(t *testing.T) {
	a := &app{out: &bytes.Buffer{}, errs: &bytes.Buffer{}}
	root := newRootCommand(a)
	root.AddCommand(&cobra.Command{Use: "planted", RunE: func(*cobra.Command, []string) error {
		panic("seen by Dr. Invented")
	}})
	root.SetArgs([]string{"planted"})
	err := a.execute(t.Context(), root)
	if err == nil || strings.Contains(err.Error(), "Invented") || !strings.Contains(err.Error(), "exit_test.go:") {
		t.Errorf("got %v", err)
	}
}

// The first signal cancels the context with its own cause.
func TestSignals(t *testing.T) {
	for signal, want := range map[syscall.Signal]error{syscall.SIGINT: errInterrupted, syscall.SIGTERM: errTerminated} {
		ctx, stop := signalContext()
		if err := syscall.Kill(os.Getpid(), signal); err != nil {
			t.Fatal(err)
		}
		<-ctx.Done()
		if got := context.Cause(ctx); got != want {
			t.Errorf("%v: cause %v, want %v", signal, got, want)
		}
		stop()
	}
}

// A verb that returns ctx.Err() ends with the signal's code all the same.
func TestCanceledIsNamed(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errTerminated)
	a := &app{out: &bytes.Buffer{}, errs: &bytes.Buffer{}}
	root := newRootCommand(a)
	root.AddCommand(&cobra.Command{Use: "planted", RunE: func(c *cobra.Command, _ []string) error { return c.Context().Err() }})
	root.SetArgs([]string{"planted"})
	if got := exitCodeOf(a.execute(ctx, root)); got != exitTerminated {
		t.Errorf("exit code %d", got)
	}
}
