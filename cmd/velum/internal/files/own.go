package files

import (
	"errors"
	"os"
	"path/filepath"
	"slices"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/pipeline/durable"
)

// OwnFolder creates the output folder of a verb with mode 0700. It refuses a folder that is not empty and in which own
// recognizes no file name as the verb's.
func OwnFolder(dir, verb string, own func(name string) bool) error {
	entries, _ := os.ReadDir(dir) // MkdirAll says what is wrong with it
	mine := func(e os.DirEntry) bool { return own(e.Name()) }
	for _, e := range entries {
		if e.Name() != "lost+found" && !slices.ContainsFunc(entries, mine) {
			return exit.Misconfiguredf("name another folder", "%s is in the way: the folder is not empty, and %s did not make it",
				filepath.Join(dir, e.Name()), verb)
		}
	}
	return errors.Join(os.MkdirAll(dir, 0o700), os.Chmod(dir, 0o700))
}

// LockName is the file by which Held keeps a folder; a kill leaves it.
const LockName = "_LOCK"

// Held creates the output folder of a verb as OwnFolder does, and calls do while it holds the folder: a second call of the verb on
// the same folder is an error.
func Held(dir, verb string, own func(name string) bool, do func() error) error {
	if err := OwnFolder(dir, verb, own); err != nil {
		return err
	}
	lock, err := durable.OS.Lock(filepath.Join(dir, LockName), durable.NewHolder(verb))
	if err != nil {
		return err
	}
	return errors.Join(do(), lock.Close())
}
