package main

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"syscall"

	"github.com/velum-health/velum/pipeline/commit"
)

// Grow gives months to an output that grows, one or some at a time: new ones,
// ones that it has, ones that changed. Processes die, the power goes, and a
// run that died may never be started again: another one comes in its place.
// What a run committed must stay, a month is there whole in one version or not
// at all, and whenever a run ends well the trees are those of a single run over
// all that is there. skip plants a bug: see Disk.Skip.
func diskGrow(seed uint64, skip func(diskOp) bool) (diskTally, error) {
	g := &diskGrowing{rng: rand.New(rand.NewPCG(seed, 3)), committed: map[int]int{}, perhaps: map[diskMonth]bool{}, parts: map[string]string{}}
	g.w = &diskWorker{disk: newMemoryDisk(seed, diskVolume)}
	g.w.disk.Skip = skip
	for range 3 + g.rng.IntN(4) {
		j := g.next()
		if err := g.job(j); err != nil {
			return g.diskTally, fmt.Errorf("seed %d, %+v, committed %v, perhaps %v: %w", seed, j, g.committed, g.perhaps, err)
		}
	}
	return g.diskTally, nil
}

type diskGrowing struct {
	diskTally
	rng       *rand.Rand
	w         *diskWorker
	committed map[int]int        // versions of months, from 1
	perhaps   map[diskMonth]bool // what runs were given that died
	parts     map[string]string  // all that may be there
}

// next draws the months of the next run.
func (g *diskGrowing) next() diskJob {
	j := diskJob{AtOnce: 1 + g.rng.IntN(2), Months: []diskMonth{}}
	given := map[int]bool{}
	for range 1 + g.rng.IntN(3) {
		given[g.rng.IntN(6)] = true
	}
	for _, number := range slices.Sorted(maps.Keys(given)) {
		version := max(g.committed[number], 1)
		for m := range g.perhaps {
			if m.Number == number {
				version = max(version, m.Version)
			}
		}
		if g.rng.IntN(4) == 0 {
			version++
		}
		j.Months = append(j.Months, diskMonth{Number: number, Version: version})
	}
	return j
}

// job runs a job until it ends well, or is given up.
func (g *diskGrowing) job(j diskJob) error {
	want, ops, err := diskUndisturbed(j)
	if err != nil {
		return err
	}
	diskAddParts(g.parts, want)
	g.Jobs++
	for life := 0; ; life++ {
		f := diskFault{At: 1 + g.rng.IntN(ops*2)}
		switch {
		case life >= 4:
			f = diskFault{}
		case g.rng.IntN(6) == 0:
			f.Err, f.Lasting = []error{syscall.EIO, syscall.ENOSPC, syscall.EROFS}[g.rng.IntN(3)], g.rng.IntN(2) == 0
		}
		g.w.disk.Start(f)
		err := g.w.run(j)
		died := g.w.disk.died()
		if err == nil && !died {
			return g.over(j)
		}
		for _, m := range j.Months {
			g.perhaps[m] = true
		}
		switch {
		case died:
			g.Deaths++
		case f.Err == nil:
			return err
		default:
			g.Errors++
		}
		if g.rng.IntN(3) > 0 {
			if err := g.lose(); err != nil {
				return err
			}
		}
		if g.rng.IntN(3) == 0 {
			return nil // nobody starts it again
		}
	}
}

func diskAddParts(all, files map[string]string) {
	for name, data := range files {
		if name != "out.private/_inputs" {
			all[name] = data
		}
	}
}

// lose takes the power away and checks what is left.
func (g *diskGrowing) lose() error {
	ops := g.w.disk.Ops()
	g.Losses++
	lost := g.w.disk.Lose()
	g.Lost += len(lost)
	if bad := diskUnsound(g.w.disk, g.parts, ""); bad != "" {
		return fmt.Errorf("after a power loss at%s\nof which is lost:%s\n%s", diskTrace(ops), diskTrace(lost), bad)
	}
	if _, err := g.versions(); err != nil {
		return fmt.Errorf("after a power loss at%s\nof which is lost:%s\n%w", diskTrace(ops), diskTrace(lost), err)
	}
	return nil
}

// versions returns the months that the manifest lists. Each is whole, is there
// if it was committed, and has a version that it can have.
func (g *diskGrowing) versions() (map[int]int, error) {
	files := diskOutputs(g.w.disk)
	if _, there := files["out/manifest.json"]; !there && len(g.committed) == 0 {
		return nil, nil
	}
	// The private manifest names the inputs. One that is ahead of the public
	// one is of a commit that the next start ends.
	m, err := commit.ParseManifest([]byte(files["out.private/manifest.json"]))
	if err != nil {
		return nil, err
	}
	units := map[string]int{}
	for _, u := range m.Units {
		units[u.SHA256]++
	}
	found := map[int]int{}
	for number := range 6 {
		for version := range 40 {
			month := diskMonth{Number: number, Version: version + 1}
			all := month.units()
			switch units[hex.EncodeToString(all[0].SHA256[:])] {
			case 0:
			case len(all):
				if found[number] != 0 {
					return nil, fmt.Errorf("month %d is there twice, as %d and %d", number, found[number], version+1)
				}
				found[number] = version + 1
			default:
				return nil, fmt.Errorf("%+v is there in part", month)
			}
		}
		if was := g.committed[number]; found[number] != was && !g.perhaps[diskMonth{Number: number, Version: found[number]}] {
			return nil, fmt.Errorf("month %d is there as %d; %d was committed", number, found[number], was)
		}
	}
	return found, nil
}

// over compares the trees of a run that ended well with those of one run over
// all months: now, and when the power goes after it.
func (g *diskGrowing) over(j diskJob) error {
	for _, m := range j.Months {
		g.committed[m.Number] = m.Version
		maps.DeleteFunc(g.perhaps, func(p diskMonth, _ bool) bool { return p.Number == m.Number })
	}
	found, err := g.versions()
	if err != nil {
		return err
	}
	whole := diskJob{AtOnce: 1, Months: []diskMonth{}}
	for number, version := range found {
		whole.Months = append(whole.Months, diskMonth{Number: number, Version: version})
	}
	slices.SortFunc(whole.Months, func(a, b diskMonth) int { return cmp.Compare(a.Number, b.Number) })
	want, _, err := diskUndisturbed(whole)
	if err != nil {
		return err
	}
	diskAddParts(g.parts, want)
	if bad := diskDiffers(diskOutputs(g.w.disk), want); bad != "" {
		return fmt.Errorf("the trees are not those of one run over %v: %s", found, bad)
	}
	clear(g.perhaps)
	g.committed = found
	if g.rng.IntN(3) == 0 {
		return nil
	}
	if err := g.lose(); err != nil {
		return err
	}
	if bad := diskDiffers(diskOutputs(g.w.disk), want); bad != "" {
		return fmt.Errorf("a run that had ended well lost something with the power: %s", bad)
	}
	return nil
}
