package main

import (
	"bytes"
	"context"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/cobra"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
)

// A panic's value may hold text of a note: neither it nor a part of it is
// printed.
func TestPanicIsNotQuoted(t *testing.T) {
	a := newApp(&bytes.Buffer{}, &bytes.Buffer{}, nil)
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

// The first signal cancels the context with its own cause; one that the test was
// started without (nohup) is not waited for.
func TestSignals(t *testing.T) {
	for sent, want := range map[syscall.Signal]error{syscall.SIGINT: exit.ErrInterrupted, syscall.SIGTERM: exit.ErrTerminated, syscall.SIGHUP: exit.ErrHungUp} {
		if signal.Ignored(sent) {
			continue
		}
		ctx, stop := signalContext()
		if err := syscall.Kill(os.Getpid(), sent); err != nil {
			t.Fatal(err)
		}
		<-ctx.Done()
		if got := context.Cause(ctx); got != want {
			t.Errorf("%v: cause %v, want %v", sent, got, want)
		}
		stop()
	}
}

// A verb that returns ctx.Err() ends with the signal's code all the same.
func TestCanceledIsNamed(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(exit.ErrTerminated)
	a := newApp(&bytes.Buffer{}, &bytes.Buffer{}, nil)
	root := newRootCommand(a)
	root.AddCommand(&cobra.Command{Use: "planted", RunE: func(c *cobra.Command, _ []string) error { return c.Context().Err() }})
	root.SetArgs([]string{"planted"})
	if got := exit.CodeOf(a.execute(ctx, root)); got != exit.Terminated {
		t.Errorf("exit code %d", got)
	}
}
