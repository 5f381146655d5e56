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

// months gives the months of an archive to an output that grows: one or some at
// a time, in any order, some again. Processes are killed, or they and the
// workers that decode for them are stopped for a while; a month whose run was
// killed may be left for later. In the end the trees are those of one run over
// all. Then others try to write above and below the output, and months vanish.
func (t *torture) months() (string, error) {
	const all = 4
	if err := t.archive("months", all, turns(1200, 500)); err != nil {
		return "", err
	}
	whole := t.path("months.whole")
	if err := must(0, t.given(whole, []int{0, 1, 2, 3})); err != nil {
		return "", err
	}
	want, err := sumOfTrees(whole)
	if err != nil {
		return "", err
	}
	turns, done := turns(200, 3), 0
	var g grown
	for i := 0; i < turns; i++ {
		done++
		out := t.path("months.outs", "a")
		if err := t.growAll(&g, out, all); err != nil {
			return "", fmt.Errorf("turn %d: %w", i, err)
		}
		got, err := sumOfTrees(out)
		if err == nil && got != want {
			err = fmt.Errorf("the tree is %s, that of one run %s", got, want)
		}
		err = errors.Join(err, must(0, exec.Command(t.velum, "check", out)), t.nested(out, got), t.clear(out))
		if err != nil {
			return "", fmt.Errorf("turn %d: %w", i, err)
		}
	}
	if err := t.vanished(); err != nil {
		return "", err
	}
	return fmt.Sprintf("%d outputs grown by %d runs, %d killed, %d stopped for a while: each the tree of one run over all; %d nested outputs refused; months that vanish stay or go", done, g.runs, g.killed, g.stopped, 2*done), nil
}

// grown counts what was done to outputs.
type grown struct{ runs, killed, stopped int }

// given is a run that is given some months.
func (t *torture) given(out string, months []int, flags ...string) *exec.Cmd {
	in := func(m int) string { return t.path("months", fmt.Sprintf("month=%02d", m+1)) }
	for _, m := range months[1:] {
		flags = append(flags, "--in", in(m))
	}
	return t.mask(in(months[0]), out, flags...)
}

// growAll gives months until all are there.
func (t *torture) growAll(g *grown, out string, all int) error {
	there := map[int]bool{}
	for len(there) < all {
		months := t.rng.Perm(all)[:1+t.rng.IntN(2)]
		c := t.given(out, months)
		c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		if err := c.Start(); err != nil {
			return err
		}
		g.runs++
		time.Sleep(time.Duration(t.rng.IntN(900)) * time.Millisecond)
		switch t.rng.IntN(4) {
		case 0:
			_ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL) // it may have ended
			g.killed++
		case 1: // with its workers
			t.hold(-c.Process.Pid)
			g.stopped++
		case 2: // a worker alone
			for _, worker := range children(c.Process.Pid) {
				t.hold(worker)
				g.stopped++
			}
		}
		_ = c.Wait() // the exit code is looked at
		switch code := c.ProcessState.ExitCode(); code {
		case 0, 4:
			for _, m := range months {
				there[m] = true
			}
		case -1: // killed
		default:
			return fmt.Errorf("months %v: exit code %d", months, code)
		}
	}
	return nil
}

// hold stops a process or a group, and lets it go on.
func (t *torture) hold(pid int) {
	_ = syscall.Kill(pid, syscall.SIGSTOP) // it may have ended
	time.Sleep(time.Duration(50+t.rng.IntN(400)) * time.Millisecond)
	_ = syscall.Kill(pid, syscall.SIGCONT)
}

// children lists the processes that a process has started.
func children(pid int) (all []int) {
	lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	if err != nil {
		return nil
	}
	for _, list := range lists {
		data, err := os.ReadFile(list)
		if err != nil {
			continue // the thread has ended
		}
		for _, field := range strings.Fields(string(data)) {
			if child, err := strconv.Atoi(field); err == nil {
				all = append(all, child)
			}
		}
	}
	return all
}

// nested tries to write an output inside another, and around it.
func (t *torture) nested(out, want string) error {
	for _, other := range []string{filepath.Dir(out), filepath.Join(out, "inner")} {
		if err := must(10, t.given(other, []int{0})); err != nil {
			return fmt.Errorf("output %s beside %s: %w", other, out, err)
		}
	}
	got, err := sumOfTrees(out)
	if err == nil && got != want {
		err = errors.New("a nested output has changed the tree")
	}
	return err
}

// vanished takes a month out of the folder that is given, and puts it back.
func (t *torture) vanished() error {
	in, out, less := t.path("months"), t.path("months.out"), t.path("months.less")
	if err := must(0, t.mask(in, out)); err != nil {
		return err
	}
	want, err := sumOfTrees(out)
	if err != nil {
		return err
	}
	month, away := filepath.Join(in, "month=02"), t.path("months.away")
	err = errors.Join(os.Rename(month, away), must(4, t.mask(in, out)), must(13, t.mask(in, out, "--set", "run.vanished=refuse")), t.is(out, want),
		must(0, t.mask(in, out, "--set", "run.vanished=remove")), must(0, t.mask(in, less)))
	if err != nil {
		return fmt.Errorf("a month vanished: %w", err)
	}
	wantLess, err := sumOfTrees(less)
	if err != nil {
		return err
	}
	return errors.Join(t.is(out, wantLess), os.Rename(away, month), must(0, t.mask(in, out)), t.is(out, want), t.clear(out, less))
}

// is checks the hash of an output.
func (t *torture) is(out, want string) error {
	got, err := sumOfTrees(out)
	if err == nil && got != want {
		err = fmt.Errorf("the tree of %s is %s, want %s", filepath.Base(out), got, want)
	}
	return err
}
