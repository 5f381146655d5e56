package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// machine brings what a machine does to files between two starts: sparse files
// far larger than the memory, a tree or a folder of it swapped for a link, files
// of two names.
func (t *torture) machine() (string, error) {
	if err := t.archive("machine", 2, 200); err != nil {
		return "", err
	}
	in, out := t.path("machine"), t.path("machine.out")
	want, err := t.undisturbed(in)
	if err != nil {
		return "", err
	}
	if err := errors.Join(must(0, t.mask(in, out)), t.swapped(in, out)); err != nil {
		return "", err
	}
	if err := t.is(out, want); err != nil {
		return "", fmt.Errorf("links swapped in: %w", err)
	}
	peak, err := t.sparse()
	if err != nil {
		return "", err
	}
	linked, err := t.hardLinks(in)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("trees and folders swapped for links: refused, nothing touched; sparse files: named, exit code 3, at most %d MiB; %d paths of %d files: each read by its name", peak, 2*linked, linked), nil
}

// swapped puts a link in the place of the private tree and of folders of both
// trees, one after the other: every start is refused and the files lie as they did.
// _audit may be a link: a house may keep its log where lines are only added.
func (t *torture) swapped(in, out string) error {
	for i, dir := range []string{out + ".private", filepath.Join(out, "masked"), filepath.Join(out+".private", "original")} {
		away := t.path(fmt.Sprint("machine.away", i))
		if err := errors.Join(os.Rename(dir, away), os.Symlink(away, dir)); err != nil {
			return err
		}
		for _, more := range [][]string{nil, {"--fresh"}} {
			if err := must(10, t.mask(in, out, more...)); err != nil {
				return fmt.Errorf("%s is a link: %w", filepath.Base(dir), err)
			}
		}
		if err := errors.Join(os.Remove(dir), os.Rename(away, dir)); err != nil {
			return err
		}
	}
	return nil
}

// sparse gives sparse files of each form, 10 GB or, in the short form, 200 MB, and
// returns the most memory that a run over one took, in MiB.
func (t *torture) sparse() (peak int64, err error) {
	size := int64(10 << 30)
	if !*longForm {
		size = 200 << 20
	}
	for _, ext := range []string{"parquet", "jsonl", "csv"} {
		dir, out := t.path("sparse", ext), t.path("sparse.out")
		name := filepath.Join(dir, "notes."+ext)
		if err := errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(name, nil, 0o600), os.Truncate(name, size)); err != nil {
			return 0, err
		}
		c := t.mask(dir, out)
		text, most, err := mostMemory(c)
		if code := c.ProcessState.ExitCode(); code != 3 || !strings.Contains(string(text), "notes."+ext) {
			return 0, fmt.Errorf("sparse %s: exit code %d: %s (%v)", ext, code, text, err)
		}
		peak = max(peak, most)
		if err := errors.Join(os.Remove(name), t.clear(out)); err != nil {
			return 0, err
		}
	}
	if peak > 3<<9 {
		return peak, fmt.Errorf("a sparse file took %d MiB", peak)
	}
	return peak, nil
}

// mostMemory runs a command and returns what it said and the most memory that it had, in MiB, as /proc told while it ran.
// Its rusage does not tell: Linux counts the memory of the process that started it, which is that of all tests at once.
func mostMemory(c *exec.Cmd) (text []byte, most int64, err error) {
	var says bytes.Buffer
	c.Stdout, c.Stderr = &says, &says
	if err := c.Start(); err != nil {
		return nil, 0, err
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	for {
		select {
		case err := <-ended:
			return says.Bytes(), most >> 10, err
		case <-time.After(time.Millisecond):
			status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.Process.Pid))
			if _, peak, there := strings.Cut(string(status), "VmHWM:"); there {
				_, _ = fmt.Sscan(peak, &most)
			}
		}
	}
}

// hardLinks gives every file a second name. Files are told by name: both are read.
func (t *torture) hardLinks(in string) (files int, err error) {
	dir, out := t.path("links"), t.path("links.out")
	names, err := filepath.Glob(filepath.Join(in, "month=*", "notes.parquet"))
	if err != nil || len(names) == 0 {
		return 0, fmt.Errorf("no files to link: %w", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return 0, err
	}
	for i, name := range names {
		for _, second := range []string{"a", "b"} {
			if err := os.Link(name, filepath.Join(dir, fmt.Sprint(second, i, ".parquet"))); err != nil {
				return 0, err
			}
		}
	}
	c := t.mask(dir, out, "--json")
	text, err := c.CombinedOutput()
	if code := c.ProcessState.ExitCode(); code != 0 || !strings.Contains(string(text), fmt.Sprintf(`"rows":%d,`, 2*200*len(names))) {
		return 0, fmt.Errorf("hard links: exit code %d: %s (%v)", code, text, err)
	}
	return len(names), t.clear(out)
}
