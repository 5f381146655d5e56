package archive

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/stages/read/input"
)

func TestUnreadDump(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.txt")
	if err := os.WriteFile(path, []byte("1|2|3|a\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := NewDump(path, 0, -1, 0, input.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	replaceByFolder(t, d.file)
	wantUnread(t, d, path)
}

// replaceByFolder makes the descriptor of a file one of a folder, which the system refuses to read.
func replaceByFolder(t *testing.T, file *os.File) {
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

// wantUnread wants a source to say that its file could not be read, and not that it is damaged.
func wantUnread(t *testing.T, src pipeline.Source, path string) {
	t.Helper()
	damage, ok := errors.AsType[*commit.DamageError](src.Next(new(pipeline.Batch)))
	if !ok || !damage.Unread || damage.Path != path || !strings.Contains(damage.Cause, "cannot be read") {
		t.Errorf("%v", damage)
	}
}
