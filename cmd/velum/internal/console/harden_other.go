//go:build unix && !linux

package console

import (
	"errors"
	"os"
	"runtime/debug"

	"golang.org/x/sys/unix"
)

// Harden sets the umask, turns core dumps off and shortens crash reports; see harden_linux.go for what Linux adds.
func Harden() *os.File {
	unix.Umask(0o077)
	_ = unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{})
	debug.SetTraceback("single")
	return os.Stderr
}

func Hardened() (umask int, core uint64, dumpable bool) {
	umask = unix.Umask(0o077)
	unix.Umask(umask)
	return umask, 0, true
}

func CgroupMemory() int64 { return 0 }

func TotalMemory() int64 { return 0 }

func FreeSpace(string) (int64, error) { return 0, errors.New("not known on this system") }
