//go:build unix && !linux

package main

import (
	"errors"
	"os"
	"runtime/debug"

	"golang.org/x/sys/unix"
)

// harden does what every Unix can; see harden_linux.go.
func harden() *os.File {
	unix.Umask(0o077)
	_ = unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{})
	debug.SetTraceback("single")
	return os.Stderr
}

func hardened() (umask int, core uint64, dumpable bool) {
	umask = unix.Umask(0o077)
	unix.Umask(umask)
	return umask, 0, true
}

func cgroupMemory() size { return 0 }

func totalMemory() size { return 0 }

func freeSpace(string) (size, error) { return 0, errors.New("not known on this system") }
