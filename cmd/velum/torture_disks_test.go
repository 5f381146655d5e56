package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
)

// full runs the binary on tmpfs mounts that are too small, in steps up to what
// the trees take, then gives the mount room and starts again.
func (t *torture) full() (string, error) {
	if os.Getuid() != 0 {
		return "left out: a mount of limited size needs root (TestFull has one in memory)", nil
	}
	whole := t.path("full.whole")
	if err := errors.Join(t.archive("full", 3, turns(2000, 700)), must(0, t.mask(t.path("full"), whole))); err != nil {
		return "", err
	}
	want, err := sumOfTrees(whole)
	if err != nil {
		return "", err
	}
	most, err := bytesOfTrees(whole)
	if err != nil {
		return "", err
	}
	sizes, done := turns(20, 5), 0
	for i := 0; i < sizes; i++ {
		done++
		// A mount has pages, and room for one is no size: it means no limit.
		size := max(16<<10, most*int64(i)/int64(sizes))
		if err := t.fullOnce(size, 4*most+16<<20, want); err != nil {
			return "", fmt.Errorf("%d bytes: %w", size, err)
		}
	}
	return fmt.Sprintf("%d mounts from 16 kB to %d %% of %d kB: exit code 14, with more room exit code 0 and the tree of an undisturbed run", done, 100*(sizes-1)/sizes, most>>10), nil
}

func (t *torture) fullOnce(size, room int64, want string) (err error) {
	at := t.path("mount")
	if err := os.MkdirAll(at, 0o700); err != nil {
		return err
	}
	if err := must(0, exec.Command("mount", "-t", "tmpfs", "-o", fmt.Sprintf("size=%d", size), "tmpfs", at)); err != nil {
		return fmt.Errorf("mount: %w", err)
	}
	defer func() { err = errors.Join(err, must(0, exec.Command("umount", at))) }()
	out := filepath.Join(at, "out")
	if err := must(14, t.mask(t.path("full"), out)); err != nil {
		return err
	}
	if err := must(0, exec.Command("mount", "-o", fmt.Sprintf("remount,size=%d", room), at)); err != nil {
		return fmt.Errorf("mount again: %w", err)
	}
	if err := errors.Join(must(0, t.mask(t.path("full"), out)), must(0, exec.Command(t.velum, "check", out))); err != nil {
		return fmt.Errorf("with more room: %w", err)
	}
	got, err := sumOfTrees(out)
	if err == nil && got != want {
		err = fmt.Errorf("the tree is %s, undisturbed %s", got, want)
	}
	return err
}

// treeBytes is what both trees of an output take, in pages.
func bytesOfTrees(out string) (n int64, err error) {
	const page = 4096
	for _, root := range []string{out, out + ".private"} {
		err = errors.Join(err, filepath.WalkDir(root, func(_ string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			info, err := e.Info()
			if err != nil {
				return err
			}
			n += (info.Size() + page - 1) / page * page
			return nil
		}))
	}
	return n, err
}
