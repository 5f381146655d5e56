package console

import (
	"context"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
)

// endGrace is how long a command may take to end after a signal. Kubernetes kills after 30 s and systemd after 90 s;
// the rest of that time is for the kernel.
const endGrace = 20 * time.Second

// EndHard ends the process if the command has not returned within the grace period after ctx was cancelled, as when a
// stage or a disk hangs. The next start recovers as after a kill. The command calls ended when it returns.
func (c *Console) EndHard(ctx context.Context) (ended func()) {
	grace := c.Grace
	if grace == 0 {
		grace = endGrace
	}
	var over atomic.Bool
	stop := context.AfterFunc(ctx, func() {
		time.Sleep(grace)
		if over.Load() || !c.hung.CompareAndSwap(false, true) {
			return
		}
		err := fmt.Errorf("%w, and ended hard: something hung for %v", context.Cause(ctx), grace)
		exit.Print(c.Errs, err, c.JSON)
		os.Exit(int(exit.CodeOf(err)))
	})
	return func() {
		over.Store(true)
		stop()
	}
}
