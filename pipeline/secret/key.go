// Package secret reads the secret key, from which all pseudonyms are derived that must not be reversible without it.
package secret

import (
	"bytes"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
)

// Key is the secret key for keyed ids, opaque folder names and so on. It is never written; only its id is.
type Key struct{ master []byte }

// An Error says why a key file cannot be used. It holds nothing of the key.
type Error struct{ Path, Cause string }

func (e *Error) Error() string { return fmt.Sprintf("key file %s: %s", e.Path, e.Cause) }

// minKey is the least number of bytes of a key: as many as HMAC-SHA-256 uses.
const minKey = 32

// Load reads a key file: 32 bytes or more, raw or as 64 or more
// hexadecimal digits. The file must be its owner's alone (mode 0400 or 0600);
// one that root has given to a group for reading (0440) will do, as systemd and
// Kubernetes hand out secrets. Errors are *Error.
func Load(path string) (*Key, error) {
	if err := Check(path); err != nil {
		return nil, err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, &Error{path, "cannot be read"}
	}
	if text := strings.TrimSpace(string(data)); len(text) >= 2*minKey {
		if raw, err := hex.DecodeString(text); err == nil {
			data = raw
		}
	}
	if len(data) < minKey {
		return nil, &Error{path, fmt.Sprintf("has %d bytes, needs %d; make one with: head -c 32 /dev/urandom > FILE", len(data), minKey)}
	}
	if same(data) {
		return nil, &Error{path, "has one byte over and over; make a random one with: head -c 32 /dev/urandom > FILE"}
	}
	return &Key{data}, nil
}

// Public returns a key that is derived from a public text, for what must be reproducible and need not be secret.
func Public(text string) *Key {
	master := sha256.Sum256([]byte(text))
	return &Key{master[:]}
}

// Check returns what is wrong with a key file without reading it. Errors are *Error.
func Check(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return &Error{path, "cannot be read; velum night makes it, or you do: (umask 077 && head -c 32 /dev/urandom > FILE)"}
	case !keyMode(info):
		return &Error{path, fmt.Sprintf("others may read it (mode %04o); chmod 0400 it", info.Mode().Perm())}
	case info.Size() > 1<<16:
		return &Error{path, "is larger than any key"}
	}
	return nil
}

// same tells whether a key is one byte over and over, as a file of zeros is.
func same(key []byte) bool {
	key = bytes.TrimSpace(key)
	return len(key) == 0 || bytes.Count(key, key[:1]) == len(key)
}

// keyMode tells whether a key file is kept well enough. PostgreSQL has the same
// rule.
func keyMode(info fs.FileInfo) bool {
	s, known := info.Sys().(*syscall.Stat_t)
	others := info.Mode().Perm() & 0o077
	return others == 0 || others == 0o040 && known && s.Uid == 0
}

// Derive returns 32 bytes for one purpose (HKDF-SHA-256). Keys of different purposes reveal nothing about each other.
func (k *Key) Derive(purpose string) []byte {
	out, err := hkdf.Key(sha256.New, k.master, nil, "velum "+purpose, sha256.Size)
	if err != nil {
		panic(err) // only for lengths that are too long
	}
	return out
}

// ID returns the name of the key in manifests, which reveals nothing about it; "" for no key.
func (k *Key) ID() string {
	if k == nil {
		return ""
	}
	return hex.EncodeToString(k.Derive("key id")[:8])
}
