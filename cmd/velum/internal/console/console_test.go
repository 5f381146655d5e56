package console

import (
	"math"
	"runtime/debug"
	"testing"
)

func TestSetMemory(t *testing.T) {
	limit, percent := debug.SetMemoryLimit(-1), debug.SetGCPercent(100)
	defer func() { debug.SetMemoryLimit(limit); debug.SetGCPercent(percent) }()
	(&Console{}).SetMemory(3 << 30)
	if got := debug.SetMemoryLimit(-1); got != 3<<30 {
		t.Errorf("limit %d", got)
	}
	(&Console{}).SteadyMemory()
	if got := debug.SetGCPercent(100); got != gcPercent {
		t.Errorf("GC percent %d", got)
	}
	debug.SetMemoryLimit(math.MaxInt64)
	(&Console{Env: []string{"GOMEMLIMIT=1GiB", "GOGC=50"}}).SetMemory(0) // the runtime has read both already
	if got := debug.SetMemoryLimit(-1); got != math.MaxInt64 {
		t.Errorf("limit %d beside GOMEMLIMIT", got)
	}
	(&Console{Env: []string{"GOGC=50"}}).SteadyMemory()
	if got := debug.SetGCPercent(100); got != 100 {
		t.Errorf("GC percent %d beside GOGC", got)
	}
}
