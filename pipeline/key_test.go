package pipeline

import (
	"io/fs"
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
