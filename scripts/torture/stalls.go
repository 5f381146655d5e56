package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
)

// long is longer than a decode worker may work on one answer, and than a note
// may take: who counts time by the clock on the wall gives up.
const long = 11 * time.Second

// undisturbed masks an archive and returns the hash of its trees.
func (t *torture) undisturbed(in string) (string, error) {
	out := t.path("undisturbed.out")
	if err := must(0, t.mask(in, out)); err != nil {
		return "", err
	}
	s, err := sum(out)
	return s, errors.Join(err, t.clear(out))
}

// freezes stops the program, its decode workers or both, for a while and now
// and then for long, and lets them go on. A freeze is no damage: the trees are
// those of an undisturbed run.
func (t *torture) freezes() (string, error) {
	in := t.path("freezes")
	if err := t.archive("freezes", 2, t.times(1500, 400)); err != nil {
		return "", err
	}
	want, err := t.undisturbed(in)
	if err != nil {
		return "", err
	}
	var frozen [3]atomic.Int64
	done, err := t.sideBySide(t.times(200, 3), t.times(6, 1), func(turn int, rng *rand.Rand, out string) error {
		out = t.path(out)
		c := t.mask(in, out)
		c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		if err := c.Start(); err != nil {
			return err
		}
		time.Sleep(time.Duration(rng.IntN(600)) * time.Millisecond)
		what := rng.IntN(3)
		workers := children(c.Process.Pid)
		for range 200 {
			if what != 1 || len(workers) > 0 {
				break
			}
			time.Sleep(5 * time.Millisecond) // until a worker is there
			workers = children(c.Process.Pid)
		}
		pids := [3][]int{{c.Process.Pid}, workers, {-c.Process.Pid}}[what]
		for _, pid := range pids {
			frozen[what].Add(1)
			_ = syscall.Kill(pid, syscall.SIGSTOP) // it may have ended
		}
		time.Sleep(t.pause(turn, rng))
		for _, pid := range pids {
			_ = syscall.Kill(pid, syscall.SIGCONT)
		}
		_ = c.Wait() // the exit code is looked at
		if got := c.ProcessState.ExitCode(); got != 0 {
			return fmt.Errorf("exit code %d", got)
		}
		return errors.Join(t.is(out, want), t.clear(out))
	})
	return fmt.Sprintf("%d runs, the program stopped %d times, workers %d, both %d, one in ten for %v: each the tree of an undisturbed run", done, frozen[0].Load(), frozen[1].Load(), frozen[2].Load(), long), err
}

// sideBySide does turns of a test in some lanes at once: most of them wait
// nearly all the time. Each turn has random numbers of its own, and its lane a
// name. It returns how many turns were done.
func (t *torture) sideBySide(turns, lanes int, do func(turn int, rng *rand.Rand, lane string) error) (int, error) {
	var next, done atomic.Int64
	var g errgroup.Group
	for l := range lanes {
		g.Go(func() error {
			for !t.over() {
				i := int(next.Add(1)) - 1
				if i >= turns {
					break
				}
				if err := do(i, rand.New(rand.NewPCG(t.seed, uint64(i))), fmt.Sprintf("lane%d", l)); err != nil {
					next.Store(int64(turns)) // the others do no more
					return fmt.Errorf("turn %d: %w", i, err)
				}
				done.Add(1)
			}
			return nil
		})
	}
	err := g.Wait()
	return int(done.Load()), err
}

// pause is how long turn i of a long form holds something up.
func (t *torture) pause(i int, rng *rand.Rand) time.Duration {
	if !t.short && i%10 == 0 {
		return long
	}
	return time.Duration(50+rng.IntN(400)) * time.Millisecond
}

// stalls masks an archive from a file system that answers late (slowfs).
func (t *torture) stalls() (string, error) {
	if _, err := os.Stat("/dev/fuse"); err != nil || os.Getuid() != 0 {
		return "left out: a file system of our own needs root and /dev/fuse", nil
	}
	server := t.path("slowfs")
	if text, err := exec.Command("go", "build", "-o", server, "github.com/velum-health/velum/scripts/torture/slowfs").CombinedOutput(); err != nil {
		return "", fmt.Errorf("build slowfs: %w: %s", err, text)
	}
	if err := t.archive("stalls", 2, t.times(1500, 400)); err != nil {
		return "", err
	}
	want, err := t.undisturbed(t.path("stalls"))
	if err != nil {
		return "", err
	}
	done, err := t.sideBySide(t.times(200, 2), t.times(16, 1), func(turn int, rng *rand.Rand, lane string) error {
		stall, every := t.pause(turn, rng), 2+rng.IntN(12)
		if stall == long {
			every = 20
		}
		at, out := t.path(lane+".at"), t.path(lane)
		if err := t.stalled(server, at, out, "-seed", fmt.Sprint(rng.Uint32()), "-every", fmt.Sprint(every), "-stall", stall.String()); err != nil {
			return fmt.Errorf("one read of %d stalled for %v: %w", every, stall, err)
		}
		return errors.Join(t.is(out, want), t.clear(out))
	})
	return fmt.Sprintf("%d runs over a disk that stalls, one in ten for %v a time: each the tree of an undisturbed run", done, long), err
}

// stalled does a run over the slow file system.
func (t *torture) stalled(server, at, out string, flags ...string) (err error) {
	if err := os.MkdirAll(at, 0o700); err != nil {
		return err
	}
	c := exec.Command(server, append([]string{"-from", t.path("stalls"), "-at", at}, flags...)...)
	if err := c.Start(); err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, syscall.Unmount(at, 0), c.Wait())
	}()
	for range 100 {
		if _, err := os.Stat(filepath.Join(at, "month=01")); err == nil {
			return must(0, t.mask(at, out))
		}
		time.Sleep(50 * time.Millisecond)
	}
	return errors.New("the file system is not there")
}

// changes of an input while it is read. They leave the file with the content
// of another, or take a part of it away for a while.
var changes = []struct {
	name string
	do   func(file, other string) error
	back bool // the file gets its content back before the next start
}{
	{"replaced", func(file, other string) error {
		return errors.Join(copyFile(other, file+".new"), os.Rename(file+".new", file))
	}, false},
	{"rewritten in place", func(file, other string) error { return copyFile(other, file) }, false},
	{"shrunk", func(file, _ string) error { return os.Truncate(file, 20_000) }, true},
	{"emptied", func(file, _ string) error { return os.Truncate(file, 0) }, true},
	{"appended to", func(file, _ string) error { return appendTo(file, "PAR1") }, true},
	{"removed", func(file, _ string) error { return os.Remove(file) }, true},
	{"touched", func(file, _ string) error { return os.Chtimes(file, time.Time{}, time.Now()) }, false},
}

func copyFile(from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o600)
}

func appendTo(file, text string) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// replaced changes an input during a run. Whatever the first run made of it,
// it ends with 0 and whole trees or says what it could not read, and after the next start the trees
// are those of one run over what is there then.
func (t *torture) replaced() (string, error) {
	if err := errors.Join(t.archive("replaced", 2, t.times(1500, 300)), os.Rename(t.path("replaced", "month=02"), t.path("replaced.other"))); err != nil {
		return "", err
	}
	in, out, spare := t.path("replaced"), t.path("replaced.out"), t.path("replaced.spare")
	file, other := filepath.Join(in, "month=01", "notes.parquet"), t.path("replaced.other", "notes.parquet")
	var want [2]string // with the first content, and with the other
	for i, content := range []string{file, other} {
		err := errors.Join(copyFile(file, spare), copyFile(content, file))
		if err != nil {
			return "", err
		}
		if want[i], err = t.undisturbed(in); err != nil {
			return "", err
		}
		if err := os.Rename(spare, file); err != nil {
			return "", err
		}
	}
	if err := copyFile(file, spare); err != nil {
		return "", err
	}
	counts, done, times := map[string]int{}, 0, t.times(200, 7)
	for ; done < times && !t.over(); done++ {
		change := &changes[done%len(changes)]
		first, err := t.changed(in, out, func() error { return change.do(file, other) })
		if err != nil {
			return "", fmt.Errorf("turn %d, %s: %w", done, change.name, err)
		}
		counts[fmt.Sprintf("exit code %d", first)]++
		final := want[0]
		switch {
		case change.back:
			err = copyFile(spare, file)
		case change.name != "touched":
			final = want[1]
		}
		if err != nil {
			return "", err
		}
		if got, err := code(t.mask(in, out)); err != nil || got != 0 && got != 4 {
			return "", fmt.Errorf("turn %d, %s, the first start ended with %d: the next start ended with exit code %d: %w", done, change.name, first, got, err)
		}
		if err := errors.Join(t.is(out, final), t.clear(out), copyFile(spare, file)); err != nil {
			return "", fmt.Errorf("turn %d, %s, the first start ended with %d: %w", done, change.name, first, err)
		}
	}
	return fmt.Sprintf("%d inputs replaced, rewritten, shrunk, emptied, appended to, removed or touched during a run (%v): after the next start the tree of one run over what is there", done, counts), nil
}

// changed starts a run, does something to its input, and returns its exit
// code.
func (t *torture) changed(in, out string, do func() error) (int, error) {
	c := t.mask(in, out)
	var said strings.Builder
	c.Stderr = &said
	if err := c.Start(); err != nil {
		return 0, err
	}
	time.Sleep(time.Duration(t.rng.IntN(t.times(700, 300))) * time.Millisecond)
	err := do()
	_ = c.Wait() // the exit code is looked at
	got := c.ProcessState.ExitCode()
	if got != 0 && got != 3 && got != 10 {
		err = errors.Join(err, fmt.Errorf("exit code %d: %s", got, strings.TrimSpace(said.String())))
	}
	if got == 0 {
		err = errors.Join(err, must(0, exec.Command(t.velum, "check", out)))
	}
	return got, err
}
