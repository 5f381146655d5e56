package disk

import (
	"testing"
)

// TestPower is the short form of `torture -only power`.
func TestPower(t *testing.T) {
	t.Parallel()
	var all Tally
	for seed := range uint64(100) {
		tally, err := Power(seed, nil)
		if err != nil {
			t.Error(err)
		}
		all.Add(tally)
	}
	t.Log(all)
}

// TestGrow is the short form of `torture -only grow`.
func TestGrow(t *testing.T) {
	t.Parallel()
	var all Tally
	for seed := range uint64(100) {
		tally, err := Grow(seed, nil)
		if err != nil {
			t.Fatal(err)
		}
		all.Add(tally)
	}
	t.Log(all)
}

// TestShare is the same for small files, which share units.
func TestShare(t *testing.T) {
	t.Parallel()
	var all Tally
	for seed := range uint64(40) {
		tally, err := Share(seed, nil)
		if err != nil {
			t.Fatal(err)
		}
		all.Add(tally)
	}
	t.Log(all)
}

// TestNth is the short form of `torture -only nth`.
func TestNth(t *testing.T) {
	t.Parallel()
	tally, err := Nth(Job{Units: 3, AtOnce: 1})
	if err != nil {
		t.Error(err)
	}
	t.Log(tally)
}

// TestFailpoints is the short form of `torture -only pairs`: every step of the
// commit once.
func TestFailpoints(t *testing.T) {
	t.Parallel()
	names, _ := Steps(Job{Units: 2, AtOnce: 1})
	if len(names) < 40 {
		t.Errorf("only %d steps: %q", len(names), names)
	}
	tally, err := Single(Job{Units: 2, AtOnce: 1})
	if err != nil {
		t.Error(err)
	}
	t.Logf("%d kinds of step; %v", len(names), tally)
}

// TestFull is the short form of `torture -only full`, on a disk of ours.
func TestFull(t *testing.T) {
	t.Parallel()
	for i := range 20 {
		if _, err := Full(Job{Units: 3, AtOnce: 2}, float64(i)/20); err != nil {
			t.Errorf("size %d: %v", i, err)
		}
	}
}

// TestModels is the short form of `torture -only models`.
func TestModels(t *testing.T) {
	t.Parallel()
	var all Tally
	for seed := range uint64(300) {
		tally, err := Models(seed, nil)
		if err != nil {
			t.Error(err)
		}
		all.Add(tally)
	}
	t.Log(all)
}
