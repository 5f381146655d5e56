package input

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
)

// CheckList returns what is wrong with a list of SHA-256 sums; "" as name means no list.
func CheckList(name string) error {
	_, err := ReadChecksums(name)
	return err
}

// ReadChecksums reads a file in the format of sha256sum: the sum, two characters, and the path relative to the folder
// of the list.
func ReadChecksums(name string) (map[string]string, error) {
	if name == "" {
		return nil, nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, &Error{Path: name, Cause: Cause(err), Remedy: "give the list that sha256sum wrote"}
	}
	defer f.Close() // only read
	sums := map[string]string{}
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimRight(lines.Text(), "\r")
		if line == "" {
			continue
		}
		sum, path, ok := strings.Cut(line, " ")
		raw, err := hex.DecodeString(sum)
		if !ok || err != nil || len(raw) != sha256.Size || len(path) < 2 {
			return nil, &Error{Path: name, Line: n, Cause: "is no line of a SHA-256 list", Remedy: "write it with: sha256sum FILES"}
		}
		path = filepath.FromSlash(path[1:]) // behind the second space or the asterisk
		if !filepath.IsAbs(path) {
			path = filepath.Join(filepath.Dir(name), path)
		}
		if path, err = filepath.Abs(path); err != nil {
			return nil, err
		}
		sums[path] = strings.ToLower(sum)
	}
	if lines.Err() != nil {
		return nil, &Error{Path: name, Cause: "cannot be read to its end", Remedy: "give the list that sha256sum wrote"}
	}
	return sums, nil
}
