package heap

import (
	"runtime"
	"runtime/metrics"
	"testing"
)

// TestFirstCollection: after the first collection the usual percentage holds again.
func TestFirstCollection(t *testing.T) {
	percent := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	if metrics.Read(percent); percent[0].Value.Uint64() != starting {
		t.Skip("a collection came before, or GOGC is set")
	}
	runtime.GC()
	for percent[0].Value.Uint64() != 100 { // until the time of all tests is over, if it stays as it was at the start
		runtime.Gosched()
		metrics.Read(percent)
	}
}
