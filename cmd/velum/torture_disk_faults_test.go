package main

import (
	"errors"
	"fmt"
	"path"
	"strings"
	"syscall"
)

// errs are what a disk says when it fails. A write that fails has written a
// piece.
var diskErrs = []error{syscall.EIO, syscall.ENOSPC, syscall.EROFS}

// Nth fails every operation of a job in turn, in every way, once and from then
// on. The process must end with that error, or not be hurt; what it leaves
// must be sound even when the power goes as well; the next one must make the
// trees of an undisturbed run. (The method is SQLite's: testing.html, §3.2.)
func diskNth(j diskJob) (diskTally, error) {
	var t diskTally
	want, ops, err := diskUndisturbed(j)
	if err != nil {
		return t, err
	}
	for at := 1; at <= ops; at++ {
		for _, e := range diskErrs {
			for _, lasting := range []bool{false, true} {
				f := diskFault{At: at, Err: e, Lasting: lasting}
				if err := t.nth(j, f, want); err != nil {
					return t, fmt.Errorf("%+v, operation %d fails with %q, lasting %v: %w", j, at, e, lasting, err)
				}
			}
		}
	}
	return t, nil
}

func (t *diskTally) nth(j diskJob, f diskFault, want map[string]string) error {
	w := &diskWorker{disk: newMemoryDisk(uint64(f.At), diskVolume), settled: map[string]bool{}}
	w.disk.Start(f)
	err := w.run(j)
	ops := w.disk.Ops()
	t.Jobs++
	switch {
	case err == nil && f.Lasting:
		return fmt.Errorf("nothing works any more, and the run says that all is well%s", diskTrace(ops))
	case err != nil && !errors.Is(err, f.Err):
		return fmt.Errorf("the error is another: %w", err)
	case err != nil:
		t.Errors++
	}
	if f.At%2 == 0 {
		t.Losses++
		t.Lost += len(w.disk.Lose())
	}
	if bad := diskUnsound(w.disk, want, ""); bad != "" {
		return fmt.Errorf("%s%s", bad, diskTrace(ops))
	}
	return w.resume(j, want)
}

// resume runs a job to its end and compares the trees.
func (w *diskWorker) resume(j diskJob, want map[string]string) error {
	w.disk.Start(diskFault{})
	if err := w.run(j); err != nil {
		return fmt.Errorf("resumed: %w", err)
	}
	if len(w.twice) > 0 {
		return fmt.Errorf("unit %s was journalled and is done again", w.twice[0])
	}
	if bad := diskDiffers(diskOutputs(w.disk), want); bad != "" {
		return fmt.Errorf("the trees are not those of an undisturbed run: %s", bad)
	}
	return nil
}

// Steps returns the steps of a job that change something on the disk, each
// with the number of its first operation: what is done, and to what kind of
// file.
func diskSteps(j diskJob) (names []string, first map[string]int) {
	w := &diskWorker{disk: newMemoryDisk(1, diskVolume)}
	w.disk.Start(diskFault{})
	first = map[string]int{}
	if w.run(j) != nil {
		return nil, nil
	}
	for i, op := range w.disk.Ops() {
		switch op.Kind {
		case "open", "read", "stat", "fstat", "readdir":
			continue
		}
		if name := diskStep(op); first[name] == 0 {
			first[name] = i + 1
			names = append(names, name)
		}
	}
	return names, first
}

// step names an operation for what it does, without the hash of anything.
func diskStep(op diskOp) string {
	name := op.Kind + " " + diskClass(op.Path)
	if verb, changed, ok := strings.Cut(op.After, " "); ok {
		name += " after " + verb + " " + diskClass(changed)
	}
	return name
}

// class names a path for what it is in a tree.
func diskClass(name string) string {
	if below, ok := strings.CutPrefix(name, diskModelsFolder); ok {
		if strings.HasSuffix(below, ".velum") {
			below = "/MODEL"
		}
		return "models" + below
	}
	below, ok := strings.CutPrefix(name, path.Dir(diskDir)+"/")
	if !ok {
		return "above"
	}
	tree, below, _ := strings.Cut(below, "/")
	parts := strings.Split(below, "/")
	for i, p := range parts {
		switch {
		case strings.HasPrefix(p, "turn-"):
			parts[i] = "TURN"
		case i == 1 && parts[0] == "_runs":
			parts[i] = "RUN"
		case strings.HasPrefix(p, "part-"):
			parts[i] = "PART"
		case strings.HasPrefix(p, "month="):
			parts[i] = "MONTH"
		case strings.Contains(p, ".parquet"), strings.HasPrefix(p, "final-"):
			parts[i] = "PART"
		}
	}
	return strings.TrimSuffix(tree+"/"+strings.Join(parts, "/"), "/")
}

// Single lets the process die at every step of a job, and fail at it; Pairs
// does so at every operation, and in the resumed run at every operation once
// more, so that every pair of failpoints is met.
func diskSingle(j diskJob) (diskTally, error) { return diskFailpoints(j, false) }

// Pairs: see Single.
func diskPairs(j diskJob) (diskTally, error) { return diskFailpoints(j, true) }

func diskFailpoints(j diskJob, pairs bool) (t diskTally, err error) {
	want, ops, err := diskUndisturbed(j)
	if err != nil {
		return t, err
	}
	second := 0
	if pairs {
		second = ops + ops/4 // to resume can take more than to run
	}
	for a := 1; a <= ops; a++ {
		for b := 0; b <= second; b++ {
			for _, e := range []error{nil, syscall.EIO} {
				if err := t.twice(j, diskFault{At: a, Err: e}, diskFault{At: b, Err: e}, want); err != nil {
					return t, fmt.Errorf("%+v, failpoints %d and %d, error %v: %w", j, a, b, e, err)
				}
			}
		}
	}
	return t, nil
}

// twice runs a job with one fault, resumes it with another, and then without.
// After every second death the power goes as well.
func (t *diskTally) twice(j diskJob, first, second diskFault, want map[string]string) error {
	w := &diskWorker{disk: newMemoryDisk(uint64(first.At*1000+second.At), diskVolume), settled: map[string]bool{}}
	t.Jobs++
	for i, f := range []diskFault{first, second} {
		w.disk.Start(f)
		err := w.run(j)
		switch {
		case w.disk.died():
			t.Deaths++
		case err != nil && !errors.Is(err, f.Err):
			return err
		case err != nil:
			t.Errors++
		}
		if (first.At+second.At+i)%2 == 0 {
			t.Losses++
			t.Lost += len(w.disk.Lose())
		}
		if bad := diskUnsound(w.disk, want, ""); bad != "" {
			return fmt.Errorf("%s", bad)
		}
	}
	return w.resume(j, want)
}

// Full runs a job on a disk with so many bytes of room less than it takes, and
// again with room for all.
func diskFull(j diskJob, share float64) (diskTally, error) {
	var t diskTally
	want, _, err := diskUndisturbed(j)
	if err != nil {
		return t, err
	}
	bytes := 0
	for _, data := range want {
		bytes += len(data)
	}
	w := &diskWorker{disk: newMemoryDisk(1, diskVolume), settled: map[string]bool{}}
	w.disk.Room = 1 + int64(share*float64(bytes))
	w.disk.Start(diskFault{})
	t.Jobs++
	if err := w.run(j); err == nil {
		return t, fmt.Errorf("a disk of %d bytes holds %d", w.disk.Room, bytes)
	} else if !errors.Is(err, syscall.ENOSPC) {
		return t, err
	}
	t.Errors++
	if bad := diskUnsound(w.disk, want, ""); bad != "" {
		return t, fmt.Errorf("%s", bad)
	}
	w.disk.Room = 0
	return t, w.resume(j, want)
}
