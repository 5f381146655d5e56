//go:build unix && !linux

package fence

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// confine does what every Unix can; see fence_linux.go.
func confine(memory int64) error {
	unix.Umask(0o077)
	for _, l := range []struct {
		what int
		most uint64
	}{{unix.RLIMIT_DATA, uint64(memory)}, {unix.RLIMIT_FSIZE, 0}, {unix.RLIMIT_CORE, 0}} {
		if err := unix.Setrlimit(l.what, &unix.Rlimit{Cur: l.most, Max: l.most}); err != nil {
			return err
		}
	}
	return nil
}

func processTime(int) (time.Duration, error) { return 0, errors.ErrUnsupported }

func thisProgram() (string, error) { return os.Executable() }

func widen(*os.File) {}
