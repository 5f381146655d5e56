package main

import (
	"slices"
	"strings"
	"testing"
)

// redundant are the syncs that another one makes good when they are left out,
// or whose loss nobody would see, with the reason. Every other sync of a run is
// needed, and TestPlantedBugs wants it missed when it is gone.
var diskRedundant = map[string]string{
	"syncdir out after mkdir out/_turns":                                  "nobody has a turn that is lost",
	"syncdir out.private after mkdir out.private/_turns":                  "the same",
	"syncdir out after remove out/_turns":                                 "the root is synced once more when the lock is gone",
	"syncdir out.private after remove out.private/_turns":                 "the same",
	"syncdir out after rename out/_turns/TURN/away":                       "the root is synced when _runs is made, before anything changes, and when the lock is gone",
	"syncdir out.private/_runs after rename out.private/_turns/TURN/away": "what is temporary may come back",
	"syncdir out after rename out/_runs":                                  "the root is synced once more before the manifest",
	"syncdir out/_turns after mkdir out/_turns/TURN":                      "nobody has a turn that is lost",
	"syncdir out.private/_turns after mkdir out.private/_turns/TURN":      "the same",
	"syncdir out.private after rename out.private/_turns/TURN/away":       "the root is synced once more before the manifest",
	"syncdir out after rename out/report.json":                            "the root is synced once more before the manifest",
	"syncdir out.private after rename out.private/report.json":            "the same",
	"syncdir out after rename out/_SUCCESS":                               "the root is synced once more when _runs is gone",
	"syncdir out.private after rename out.private/_SUCCESS":               "the same",
	"syncdir out after remove out/masked":                                 "the root is synced once more at the end",
	"syncdir out.private after remove out.private/quarantine":             "the same",
	"syncdir out after mkdir out/mixed":                                   "the root is synced once more before the manifest",
	"syncdir out after remove out/mixed":                                  "the root is synced once more at the end",
	"syncdir out.private after mkdir out.private/staged":                  "the root is synced when the folder of the quarantine is made",
	"syncdir out.private after remove out.private/staged":                 "the root is synced once more at the end",
	"syncdir out after lock out/.lock":                                    "a lock whose name is lost with the power has no holder any more",
	"syncdir out.private after lock out.private/.lock":                    "the same",
	"syncdir out.private after rename out.private/_inputs":                "the root is synced once more before the manifest",
	"syncdir above after mkdir out":                                       "the folder is synced again when out.private is made",
}

// folders that are synced more often than need be: to leave out all of a
// folder's syncs must be missed.
var diskEverySync = []string{
	"syncdir out", "syncdir out.private", "syncdir out.private/_runs", "syncdir above",
	"syncdir out/masked", "syncdir out.private/quarantine", "syncdir out/masked/MONTH", "syncdir out.private/quarantine/MONTH",
}

// manySeeds is how many seeds a planted bug has to be found in. Most are found
// in the first three.
const diskManySeeds = 400

// caught returns the seed at which power finds a bug, or -1.
func diskCaught(test func(uint64, func(diskOp) bool) (diskTally, error), bug func(diskOp) bool) int {
	for seed := range uint64(diskManySeeds) {
		if _, err := test(seed, bug); err != nil {
			return int(seed)
		}
	}
	return -1
}

// syncs lists the syncs that a test goes through, by name, without those that
// have nothing to do.
func diskSyncs(t *testing.T, test func(uint64, func(diskOp) bool) (diskTally, error)) []string {
	t.Helper()
	count := map[string]int{}
	for seed := range uint64(400) {
		if _, err := test(seed, func(op diskOp) bool { count[diskStep(op)]++; return false }); err != nil {
			t.Fatal(err)
		}
	}
	var names []string
	for name := range count {
		if strings.HasPrefix(name, "sync ") || strings.Contains(name, " after ") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// TestPlantedBugs leaves one sync out at a time and wants Power to find it, or
// Grow.
func TestPlantedBugs(t *testing.T) {
	t.Parallel()
	names := diskSyncs(t, diskPower)
	for _, name := range names {
		if diskRedundant[name] != "" {
			continue
		}
		bug := func(op diskOp) bool { return diskStep(op) == name }
		seed := diskCaught(diskPower, bug)
		if seed < 0 {
			seed = diskCaught(diskGrow, bug)
		}
		if seed < 0 {
			t.Errorf("nobody misses %q", name)
		} else if seed > 50 {
			t.Logf("%q is missed at seed %d only", name, seed)
		}
	}
	for name := range diskRedundant {
		if !slices.Contains(names, name) {
			t.Errorf("no run does %q", name)
		}
	}
	for _, folder := range diskEverySync {
		bug := func(op diskOp) bool {
			return diskStep(op) == folder || strings.HasPrefix(diskStep(op), folder+" after ")
		}
		if diskCaught(diskPower, bug) < 0 && diskCaught(diskGrow, bug) < 0 {
			t.Errorf("nobody misses any %q", folder)
		}
	}
	t.Logf("%d kinds of sync, %d of them redundant", len(names), len(diskRedundant))
}

// TestPlantedBugsOfModels does the same for the folder of models. A sync that
// comes when only a lock or a temporary file was made has nothing to keep.
func TestPlantedBugsOfModels(t *testing.T) {
	t.Parallel()
	for _, name := range diskSyncs(t, diskModels) {
		if _, after, _ := strings.Cut(name, " after "); strings.HasPrefix(after, "lock ") || strings.HasPrefix(after, "create ") {
			continue
		}
		if diskCaught(diskModels, func(op diskOp) bool { return diskStep(op) == name }) < 0 {
			t.Errorf("nobody misses %q", name)
		}
	}
}
