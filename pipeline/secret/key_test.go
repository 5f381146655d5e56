package secret

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// keyInfo is the fs.FileInfo of a key file.
type keyInfo struct {
	mode fs.FileMode
	uid  uint32
}

func (keyInfo) Name() string        { return "key" }
func (keyInfo) Size() int64         { return 32 }
func (k keyInfo) Mode() fs.FileMode { return k.mode }
func (keyInfo) ModTime() time.Time  { return time.Time{} }
func (keyInfo) IsDir() bool         { return false }
func (k keyInfo) Sys() any          { return &syscall.Stat_t{Uid: k.uid} }

// TestKeyMode: a key is its owner's alone, or root's and lent to a group.
func TestKeyMode(t *testing.T) {
	for _, c := range []struct {
		mode fs.FileMode
		uid  uint32
		want bool
	}{
		{0o400, 990, true}, {0o600, 990, true}, {0o400, 0, true},
		{0o440, 0, true},    // LoadCredential of systemd, secrets of Kubernetes
		{0o640, 0, true},    // root may change it
		{0o440, 990, false}, // who runs velum has let others in
		{0o460, 0, false}, {0o444, 0, false}, {0o404, 0, false}, {0o644, 990, false}, {0o450, 0, false},
	} {
		if got := keyMode(keyInfo{c.mode, c.uid}); got != c.want {
			t.Errorf("mode %04o of user %d: %t", c.mode, c.uid, got)
		}
	}
}

func TestLoadKey(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string, mode fs.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	raw := strings.Repeat("kq", 16)
	hexed := strings.Repeat("6b71", 16) + "\n"
	a, err := Load(write("raw", raw, 0o600))
	if err != nil {
		t.Fatal(err)
	}
	b, err := Load(write("hex", hexed, 0o400))
	if err != nil {
		t.Fatal(err)
	}
	if a.ID() != b.ID() || a.ID() == "" || (*Key)(nil).ID() != "" {
		t.Errorf("ids %q and %q", a.ID(), b.ID())
	}
	if bytes.Equal(a.Derive("note id"), a.Derive("folder")) || !bytes.Equal(a.Derive("x"), b.Derive("x")) {
		t.Error("derived keys")
	}
	for name, path := range map[string]string{
		"missing": filepath.Join(dir, "none"), "open to all": write("open", raw, 0o644), "short": write("short", "secret", 0o600),
		"zeros": write("zeros", strings.Repeat("\x00", 32), 0o600), "one letter": write("letter", strings.Repeat("s", 64), 0o600), "one digit": write("digit", strings.Repeat("0", 64), 0o600),
	} {
		_, err := Load(path)
		if _, ok := errors.AsType[*Error](err); !ok {
			t.Errorf("%s: %v", name, err)
		} else if strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: the error holds the key", name)
		}
	}
}
