package durable

import (
	"io/fs"
	"os"
	"path/filepath"
)

// NamelessFile creates an unnamed file in the folder of near, or in the nearest existing folder above it. No other
// process can open it, and it vanishes with the process.
func NamelessFile(near string) (*os.File, error) {
	dir := filepath.Dir(filepath.Clean(near))
	for {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			break
		}
		if up := filepath.Dir(dir); up != dir {
			dir = up
			continue
		}
		return nil, &fs.PathError{Op: "create", Path: near, Err: fs.ErrNotExist}
	}
	f, err := os.CreateTemp(dir, ".velum-words-*")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		f.Close() // nothing was written, and nobody gets it
		return nil, err
	}
	return f, nil
}
