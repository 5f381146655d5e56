package guard

import (
	"time"

	"golang.org/x/sys/unix"
)

// threadTime returns the processor time that this thread has taken.
func threadTime() time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t) != nil {
		return 0 // nothing is over a limit then
	}
	return time.Duration(t.Nano())
}
