package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/commit"
)

// testProcess names the environment variable by which a test starts itself as
// velum with something planted: see testProcesses.
const testProcess = "TEST_OF_VELUM" // not VELUM_: that would be an option, or be near one

var testProcesses = map[string]func() exit.Code{
	"velum": func() exit.Code { return start(os.Args[1:], os.Stdout, os.Stderr, os.Environ()) },
	"hang":  hang,
}

// process is the command of a test process.
func process(t *testing.T, kind string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(self, args...)
	c.Env = append(os.Environ(), testProcess+"="+kind, "VELUM_CONFIG=")
	return c
}

// hang is velum with a stage that says so and hangs.
func hang() exit.Code {
	a := newApp(os.Stdout, os.Stderr, os.Environ())
	a.Grace = 300 * time.Millisecond
	a.spoil = func(l *commit.Line) {
		l.Steps = append(l.Steps, pipeline.Step{Name: "hang", New: func() func(*pipeline.Batch) error {
			return func(*pipeline.Batch) error {
				fmt.Println("hanging")
				time.Sleep(time.Hour)
				return nil
			}
		}})
	}
	return a.run(os.Args[1:])
}

// maskOnce runs velum within this process and returns the public manifest,
// which vouches for all bytes of both trees.
func maskOnce(t *testing.T, in, out string) []byte {
	t.Helper()
	var errs bytes.Buffer
	if code := newApp(&errs, &errs, nil).run([]string{"run", "-q", "--in", in, "--out", out}); code != exit.Done && code != exit.Quarantined {
		t.Fatalf("exit code %d: %s", code, errs.String())
	}
	return manifestBytes(t, out)
}

func manifestBytes(t *testing.T, out string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(out, "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// hanging starts a run and waits until a stage of it hangs; hangs is false if it ended before.
func hanging(t *testing.T, in, out string, args ...string) (c *exec.Cmd, errs *strings.Builder, hangs bool) {
	t.Helper()
	c, errs = process(t, "hang", append([]string{"run", "-q", "--in", in, "--out", out}, args...)...), new(strings.Builder)
	c.Stderr = errs
	stdout, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if line != "hanging\n" && len(args) == 0 {
		t.Fatalf("%q, %v: %s", line, err, errs.String())
	}
	return c, errs, line == "hanging\n"
}

// TestHang: a run in which a stage hangs ends all the same when it is told to,
// with the right exit code, and the next one makes the tree of an undisturbed
// run. No clock decides: a deadline that the run meets before its stage hangs is
// doubled, and what the test waits for is the end of the process.
func TestHang(t *testing.T) {
	dir := t.TempDir()
	in := filepath.Join(dir, "in.parquet")
	canaryArchive(t, in, 1, faultNotes, false)
	want := maskOnce(t, in, filepath.Join(dir, "whole"))
	for name, tt := range map[string]struct {
		signal os.Signal
		code   int
		says   string
	}{
		"SIGTERM":  {syscall.SIGTERM, 143, "stopped by SIGTERM, and ended hard"},
		"SIGINT":   {os.Interrupt, 130, "stopped by SIGINT, and ended hard"},
		"deadline": {nil, 1, "stopped at run.deadline, and ended hard"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out := filepath.Join(dir, name)
			var c *exec.Cmd
			var errs *strings.Builder
			if tt.signal != nil {
				c, errs, _ = hanging(t, in, out)
				if err := c.Process.Signal(tt.signal); err != nil {
					t.Fatal(err)
				}
				_ = c.Wait() // the exit code is not 0
			} else {
				hangs := false
				for deadline := 2 * time.Second; !hangs; deadline *= 2 {
					c, errs, hangs = hanging(t, in, out, "--deadline", deadline.String())
					_ = c.Wait()
				}
			}
			if got := c.ProcessState.ExitCode(); got != tt.code || !strings.Contains(errs.String(), tt.says) {
				t.Errorf("exit code %d: %s", got, errs.String())
			}
			if got := maskOnce(t, in, out); !bytes.Equal(got, want) {
				t.Error("resumed, the tree is another")
			}
		})
	}
}
