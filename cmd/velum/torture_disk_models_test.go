package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/velum-health/velum/pipeline/promote"
)

// models is a folder of models, which is not there yet.
const diskModelsFolder = diskVolume + "/velum/models"

// Models promotes models and rolls them back on a disk on which processes die
// and the power goes. After each, the model in use is the last whose promotion
// came to its end, or the one that was under way, and it is whole.
func diskModels(seed uint64, skip func(diskOp) bool) (diskTally, error) {
	var t diskTally
	rng := rand.New(rand.NewPCG(seed, 3))
	d := newMemoryDisk(seed, diskVolume)
	d.Skip = skip
	folder := &promote.Folder{Dir: diskModelsFolder, FS: d}
	var used []string       // models that were in use, one after the other, as processes see it
	may := [][]string{used} // what a power loss may leave: what was told to be done, and what came after
	for turn := range 8 {
		next := diskModelTurn(rng, used, turn)
		d.Start(diskFault{At: rng.IntN(50)})
		t.Jobs++
		err := next.do(folder)
		switch {
		case err == nil:
			may = [][]string{next.used}
		case d.died():
			t.Deaths++
			may = append(may, next.used)
		default:
			return t, fmt.Errorf("seed %d, turn %d: %w", seed, turn, err)
		}
		trace := diskTrace(d.Ops())
		lost := rng.IntN(2) == 0
		if lost {
			t.Losses++
			t.Lost += len(d.Lose())
		}
		d.Start(diskFault{})
		if used, err = diskInUse(folder, may); err != nil {
			return t, fmt.Errorf("seed %d, turn %d: %w%s", seed, turn, err, trace)
		}
		if lost {
			may = [][]string{used}
		}
	}
	return t, nil
}

type diskModelStep struct {
	do   func(m *promote.Folder) error
	used []string // after it
}

// modelTurn draws a promotion, or a rollback where there is something to go
// back to.
func diskModelTurn(rng *rand.Rand, used []string, turn int) diskModelStep {
	if len(used) > 1 && rng.IntN(3) == 0 {
		return diskModelStep{func(m *promote.Folder) error {
			_, err := m.Rollback()
			return err
		}, used[:len(used)-1]}
	}
	model := fmt.Sprintf("model %d %0200d", turn, rng.IntN(1000))
	after := append(used[:len(used):len(used)], model)
	if len(used) > 0 && rng.IntN(3) == 0 {
		model, after = used[len(used)-1], used // once more, as one does after a crash
	}
	return diskModelStep{func(m *promote.Folder) error {
		_, err := m.Promote([]byte(model), time.Unix(int64(turn), 0))
		return err
	}, after}
}

// inUse returns which of the histories the folder has.
func diskInUse(m *promote.Folder, may [][]string) ([]string, error) {
	_, data, err := m.Current()
	if err != nil && !errors.Is(err, promote.ErrNone) {
		return nil, err
	}
	n := 0
	if err == nil {
		history, err := m.History()
		if err != nil {
			return nil, err
		}
		n = len(history)
	}
	for _, used := range may {
		if len(used) == n && (n == 0 || used[n-1] == string(data)) {
			return used, nil
		}
	}
	return nil, fmt.Errorf("%d models were in use, which is none of %d histories", n, len(may))
}
