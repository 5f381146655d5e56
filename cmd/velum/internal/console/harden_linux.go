package console

import (
	"os"
	"runtime/debug"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Harden keeps text of notes out of files: new files are readable by their owner alone (umask 077), core dumps are off,
// and a crash prints one goroutine. Errors are ignored; `velum check machine` shows which settings hold. It returns the
// file to use for standard error.
func Harden() *os.File {
	unix.Umask(0o077)
	_ = unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{})
	_ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
	debug.SetTraceback("single") // a crash shows one goroutine, not all
	return muteCrash()
}

// muteCrash redirects descriptor 2 to /dev/null and returns the real standard error. A panic in a goroutine of a
// library ends the process, and the runtime prints the panic's value to descriptor 2, which may quote a note. The exit
// code 2 is not affected. If GOTRACEBACK is set, the crash is printed.
func muteCrash() *os.File {
	if os.Getenv("GOTRACEBACK") != "" {
		return os.Stderr
	}
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return os.Stderr
	}
	defer null.Close()
	fd, err := unix.FcntlInt(2, unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return os.Stderr
	}
	errs := os.NewFile(uintptr(fd), os.Stderr.Name())
	if err := unix.Dup3(int(null.Fd()), 2, 0); err != nil {
		_ = errs.Close()
		return os.Stderr
	}
	return errs
}

// Hardened returns the settings in effect after Harden: umask, limit of core dumps in bytes, and whether the process
// can be dumped.
func Hardened() (umask int, core uint64, dumpable bool) {
	umask = unix.Umask(0o077)
	unix.Umask(umask)
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_CORE, &limit); err != nil {
		limit.Cur = 1
	}
	d, err := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0)
	return umask, limit.Cur, err != nil || d != 0
}

// CgroupMemory returns the smallest memory limit of the control groups that
// the process is in, 0 if there is none. Go reads the CPU limit itself but not
// this one.
func CgroupMemory() int64 {
	least := int64(0)
	take := func(file string) {
		b, err := os.ReadFile(file)
		if err != nil {
			return
		}
		n, err := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64)
		// version 1 writes "no limit" as a number near the largest
		if err == nil && n > 0 && n < 1<<60 && (least == 0 || n < least) {
			least = n
		}
	}
	take("/sys/fs/cgroup/memory/memory.limit_in_bytes")
	for dir := cgroupDir(); ; dir = dir[:strings.LastIndexByte(dir, '/')] {
		take("/sys/fs/cgroup" + dir + "/memory.max")
		if dir == "" {
			return least
		}
	}
}

// cgroupDir returns the path of the process's group in the version 2 tree,
// as in "/system.slice/velum.service"; "" for the root.
func cgroupDir() string {
	b, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(b)) {
		if dir, ok := strings.CutPrefix(strings.TrimSpace(line), "0::"); ok {
			return strings.TrimSuffix(dir, "/")
		}
	}
	return ""
}

// TotalMemory returns the memory of the machine, 0 if unknown.
func TotalMemory() int64 {
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) != nil {
		return 0
	}
	return int64(info.Totalram) * int64(info.Unit)
}

// FreeSpace returns the space that this user may still fill at path.
func FreeSpace(path string) (int64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(path, &s); err != nil {
		return 0, err
	}
	return int64(s.Bavail) * s.Bsize, nil
}
