package heap

import (
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

// TestFirstCollection: after the first collection the usual percentage holds again.
func TestFirstCollection(t *testing.T) {
	if got := debug.SetGCPercent(starting); got != starting {
		t.Skip("a collection came before")
	}
	runtime.GC()
	for range 1000 {
		got := debug.SetGCPercent(starting)
		debug.SetGCPercent(got)
		if got == 100 {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Error("GOGC stays as it was at the start")
}
