package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// stops ends runs by SIGTERM at moments from their first on, alone and together
// with their decode workers, as a supervisor that signals every process of a
// service does. Whatever was being started just then, the exit code is that of a
// stop and never that of a failure, and the next start ends with the tree of an
// undisturbed run.
func (t *torture) stops() (string, error) {
	if err := t.archive("stops", 3, 200); err != nil {
		return "", err
	}
	in, out := t.path("stops"), t.path("stops.out")
	want, err := t.undisturbed(in)
	if err != nil {
		return "", err
	}
	began := time.Now()
	if err := errors.Join(must(0, t.mask(in, out)), t.clear(out)); err != nil {
		return "", err
	}
	whole := time.Since(began)
	stopped, done, times := 0, 0, turns(200, 8)
	for ; done < times; done++ {
		all := done%2 == 1
		ended, err := t.stopOnce(t.mask(in, out), time.Duration(t.rng.Float64()*float64(whole)), all)
		if err != nil {
			return "", fmt.Errorf("turn %d, all processes %v: %w", done, all, err)
		}
		if ended {
			stopped++
		}
		if ended && done%8 > 0 {
			continue // let the next start go on from here, and be stopped as well
		}
		if c, err := code(t.mask(in, out)); err != nil || c != 0 && c != 4 { // 4: it was stopped behind its last step
			return "", fmt.Errorf("turn %d: the next start: exit code %d: %w", done, c, err)
		}
		if err := errors.Join(t.is(out, want), t.clear(out)); err != nil {
			return "", fmt.Errorf("turn %d: %w", done, err)
		}
	}
	return fmt.Sprintf("%d starts told to end, half of them with their workers: %d stopped, all others were done; 0 other exit codes", done, stopped), nil
}

// stopOnce starts a run and sends it SIGTERM after a while, and its children
// first if all is set; ended tells whether it was stopped by that.
func (t *torture) stopOnce(c *exec.Cmd, after time.Duration, all bool) (ended bool, err error) {
	if err := c.Start(); err != nil {
		return false, err
	}
	time.Sleep(after)
	if all {
		for _, pid := range childrenOf(c.Process.Pid) {
			_ = syscall.Kill(pid, syscall.SIGTERM) // it may have ended
		}
	}
	if err := c.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return false, err
	}
	_ = c.Wait() // its state tells
	status, _ := c.ProcessState.Sys().(syscall.WaitStatus)
	switch n := c.ProcessState.ExitCode(); {
	case n == 143, status.Signaled() && status.Signal() == syscall.SIGTERM:
		return true, nil // the latter before it listens
	case n == 0, n == 4:
		return false, nil
	default:
		return false, fmt.Errorf("exit code %d", n)
	}
}

// childrenOf returns the processes that have this parent, as far as /proc tells.
func childrenOf(parent int) (pids []int) {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is a good one
	for _, name := range stats {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended
		}
		_, rest, _ := strings.Cut(string(text), ") ") // state, parent
		fields := strings.Fields(rest)
		if len(fields) < 2 || fields[1] != strconv.Itoa(parent) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name))); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}
