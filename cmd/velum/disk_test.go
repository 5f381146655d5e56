package main

import (
	"bytes"
	"fmt"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
)

// TestRealDisk masks notes with the real stages onto a disk in memory that
// fails, or loses power, at an operation: the exit code is right, and the next
// run makes the trees of an undisturbed one. What the units and the commit
// write is all done by then; package disk has the same for runs that cost
// nothing, at every operation and in every way.
func TestRealDisk(t *testing.T) {
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in"), filepath.Join(dir, "out")
	for i := range 3 {
		canaryArchive(t, filepath.Join(in, fmt.Sprintf("month=%d", i), "a.parquet"), uint64(i), 20, false)
	}
	mask := func(d *memoryDisk, f diskFault) (exit.Code, string) {
		d.Start(f)
		var errs bytes.Buffer
		a := newApp(&errs, &errs, nil)
		a.disk = d
		// The audit log stands elsewhere: it is written around the run.
		code := a.run([]string{"run", "-q", "--in", in, "--out", out, "--audit-log", filepath.Join(dir, "audit.jsonl"), "--units", "1"})
		return code, errs.String()
	}
	whole := newMemoryDisk(1, dir)
	if code, says := mask(whole, diskFault{}); code != exit.Done && code != exit.Quarantined {
		t.Fatalf("exit code %d: %s", code, says)
	}
	want, ops := whole.Files(dir), len(whole.Ops())
	faults, runs := []struct {
		fault diskFault
		code  exit.Code
	}{
		{diskFault{Err: syscall.ENOSPC, Lasting: true}, exit.DiskFull},
		{diskFault{Err: syscall.EIO}, exit.Failed},
		{diskFault{Err: syscall.EROFS, Lasting: true}, exit.Failed},
		{}, // it dies, and the power goes
	}, 0
	every := turns(1, 41) // operations from one that fails to the next
	for at := 1; at <= ops; at += every {
		for k, tt := range faults {
			if every > 1 && k != (at/every)%len(faults) {
				continue
			}
			d, f := newMemoryDisk(uint64(at), dir), tt.fault
			f.At = at
			code, says := mask(d, f)
			sound := code == exit.Done || code == exit.Quarantined
			switch {
			case f.Err == nil, code == tt.code: // nobody sees the exit code of what died
			case sound && !f.Lasting: // it was not hurt
			default:
				t.Errorf("operation %d of %d fails with %v: exit code %d, want %d: %s", at, ops, f.Err, code, tt.code, says)
			}
			if f.Err == nil {
				d.Lose()
			}
			if code, says := mask(d, diskFault{}); code != exit.Done && code != exit.Quarantined && code != exit.Nothing {
				t.Fatalf("operation %d fails with %v: resumed with exit code %d: %s", at, f.Err, code, says)
			}
			if got := d.Files(dir); !sameFiles(got, want) {
				t.Fatalf("operation %d fails with %v: resumed, the trees are others", at, f.Err)
			}
			runs++
		}
	}
	t.Logf("%d runs of %d operations", runs, ops)
}

func sameFiles(a, b map[string]string) bool {
	if len(a) != len(b) {
		return false
	}
	for name, data := range a {
		if other, ok := b[name]; !ok || other != data {
			return false
		}
	}
	return true
}
