package input

import (
	"syscall"

	"golang.org/x/sys/unix"
)

func changed(s *syscall.Stat_t) int64 { return s.Ctim.Nano() }

// tick returns the time that a file would get which changes now.
func tick() int64 {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_REALTIME_COARSE, &t) != nil {
		return 0
	}
	return t.Nano()
}
