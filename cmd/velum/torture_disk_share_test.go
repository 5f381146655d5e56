package main

import (
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"

	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/pipeline/durable"
)

// smallFiles is how many there may be: more than share a unit at the least.
const diskSmallFiles = 40

// Share gives small files, which share units, to an output that grows: some dozen at
// a time, new ones, changed ones, and takes some away again. Processes die, the power
// goes, and each run is started again until it ends well. Then every file is there
// once, in its last version, and the trees are those of the same runs on a disk that
// never failed. skip plants a bug: see Disk.Skip.
func diskShare(seed uint64, skip func(diskOp) bool) (diskTally, error) {
	s := &diskSharing{
		diskGrowing: diskGrowing{rng: rand.New(rand.NewPCG(seed, 4)), parts: map[string]string{}, w: &diskWorker{disk: newMemoryDisk(seed, diskVolume)}},
		there:       map[int]int{},
	}
	s.w.disk.Skip = skip
	for range 2 + s.rng.IntN(4) {
		if err := s.job(s.next()); err != nil {
			return s.diskTally, fmt.Errorf("seed %d, %d runs, the last %+v: %w", seed, len(s.history), s.history[len(s.history)-1], err)
		}
	}
	return s.diskTally, nil
}

type diskSharing struct {
	diskGrowing
	there   map[int]int // version of each file, from 1
	history []diskJob
}

// next draws the files of the next run.
func (s *diskSharing) next() diskJob {
	j := diskJob{AtOnce: 1 + s.rng.IntN(2), Months: []diskMonth{}, Forget: map[int]bool{}}
	least := s.rng.IntN(diskSmallFiles)
	for number := range diskSmallFiles {
		version := max(s.there[number], 1)
		switch s.rng.IntN(10) {
		case 0:
			version++
		case 1:
			if s.there[number] > 0 && len(s.history) > 0 {
				j.Forget[number] = true
				continue
			}
		}
		if number >= least || s.rng.IntN(3) == 0 {
			j.Months = append(j.Months, diskMonth{Number: number, Version: version, Small: true})
		}
	}
	return j
}

// job runs a job until it ends well.
func (s *diskSharing) job(j diskJob) error {
	s.history = append(s.history, j)
	for _, m := range j.Months {
		s.there[m.Number] = m.Version
	}
	for number := range j.Forget {
		delete(s.there, number)
	}
	want, ops, err := diskReplay(s.history)
	if err != nil {
		return err
	}
	diskAddParts(s.parts, want)
	s.Jobs++
	for life := 0; ; life++ {
		f := diskFault{At: 1 + s.rng.IntN(ops*2)}
		switch {
		case life >= 4:
			f = diskFault{}
		case s.rng.IntN(6) == 0:
			f.Err, f.Lasting = []error{syscall.EIO, syscall.ENOSPC, syscall.EROFS}[s.rng.IntN(3)], s.rng.IntN(2) == 0
		}
		s.w.disk.Start(f)
		err := s.w.run(j)
		died := s.w.disk.died()
		if err == nil && !died {
			break
		}
		switch {
		case died:
			s.Deaths++
		case f.Err == nil:
			return err
		default:
			s.Errors++
		}
		if s.rng.IntN(3) > 0 {
			if err := s.lose(); err != nil {
				return err
			}
		}
	}
	if bad := diskDiffers(diskOutputs(s.w.disk), want); bad != "" {
		return fmt.Errorf("the trees are not those of the same runs undisturbed: %s", bad)
	}
	if err := s.complete(want); err != nil {
		return err
	}
	if err := s.lose(); err != nil {
		return err
	}
	if bad := diskDiffers(diskOutputs(s.w.disk), want); bad != "" {
		return fmt.Errorf("a run that had ended well lost something with the power: %s", bad)
	}
	return nil
}

// lose takes the power away and checks what is left.
func (s *diskSharing) lose() error {
	ops := s.w.disk.Ops()
	s.Losses++
	lost := s.w.disk.Lose()
	s.Lost += len(lost)
	if bad := diskUnsound(s.w.disk, s.parts, ""); bad != "" {
		return fmt.Errorf("after a power loss at%s\nof which is lost:%s\n%s", diskTrace(ops), diskTrace(lost), bad)
	}
	return nil
}

// complete checks that each note of each file is in one part, beside those that are staged and mixed, and no other note is.
func (s *diskSharing) complete(files map[string]string) error {
	notes := map[string]int{}
	for name, data := range files {
		if !strings.Contains(name, "/part-") || strings.Contains(name, "/staged/") || strings.Contains(name, "/mixed/") {
			continue
		}
		for line := range strings.Lines(data) {
			var id, row int
			if _, err := fmt.Sscanf(line, "note %d %d", &id, &row); err == nil {
				notes[fmt.Sprint(id)]++
			}
		}
	}
	for _, number := range slices.Sorted(maps.Keys(s.there)) {
		for _, u := range (diskMonth{Number: number, Version: s.there[number], Small: true}).units() {
			for i := range u.Rows {
				id := fmt.Sprint(diskFirstID(&u) + i)
				if notes[id] != 1 {
					return fmt.Errorf("note %d of file %d, version %d, is there %d times", i, number, s.there[number], notes[id])
				}
				delete(notes, id)
			}
		}
	}
	if len(notes) > 0 {
		return fmt.Errorf("%d notes are there of files that are not: %v", len(notes), slices.Sorted(maps.Keys(notes)))
	}
	return nil
}

// replay runs jobs one after the other on a disk that never fails. ops is how many
// operations the last one takes.
func diskReplay(jobs []diskJob) (files map[string]string, ops int, err error) {
	w := &diskWorker{disk: newMemoryDisk(1, diskVolume)}
	for _, j := range jobs {
		w.disk.Start(diskFault{})
		j.AtOnce = 1
		if err := w.run(j); err != nil {
			return nil, 0, err
		}
		ops = len(w.disk.Ops())
	}
	return diskOutputs(w.disk), ops, nil
}

// remain is commit.UnitOptions.Rest of the parts of jobs.
func diskRemain(parts *commit.Parts, of *commit.UnitRecord, open func(commit.PartRecord) (durable.File, error), stays func(int64) bool) (commit.Counts, error) {
	s, err := diskNewSink(parts, of.Parts[0].Path[0])
	if err != nil {
		return commit.Counts{}, err
	}
	for _, p := range of.Parts {
		f, err := open(p)
		if err != nil {
			return commit.Counts{}, err
		}
		data, err := io.ReadAll(f)
		if err != nil {
			return commit.Counts{}, err
		}
		if err := f.Close(); err != nil {
			return commit.Counts{}, err
		}
		for line := range strings.Lines(string(data)) {
			var id, row int64
			if _, err := fmt.Sscanf(line, "note %d %d", &id, &row); err != nil || p.Kind == "staged" || !stays(row) {
				continue
			}
			if err := s.note(strings.TrimSuffix(line, "\n"), p.Kind == "quarantine"); err != nil {
				return commit.Counts{}, err
			}
		}
	}
	return s.counts, nil
}
