package parquet

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/pipeline/durable"
	"github.com/velum-health/velum/stages/read/input"
	"github.com/velum-health/velum/stages/read/readtest"
)

// TestUnread: what the system cannot read is not called damage of the file; a
// place that no file has is.
func TestUnread(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.parquet")
	if err := os.WriteFile(path, readtest.Sample(t), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := New(path, 0, -1, input.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	_, _ = p.disk.Watch(p.file).ReadAt(make([]byte, 1), -1)
	broken := &commit.DamageError{RowGroup: 1}
	if err := p.fence(func() error { return broken }); err != error(broken) || broken.Unread {
		t.Errorf("a place before the file: %v", err)
	}
	p.disk = durable.Witness{}
	replaceByFolder(t, p.file)
	wantUnread(t, p, path)
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
