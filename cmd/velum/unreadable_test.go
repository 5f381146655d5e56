package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
)

// velumCommand is velum as a process of its own: the binary of the tests under
// another name, see TestMain.
func velumCommand(exe string, args ...string) *exec.Cmd {
	return &exec.Cmd{Path: exe, Args: append([]string{"velum"}, args...), Env: append(os.Environ(), "VELUM_CONFIG=")}
}

// TestUnreadable: a folder, a file and an output that may not be entered. Root
// may enter all, so that the process runs as nobody when the tests run as root.
func TestUnreadable(t *testing.T) {
	dir, err := os.MkdirTemp("", "velum-unreadable") // t.TempDir is closed to others
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	exe := filepath.Join(dir, "velum")
	data, err := os.ReadFile(self)
	if err == nil {
		err = os.WriteFile(exe, data, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{"in", "in/shut", "closed"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := parquetFiles["good"](filepath.Join(dir, "in/shut/a.parquet")); err != nil {
		t.Fatal(err)
	}
	if err := parquetFiles["good"](filepath.Join(dir, "b.parquet")); err != nil {
		t.Fatal(err)
	}
	for name, mode := range map[string]os.FileMode{".": 0o777, "in/shut": 0, "b.parquet": 0, "closed": 0} {
		if err := os.Chmod(filepath.Join(dir, name), mode); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct{ in, out, want string }{
		{"in", "out", "in/shut: may not be read; check its permissions"},
		{"b.parquet", "out", "b.parquet: may not be read; check its permissions"},
		{"closed/x.parquet", "out", "closed/x.parquet: may not be read; check the path and its permissions"},
	} {
		c := velumCommand(exe, "run", "--in", tt.in, "--out", tt.out)
		c.Dir = dir
		if os.Getuid() == 0 {
			c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		}
		text, err := c.CombinedOutput()
		var ended *exec.ExitError
		if !errors.As(err, &ended) || ended.ExitCode() != int(exit.Config) || strings.TrimSpace(string(text)) != "velum: "+tt.want {
			t.Errorf("%s: %v\n%s", tt.in, err, text)
		}
		if _, err := os.Stat(filepath.Join(dir, "out")); err == nil {
			t.Errorf("%s: an output was begun", tt.in)
		}
	}
}
