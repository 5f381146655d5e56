package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
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
	s, err := sumOfTrees(out)
	return s, errors.Join(err, t.clear(out))
}

// freezes stops the program, its decode workers or both, for a while and now
// and then for long, and lets them go on. A freeze is no damage: the trees are
// those of an undisturbed run.
func (t *torture) freezes() (string, error) {
	in := t.path("freezes")
	if err := t.archive("freezes", 2, turns(1500, 400)); err != nil {
		return "", err
	}
	want, err := t.undisturbed(in)
	if err != nil {
		return "", err
	}
	done, frozen, times, lanes := 0, [3]int{}, turns(200, 3), turns(6, 1)
	for ; done < times; done += lanes {
		lanes = min(lanes, times-done)
		var wave []*freeze
		for l := range lanes {
			f := &freeze{out: t.path(fmt.Sprintf("freezes.out%d", l)), what: t.rng.IntN(3)}
			f.c = t.mask(in, f.out)
			f.c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
			if err := f.c.Start(); err != nil {
				return "", err
			}
			f.stop = time.Now().Add(time.Duration(t.rng.IntN(600)) * time.Millisecond)
			f.goOn = f.stop.Add(t.pause(done + l))
			wave = append(wave, f)
		}
		t.freezeAll(wave, &frozen)
		for l, f := range wave {
			_ = f.c.Wait() // the exit code is looked at
			if got := f.c.ProcessState.ExitCode(); got != 0 {
				return "", fmt.Errorf("freeze %d: exit code %d", done+l, got)
			}
			if err := errors.Join(t.is(f.out, want), t.clear(f.out)); err != nil {
				return "", fmt.Errorf("freeze %d: %w", done+l, err)
			}
		}
	}
	return fmt.Sprintf("%d runs, %d side by side, the program stopped %d times, workers %d, both %d, one in ten for %v: each the tree of an undisturbed run", done, turns(6, 1), frozen[0], frozen[1], frozen[2], long), nil
}

// freeze is a run that is stopped for a while.
type freeze struct {
	c          *exec.Cmd
	out        string
	what       int // the program, its workers, both
	stop, goOn time.Time
	pids       []int // that are stopped
}

// freezeAll stops runs and lets them go on, each at its time.
func (t *torture) freezeAll(wave []*freeze, frozen *[3]int) {
	for left := len(wave); left > 0; time.Sleep(5 * time.Millisecond) {
		left = 0
		for _, f := range wave {
			now := time.Now()
			switch {
			case now.After(f.goOn):
				for _, pid := range f.pids {
					_ = syscall.Kill(pid, syscall.SIGCONT)
				}
				continue
			case now.After(f.stop) && f.pids == nil: // a worker may not be there yet
				f.pids = [3][]int{{f.c.Process.Pid}, children(f.c.Process.Pid), {-f.c.Process.Pid}}[f.what]
				for _, pid := range f.pids {
					frozen[f.what]++
					_ = syscall.Kill(pid, syscall.SIGSTOP) // it may have ended
				}
			}
			left++
		}
	}
}

// pause is how long turn i of a long form holds something up.
func (t *torture) pause(i int) time.Duration {
	if *longForm && i%10 == 0 {
		return long
	}
	return time.Duration(50+t.rng.IntN(400)) * time.Millisecond
}

// stalls masks an archive from a file system that answers late (slowDisk).
func (t *torture) stalls() (string, error) {
	if _, err := os.Stat("/dev/fuse"); err != nil || os.Getuid() != 0 {
		return "left out: a file system of our own needs root and /dev/fuse", nil
	}
	if err := t.archive("stalls", 2, turns(1500, 400)); err != nil {
		return "", err
	}
	want, err := t.undisturbed(t.path("stalls"))
	if err != nil {
		return "", err
	}
	done, times, lanes := 0, turns(200, 2), turns(16, 1)
	for ; done < times; done += lanes {
		lanes = min(lanes, times-done)
		if err := t.stalledWave(want, done, lanes); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("%d runs over disks that stall, %d side by side, one in ten for %v a time: each the tree of an undisturbed run", done, turns(16, 1), long), nil
}

// stalledWave does some runs at once, each over a slow file system of its own:
// most of the time they wait.
func (t *torture) stalledWave(want string, first, lanes int) error {
	var disks []*fuse.Server
	var runs []*exec.Cmd
	var errs []error
	at := func(l int) string { return t.path(fmt.Sprintf("stalls.at%d", l)) }
	out := func(l int) string { return t.path(fmt.Sprintf("stalls.out%d", l)) }
	for l := range lanes {
		stall, every := t.pause(first+l), 2+t.rng.IntN(12)
		if stall == long {
			every = 20
		}
		disk, err := t.slow(at(l), &slowDisk{stall: stall, every: every, rng: rand.New(rand.NewPCG(t.rng.Uint64(), 0))})
		if err != nil {
			errs = append(errs, err)
			break
		}
		disks, runs = append(disks, disk), append(runs, t.mask(at(l), out(l)))
		errs = append(errs, runs[l].Start())
	}
	for l, c := range runs {
		if c.Process == nil {
			continue
		}
		_ = c.Wait() // the exit code is looked at
		if got := c.ProcessState.ExitCode(); got != 0 {
			errs = append(errs, fmt.Errorf("turn %d: exit code %d", first+l, got))
		} else if err := t.is(out(l), want); err != nil {
			errs = append(errs, fmt.Errorf("turn %d: %w", first+l, err))
		}
		errs = append(errs, t.clear(out(l)))
	}
	for _, disk := range disks {
		errs = append(errs, disk.Unmount())
	}
	return errors.Join(errs...)
}

// slowDisk is a disk that now and then answers a read late, as one that spins up
// or a server that is away; meanwhile it answers nobody.
type slowDisk struct {
	sync.Mutex
	stall time.Duration
	every int // one read of so many stalls
	rng   *rand.Rand
}

// slow shows the archive under another path, on a slow disk.
func (t *torture) slow(at string, disk *slowDisk) (*fuse.Server, error) {
	if err := os.MkdirAll(at, 0o700); err != nil {
		return nil, err
	}
	loop, err := fs.NewLoopbackRoot(t.path("stalls"))
	if err != nil {
		return nil, err
	}
	root := &slowNode{loop.(*fs.LoopbackNode), disk}
	forever := time.Hour // the kernel may believe what it was told
	return fs.Mount(at, root, &fs.Options{AttrTimeout: &forever, EntryTimeout: &forever,
		MountOptions: fuse.MountOptions{DirectMountStrict: true, AllowOther: true, Name: "slowdisk"}})
}

// slowNode is a file or a folder of a slow disk.
type slowNode struct {
	*fs.LoopbackNode
	disk *slowDisk
}

func (n *slowNode) WrapChild(_ context.Context, child fs.InodeEmbedder) fs.InodeEmbedder {
	return &slowNode{child.(*fs.LoopbackNode), n.disk}
}

// Open shadows that of the loopback: reads go by way of slowFile.
func (n *slowNode) Open(ctx context.Context, flags uint32) (fs.FileHandle, uint32, syscall.Errno) {
	f, flags, errno := n.LoopbackNode.Open(ctx, flags)
	if errno != 0 {
		return nil, 0, errno
	}
	return &slowFile{f.(fs.FileReader), f.(fs.FileReleaser), n.disk}, flags, 0
}

type slowFile struct {
	fs.FileReader
	fs.FileReleaser
	disk *slowDisk
}

func (f *slowFile) Read(ctx context.Context, into []byte, at int64) (fuse.ReadResult, syscall.Errno) {
	f.disk.Lock()
	defer f.disk.Unlock()
	if f.disk.rng.IntN(f.disk.every) == 0 {
		time.Sleep(f.disk.stall)
	}
	return f.FileReader.Read(ctx, into, at)
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
	if err := errors.Join(t.archive("replaced", 2, turns(1500, 300)), os.Rename(t.path("replaced", "month=02"), t.path("replaced.other"))); err != nil {
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
	counts, done, times := map[string]int{}, 0, turns(200, 7)
	for ; done < times; done++ {
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
		// The other content has other notes, which are another month unless the start says that they are not.
		if got, err := code(t.mask(in, out, "--set", "run.changed=replace")); err != nil || got != 0 && got != 4 {
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
	time.Sleep(time.Duration(t.rng.IntN(turns(700, 300))) * time.Millisecond)
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
