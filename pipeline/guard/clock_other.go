//go:build !linux

package guard

import (
	"syscall"
	"time"
)

// threadTime returns the processor time that this process has taken: there is
// no common way to ask for that of a thread. It counts more, and stands still
// in a stall as well.
func threadTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
