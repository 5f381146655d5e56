// Package heap decides how much garbage a program may leave while it starts. It imports nothing of ours, so that Go
// initializes it before the packages of models, which fill their tables then.
package heap

import (
	"os"
	"runtime"
	"runtime/debug"
)

// starting is GOGC until the first collection, which comes at 36 MB of heap and not at 4. What a program makes at its
// start stays, so a collection in between finds nothing; it took a tenth of a run of one note.
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
