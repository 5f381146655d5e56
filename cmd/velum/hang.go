package main

import (
	"context"
	"fmt"
	"os"
	"sync/atomic"
	"time"
)

// endGrace is how long a command that was told to end may take. Kubernetes
// kills after 30 s, and systemd after 90 s; what is left of them is for the
// kernel.
const endGrace = 20 * time.Second

// endHard ends the process when ctx was cancelled and the command does not
// come to its end: a stage hangs, or a disk. Nothing has to be tidied up for
// the next start to go on, as after a kill. The command calls ended when it has
// come to its end.
func (a *app) endHard(ctx context.Context) (ended func()) {
	grace := a.grace
	if grace == 0 {
		grace = endGrace
	}
	var over atomic.Bool
	stop := context.AfterFunc(ctx, func() {
		time.Sleep(grace)
		if over.Load() || !a.hung.CompareAndSwap(false, true) {
			return
		}
		err := fmt.Errorf("%w, and ended hard: something hung for %v", context.Cause(ctx), grace)
		printExit(a.errs, err, a.json)
		os.Exit(int(exitCodeOf(err)))
	})
	return func() {
		over.Store(true)
		stop()
	}
}
