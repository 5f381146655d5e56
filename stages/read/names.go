package read

import (
	"crypto/sha256"
	"fmt"
	"path"
	"strings"
	"unicode/utf8"
)

// Names of folders and files are any bytes to the system. In manifests, which
// are JSON, in logs and as folders of the output they are text of the usual
// length: bytes that are no UTF-8 and control characters are written as in
// addresses, %FF, and what gets too long ends in a hash of the whole.

const (
	maxNamePart = 255  // bytes of a part of a path: what file systems take
	maxName     = 2048 // bytes of a path below the archive
)

// plainPath returns a path with slashes as it may be written.
func plainPath(p string) string {
	parts := strings.Split(p, "/")
	for i := range parts {
		parts[i] = plainPart(parts[i])
	}
	if all := strings.Join(parts, "/"); len(all) <= maxName {
		return all
	}
	return path.Join(parts[0], fmt.Sprintf("deep~%x", shortSum(p)))
}

func plainPart(part string) string {
	if plainName(part, maxNamePart) {
		return part
	}
	var b strings.Builder
	for rest := part; len(rest) > 0; {
		r, n := utf8.DecodeRuneInString(rest)
		if r == utf8.RuneError && n == 1 || unseen(r) {
			for _, c := range []byte(rest[:n]) {
				fmt.Fprintf(&b, "%%%02X", c)
			}
		} else {
			b.WriteString(rest[:n])
		}
		rest = rest[n:]
	}
	if b.Len() <= maxNamePart {
		return b.String()
	}
	cut := b.String()[:200]
	for !utf8.ValidString(cut) {
		cut = cut[:len(cut)-1]
	}
	return fmt.Sprintf("%s~%x", cut, shortSum(part))
}

func shortSum(s string) []byte {
	sum := sha256.Sum256([]byte(s))
	return sum[:6]
}
