package parquet

import (
	"os"
	"path/filepath"
	"testing"

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
	readtest.ReplaceByFolder(t, p.file)
	readtest.WantUnread(t, p, path)
}
