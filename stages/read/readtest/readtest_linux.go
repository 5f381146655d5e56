package readtest

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// putFolder makes the descriptor of a file one of a folder, which the system refuses to read.
func ReplaceByFolder(t *testing.T, file *os.File) {
	t.Helper()
	folder, err := os.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	if err := unix.Dup3(int(folder.Fd()), int(file.Fd()), unix.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
}
