package main

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// Tally is what a test went through.
type diskTally struct {
	Jobs, Deaths, Losses, Errors, Lost int // Lost: changes of names that losses undid
}

func (t diskTally) String() string {
	return fmt.Sprintf("%d jobs, %d deaths, %d power losses that undid %d changes of names, %d errors of the disk", t.Jobs, t.Deaths, t.Losses, t.Lost, t.Errors)
}

// Add adds up.
func (t *diskTally) Add(u diskTally) {
	t.Jobs += u.Jobs
	t.Deaths += u.Deaths
	t.Losses += u.Losses
	t.Errors += u.Errors
	t.Lost += u.Lost
}

// Power runs a few jobs, each changing what the one before left, on a disk on
// which processes die, the power goes, and operations fail, again and again.
// After every loss it checks what is left; when a run has ended well it takes
// the power away once more and compares the trees with those of a run that
// nothing disturbed. An error tells what is wrong. skip plants a bug: see
// Disk.Skip.
func diskPower(seed uint64, skip func(diskOp) bool) (diskTally, error) {
	p := &diskPowerRun{rng: rand.New(rand.NewPCG(seed, 2)), parts: map[string]string{}}
	p.w = &diskWorker{disk: newMemoryDisk(seed, diskVolume), settled: map[string]bool{}}
	p.w.disk.Skip = skip
	j := diskJob{Units: 1 + p.rng.IntN(3), AtOnce: 1 + p.rng.IntN(2)}
	for range 1 + p.rng.IntN(3) {
		if err := p.job(j); err != nil {
			return p.diskTally, fmt.Errorf("seed %d, %+v: %w", seed, j, err)
		}
		j = p.change(j)
	}
	return p.diskTally, nil
}

type diskPowerRun struct {
	diskTally
	rng   *rand.Rand
	w     *diskWorker
	parts map[string]string // all that may be there

	damaged string // a part in which a bit was flipped, until the job is done
}

// somePart draws a file that a run can mend.
func (p *diskPowerRun) somePart() string {
	var all []string
	for name := range p.parts {
		if strings.Contains(name, "/part-") || strings.HasSuffix(name, "report.json") {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return all[p.rng.IntN(len(all))]
}

// change draws what happens before the next job.
func (p *diskPowerRun) change(j diskJob) diskJob {
	j.Fresh, p.damaged, p.w.settled = false, "", map[string]bool{}
	switch p.rng.IntN(6) {
	case 0:
		j.Units++
	case 1:
		j.Units = max(1, j.Units-1)
	case 2:
		j.Config++
	case 3:
		j.Fresh, p.w.settled = true, nil // every start begins anew
	case 4:
		p.damaged = p.somePart()
		p.w.disk.damage(filepath.Join(diskDir, "..", p.damaged), p.rng.IntN(64))
	}
	return j
}

// job runs a job until it ends well.
func (p *diskPowerRun) job(j diskJob) error {
	want, ops, err := diskUndisturbed(j)
	if err != nil {
		return err
	}
	maps.Copy(p.parts, want)
	p.Jobs++
	for life := 0; ; life++ {
		f := diskFault{At: 1 + p.rng.IntN(ops*5/4)}
		switch {
		case life >= 6:
			f = diskFault{}
		case p.rng.IntN(6) == 0:
			f.Err, f.Lasting = []error{syscall.EIO, syscall.ENOSPC, syscall.EROFS}[p.rng.IntN(3)], p.rng.IntN(2) == 0
		}
		if ended, err := p.process(j, f); ended || err != nil {
			return p.over(err, want)
		}
		if p.w.disk.died() && p.rng.IntN(3) == 0 {
			continue // no reboot: the next process sees what was not synced
		}
		if err := p.lose(); err != nil {
			return err
		}
	}
}

// process runs one process; ended tells whether it came to its end.
func (p *diskPowerRun) process(j diskJob, f diskFault) (ended bool, err error) {
	d := p.w.disk
	d.Start(f)
	err = p.w.run(j)
	switch {
	case len(p.w.twice) > 0:
		return false, fmt.Errorf("unit %s was journalled and is done again%s", p.w.twice[0], diskTrace(d.Ops()))
	case d.died():
		p.Deaths++
		return false, nil
	case err != nil && f.Err != nil:
		p.Errors++
		return false, nil
	}
	return err == nil, err
}

// lose takes the power away and checks what is left.
func (p *diskPowerRun) lose() error {
	d := p.w.disk
	ops := d.Ops()
	p.Losses++
	lost := d.Lose()
	p.Lost += len(lost)
	if bad := diskUnsound(d, p.parts, p.damaged); bad != "" {
		return fmt.Errorf("after a power loss at%s\nof which is lost:%s\n%s", diskTrace(ops), diskTrace(lost), bad)
	}
	return nil
}

// over checks a job that ended well: now, and when the power goes after it.
func (p *diskPowerRun) over(err error, want map[string]string) error {
	if err != nil {
		return err
	}
	p.damaged = ""
	if bad := diskDiffers(diskOutputs(p.w.disk), want); bad != "" {
		return fmt.Errorf("the trees are not those of an undisturbed run: %s", bad)
	}
	if p.rng.IntN(3) == 0 {
		return nil
	}
	if err := p.lose(); err != nil {
		return err
	}
	if bad := diskDiffers(diskOutputs(p.w.disk), want); bad != "" {
		return fmt.Errorf("a run that had ended well lost something with the power: %s", bad)
	}
	return nil
}
