package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/velum-health/velum/pipeline/audit"
	"github.com/velum-health/velum/pipeline/commit"
)

// order masks the same files with other workers, units side by side,
// processors and folders. The order of the files in a folder does not show, nor
// does that of several --in.
func (t *torture) order() (string, error) {
	runs, done := turns(40, 6), 0
	if err := t.archive("order", 3, turns(2000, 800)); err != nil {
		return "", err
	}
	sums := map[string]int{}
	for i := 0; i < runs; i++ {
		done++
		out := t.path("order.out")
		workers := []int{1, 2, 4, 8, 16}[i%5]
		args := []string{"--workers", strconv.Itoa(workers), "--units", strconv.Itoa(1 + t.rng.IntN(4))}
		var ins []string
		for _, f := range t.rng.Perm(3) {
			ins = append(ins, t.path("order", fmt.Sprintf("month=%02d", f+1)))
		}
		c := t.mask(ins[0], out, append(args, "--in", ins[1], "--in", ins[2])...)
		c.Env = append(os.Environ(), fmt.Sprintf("GOMAXPROCS=%d", 1+t.rng.IntN(4)))
		if err := must(0, c); err != nil {
			return "", err
		}
		s, err := sumOfTrees(out)
		if err := errors.Join(err, t.clear(out)); err != nil {
			return "", err
		}
		sums[s]++
	}
	figures := fmt.Sprintf("%d runs with 1 to 16 workers, 1 to 4 units, files in any order: %d tree hashes", done, len(sums))
	if len(sums) != 1 {
		return figures, errors.New("not one")
	}
	return figures, nil
}

// double starts two runs at the same moment, or two extracts of one run.
func (t *torture) double() (string, error) {
	tagged := t.path("double.tagged")
	if err := errors.Join(t.archive("double", 1, turns(1500, 800)), must(0, t.mask(t.path("double"), tagged))); err != nil {
		return "", err
	}
	starts, done, late := turns(500, 12), 0, 0
	for i := 0; i < starts; i++ {
		done++
		out := t.path("double.out")
		a, b := t.mask(t.path("double"), out), t.mask(t.path("double"), out)
		if i%4 == 3 {
			a, b = t.extract(t.path("double"), tagged, out), t.extract(t.path("double"), tagged, out)
		}
		behind, err := together(a, b, 0)
		if err != nil {
			return "", fmt.Errorf("start %d: %w", i, err)
		}
		if behind {
			late++
		}
		if err := errors.Join(must(0, exec.Command(t.velum, "check", out)), t.clear(out)); err != nil {
			return "", fmt.Errorf("start %d: %w", i, err)
		}
	}
	return fmt.Sprintf("%d double starts: %d with one winner and exit code 11 that names it, %d one behind the other, 0 with two writers", done, done-late, late), nil
}

// together starts two commands with one output, the second some time after the
// first. One makes it; the other is refused with a message that names the first,
// or comes when all is done.
func together(a, b *exec.Cmd, after time.Duration) (behind bool, err error) {
	var said [2]strings.Builder
	a.Stderr, b.Stderr = &said[0], &said[1]
	if err := a.Start(); err != nil {
		return false, err
	}
	time.Sleep(after)
	if err := b.Start(); err != nil {
		return false, errors.Join(err, a.Wait())
	}
	_, _ = a.Wait(), b.Wait()
	codes := [2]int{a.ProcessState.ExitCode(), b.ProcessState.ExitCode()}
	winner, loser := 0, 1
	if codes[0] != 0 {
		winner, loser = 1, 0
	}
	if codes[winner] != 0 || codes[loser] != 11 && codes[loser] != 4 && codes[loser] != 0 {
		return false, fmt.Errorf("exit codes %v: %s%s", codes, said[0].String(), said[1].String())
	}
	if codes[loser] != 11 {
		return true, nil
	}
	if pid := fmt.Sprintf("process %d", [2]*exec.Cmd{a, b}[winner].Process.Pid); !strings.Contains(said[loser].String(), pid) {
		return false, fmt.Errorf("the message does not name the holder: %s", said[loser].String())
	}
	return false, nil
}

// flips changes single bits of files of both trees.
func (t *torture) flips() (string, error) {
	out := t.path("flips.out")
	if err := errors.Join(t.archive("flips", 2, 1500), must(0, t.mask(t.path("flips"), out))); err != nil {
		return "", err
	}
	var files []string
	for _, root := range []string{out, out + ".private"} {
		err := filepath.WalkDir(root, func(name string, e fs.DirEntry, err error) error {
			if err == nil && e.Type().IsRegular() {
				files = append(files, name)
			}
			return err
		})
		if err != nil {
			return "", err
		}
	}
	flips, done := turns(10_000, 100), 0
	for i := 0; i < flips; i++ {
		done++
		name := files[t.rng.IntN(len(files))]
		found, err := t.flip(name, out)
		if err != nil {
			return "", err
		}
		if !found {
			return "", fmt.Errorf("flip %d in %s is not found", i, filepath.Base(name))
		}
	}
	if err := must(0, exec.Command(t.velum, "check", out)); err != nil {
		return "", err
	}
	return fmt.Sprintf("%d bits in %d files: all found by check", done, len(files)), nil
}

// flip changes one bit, checks the trees, and changes it back. What
// commit.Check does not know, the audit log and the tie between both
// manifests, is left to the command, which costs a process.
func (t *torture) flip(name, out string) (found bool, err error) {
	data, err := os.ReadFile(name)
	if err != nil || len(data) == 0 {
		return len(data) == 0, err
	}
	at, bit := t.rng.IntN(len(data)), byte(1)<<t.rng.IntN(8)
	data[at] ^= bit
	if err := os.WriteFile(name, data, 0o600); err != nil {
		return false, err
	}
	for _, root := range []string{out, out + ".private"} {
		differences, err := commit.Check(context.Background(), root, audit.InTree...)
		found = found || err != nil || len(differences) > 0
	}
	if !found {
		c, err := code(exec.Command(t.velum, "check", out))
		if err != nil {
			return false, err
		}
		found = c == 13
	}
	data[at] ^= bit
	return found, os.WriteFile(name, data, 0o600)
}

// kill ends runs at random times until one of them comes to its end.
func (t *torture) kill() (string, error) {
	// Small units, so that a kill costs little more than a start.
	if err := t.archive("kill", 3, turns(700, 400)); err != nil {
		return "", err
	}
	out, undisturbed := t.path("kill.out"), t.path("kill.whole")
	began := time.Now()
	if err := must(0, t.mask(t.path("kill"), undisturbed)); err != nil {
		return "", err
	}
	whole := time.Since(began)
	want, err := sumOfTrees(undisturbed)
	if err != nil {
		return "", err
	}
	kills, most, jobs := 0, turns(2000, 12), 0
	for kills < most {
		ended, err := t.killOnce(t.path("kill"), out, time.Duration(t.rng.Float64()*float64(whole)*1.1))
		if err != nil {
			return "", fmt.Errorf("kill %d: %w", kills, err)
		}
		if !ended {
			kills++
			if kills < most && t.rng.IntN(4) > 0 {
				continue // let the next start go on from here, and be killed as well
			}
			if c, err := code(t.mask(t.path("kill"), out)); err != nil || c != 0 && c != 4 {
				return "", fmt.Errorf("kill %d: resumed with exit code %d: %w", kills, c, err)
			}
		}
		got, err := sumOfTrees(out)
		if err != nil {
			return "", err
		}
		if got != want {
			return "", fmt.Errorf("kill %d: the tree is %s, undisturbed %s", kills, got, want)
		}
		jobs++
		if err := t.clear(out); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("%d kills in %d jobs: 0 trees that differ from an undisturbed run", kills, jobs), nil
}

// killOnce starts a run and kills it after a while; ended tells whether it had
// come to its end by then.
func (t *torture) killOnce(in, out string, after time.Duration) (ended bool, err error) {
	c := t.mask(in, out)
	if err := c.Start(); err != nil {
		return false, err
	}
	time.Sleep(after)
	if err := c.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return false, err
	}
	err = c.Wait()
	if c.ProcessState.Exited() {
		if n := c.ProcessState.ExitCode(); n != 0 && n != 4 {
			return false, fmt.Errorf("exit code %d: %w", n, err)
		}
		return true, nil
	}
	return false, nil
}
