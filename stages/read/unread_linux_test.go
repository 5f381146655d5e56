package read

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
)

// What the system cannot read is not called damage of the file, here and
// across the fence; a place that no file has is.
func TestUnread(t *testing.T) {
	dir := t.TempDir()
	path, dump := filepath.Join(dir, "x.parquet"), filepath.Join(dir, "x.txt")
	if err := errors.Join(os.WriteFile(path, sampleFile(t), 0o600), os.WriteFile(dump, []byte("1|2|3|a\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	p, err := NewParquet(path, 0, -1, ParquetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	d, err := NewDump(dump, 0, -1, 0, ParquetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	folder, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()

	_, _ = p.disk.Watch(p.file).ReadAt(make([]byte, 1), -1)
	broken := &commit.DamageError{RowGroup: 1}
	if err := p.fence(func() error { return broken }); err != error(broken) || broken.Unread {
		t.Errorf("a place before the file: %v", err)
	}
	p.disk = durable.Witness{}
	for name, next := range map[string]func() error{
		path: func() error { return next(t, folder, p.file, p) },
		dump: func() error { return next(t, folder, d.file, d) },
	} {
		err := next()
		damage, ok := errors.AsType[*commit.DamageError](err)
		if !ok || !damage.Unread || damage.Path != name || !strings.Contains(damage.Cause, "cannot be read") {
			t.Errorf("%s: %v", filepath.Base(name), err)
			continue
		}
		if far, ok := errors.AsType[*commit.DamageError](failureOf(err).error(name)); !ok || *far != *damage {
			t.Errorf("%s: across the fence: %v", filepath.Base(name), far)
		}
	}
}

// next reads on when the descriptor of the file has become one of a folder,
// which the system refuses to read.
func next(t *testing.T, folder, file *os.File, src pipeline.Source) error {
	t.Helper()
	if err := unix.Dup3(int(folder.Fd()), int(file.Fd()), unix.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	return src.Next(new(pipeline.Batch))
}
