// Package heap delays the first garbage collection of a program until it has started. It imports no package of velum,
// so that Go initializes it before the packages of models, which fill their tables while they are initialized.
package heap

import (
	"os"
	"runtime"
	"runtime/debug"
)

// starting is GOGC until the first collection, which therefore comes at a heap of 36 MB instead of 4 MB. A program keeps
// what it allocates while it starts, so an earlier collection would free nothing; it took a tenth of the time of a run
// with one note.
const starting = 900

func init() {
	if os.Getenv("GOGC") != "" {
		return
	}
	usual := debug.SetGCPercent(starting)
	runtime.AddCleanup(new([16]byte), func(int) {
		if now := debug.SetGCPercent(usual); now != starting {
			debug.SetGCPercent(now) // flow or console have decided since
		}
	}, 0)
}
