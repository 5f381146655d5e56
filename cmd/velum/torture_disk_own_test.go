package main

import (
	"fmt"
	"testing"
)

// histories tries many histories on a disk in memory, each drawn from a seed: processes die, the power goes, operations
// fail, and nothing is lost that was synced, and nothing is there by half.
func histories(t *testing.T, many, few int, do func(uint64, func(diskOp) bool) (diskTally, error)) {
	t.Parallel()
	var all diskTally
	for seed := range uint64(turns(many, few)) {
		tally, err := do(seed, nil)
		if err != nil {
			t.Fatal(err)
		}
		all.Add(tally)
	}
	t.Log(all)
}

// TestPower: runs of commit.RunUnits, each changing what the one before left.
func TestPower(t *testing.T) { histories(t, 10_000, 100, diskPower) }

// TestGrow: months come to an output, and what was committed stays.
func TestGrow(t *testing.T) { histories(t, 3000, 100, diskGrow) }

// TestShare is the same for small files, which share units.
func TestShare(t *testing.T) { histories(t, 3000, 40, diskShare) }

// TestShards: plans, their shards and finishers.
func TestShards(t *testing.T) { histories(t, 10_000, 200, diskShards) }

// TestModels: models are promoted and rolled back.
func TestModels(t *testing.T) { histories(t, 10_000, 300, diskModels) }

// TestNth: every operation of a run fails in turn, with three errors, once and from then on.
func TestNth(t *testing.T) {
	t.Parallel()
	tally, err := diskNth(diskJob{Units: turns(10, 3), AtOnce: 1})
	if err != nil {
		t.Error(err)
	}
	t.Log(tally)
}

// TestFailpoints: a run dies at every step of the commit, and in the long form its resumption at every step, too.
func TestFailpoints(t *testing.T) {
	t.Parallel()
	j, do := diskJob{Units: 2, AtOnce: 1}, diskSingle
	if *longForm {
		do = diskPairs
	}
	names, _ := diskSteps(j)
	if len(names) < 40 {
		t.Errorf("only %d steps: %q", len(names), names)
	}
	tally, err := do(j)
	if err != nil {
		t.Error(err)
	}
	t.Logf("%d kinds of step; %v", len(names), tally)
}

// TestFull: a disk in memory that is too small.
func TestFull(t *testing.T) {
	t.Parallel()
	for i := range 20 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			if _, err := diskFull(diskJob{Units: 3, AtOnce: 2}, float64(i)/20); err != nil {
				t.Error(err)
			}
		})
	}
}
