package archive

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/velum-health/velum/stages/read/input"
	"github.com/velum-health/velum/stages/read/readtest"
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
	readtest.ReplaceByFolder(t, d.file)
	readtest.WantUnread(t, d, path)
}
