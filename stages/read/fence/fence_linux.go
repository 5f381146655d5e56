package fence

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// confine limits this process for good: memory, no files written, no core
// dump, no new rights, no look into it from outside.
//
// RLIMIT_DATA counts what is mapped to be written, so that it works with the
// Go heap; RLIMIT_AS does not: the runtime reserves address space freely.
func confine(memory int64) error {
	unix.Umask(0o077)
	// When memory runs out on the machine, this process is the one to end.
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0)
	for _, l := range []struct {
		what int
		most uint64
	}{{unix.RLIMIT_DATA, uint64(memory)}, {unix.RLIMIT_FSIZE, 0}, {unix.RLIMIT_CORE, 0}} {
		if err := unix.Setrlimit(l.what, &unix.Rlimit{Cur: l.most, Max: l.most}); err != nil {
			return err
		}
	}
	_ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
	return unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
}

// processTime returns the processor time that a process has taken.
func processTime(pid int) (time.Duration, error) {
	const scheduled = 2 // CPUCLOCK_SCHED of linux/posix-timers.h: user and system time of all threads
	var t unix.Timespec
	err := unix.ClockGettime(int32(^pid<<3|scheduled), &t)
	return time.Duration(t.Nano()), err
}

// thisProgram returns a path of the program that runs, even if its file was
// replaced since it started.
func thisProgram() (string, error) {
	const self = "/proc/self/exe"
	if _, err := os.Stat(self); err == nil {
		return self, nil
	}
	return os.Executable()
}

// widen lets a pipe hold a few batches, so that decoding goes ahead.
func widen(f *os.File) {
	c, err := f.SyscallConn()
	if err != nil {
		return
	}
	_ = c.Control(func(fd uintptr) { _, _ = unix.FcntlInt(fd, unix.F_SETPIPE_SZ, 1<<20) }) // only faster
}
