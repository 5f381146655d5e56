package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
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
	"pause": pause,
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

// pause is velum that says so in its second unit, and goes on when its input ends.
func pause() exit.Code {
	a := newApp(os.Stdout, os.Stderr, os.Environ())
	units := 0
	a.spoil = func(l *commit.Line) {
		if units++; units != 2 {
			return
		}
		l.Steps = append(l.Steps, pipeline.Step{Name: "pause", New: func() func(*pipeline.Batch) error {
			return func(*pipeline.Batch) error {
				fmt.Println("hanging")
				_, err := io.Copy(io.Discard, os.Stdin)
				return err
			}
		}})
	}
	return a.run(os.Args[1:])
}

// paused starts a shard, by the name that it has in out, and waits until it pauses.
func paused(t *testing.T, out, shard string) (c *exec.Cmd, goesOn io.Closer) {
	t.Helper()
	c = process(t, "pause", "run", "-q", "--plan", out, "--shard", shard, "--workers", "1")
	c.Stderr = new(bytes.Buffer)
	stdin, err1 := c.StdinPipe()
	stdout, err2 := c.StdoutPipe()
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(stdout).ReadString('\n'); line != "hanging\n" {
		t.Fatalf("%q, %v: %v", line, err, c.Stderr)
	}
	journals := filepath.Join(out+".private", "_runs", "journal-"+strings.ReplaceAll(shard, "/", "of")+"-*")
	for settled := false; !settled; time.Sleep(time.Millisecond) { // the first unit is synced while the second one is at work
		found, err := filepath.Glob(journals)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range found {
			data, _ := os.ReadFile(name)
			settled = settled || bytes.Count(data, []byte("\n")) > 1
		}
	}
	return c, stdin
}

// TestKilledShard kills a shard by -9 in its second unit. Another attempt finds the first one
// done, a third stops and goes on when the plan is finished, and the bytes are those of one run.
func TestKilledShard(t *testing.T) {
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in"), filepath.Join(dir, "out")
	for i := range 4 {
		canaryArchive(t, filepath.Join(in, fmt.Sprintf("month=%d", i), "a.parquet"), uint64(i), faultNotes, false)
	}
	want := maskOnce(t, in, filepath.Join(dir, "whole"))
	velum := func(code int, says string, args ...string) {
		t.Helper()
		c := process(t, "velum", append(args, "--quiet")...)
		text, _ := c.CombinedOutput()
		if got := c.ProcessState.ExitCode(); got != code || !strings.Contains(string(text), says) {
			t.Fatalf("%v: exit code %d: %s", args, got, text)
		}
	}
	velum(0, "", "run", "plan", "--in", in, "--out", out)
	killed, _ := paused(t, out, "1/2")
	if err := killed.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := killed.Wait(); err == nil || killed.ProcessState.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Fatal(err)
	}
	velum(13, "do shards 1/2, 2/2, then finish again", "run", "finish", out)
	zombie, goesOn := paused(t, out, "2/2")
	velum(0, "", "run", "--plan", out, "--shard", "2/2")
	velum(13, "1 of 4 units are not done; do shards 1/2, then finish again", "run", "finish", out)
	velum(0, "", "run", "--plan", out, "--shard", "1/2")
	velum(0, "", "run", "finish", out)
	if err := goesOn.Close(); err != nil {
		t.Fatal(err)
	}
	_ = zombie.Wait()
	if got := zombie.ProcessState.ExitCode(); got != 13 || !strings.Contains(fmt.Sprint(zombie.Stderr), "was finished") {
		t.Errorf("a shard that went on after the end: exit code %d: %v", got, zombie.Stderr)
	}
	if got := manifestBytes(t, out); !bytes.Equal(got, want) {
		t.Error("the tree is another")
	}
	velum(0, "", "check", out)
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
