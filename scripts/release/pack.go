package main

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"
)

// entry is a file of an archive.
type entry struct {
	name       string // with slashes
	data       []byte
	executable bool
}

// pack makes a tar.gz whose bytes depend on names and contents only: sorted,
// of one time, of nobody.
func pack(root string, at time.Time, files []entry) ([]byte, error) {
	files = slices.Clone(files)
	slices.SortFunc(files, func(a, b entry) int { return cmp.Compare(a.name, b.name) })
	var b bytes.Buffer
	zip, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	t := tar.NewWriter(zip)
	for _, f := range files {
		h := &tar.Header{Name: path.Join(root, f.name), Mode: 0o644, Size: int64(len(f.data)), ModTime: at, Format: tar.FormatUSTAR}
		if f.executable {
			h.Mode = 0o755
		}
		if err := t.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := t.Write(f.data); err != nil {
			return nil, err
		}
	}
	if err := t.Close(); err != nil {
		return nil, err
	}
	if err := zip.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// folder reads the files of a folder, for an archive in which it is called
// name.
func folder(dir, name string) (all []entry, err error) {
	err = filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(file) == ".go" {
			return err
		}
		rel, err := filepath.Rel(dir, file)
		if err != nil {
			return err
		}
		data, err := os.ReadFile(file)
		all = append(all, entry{name: path.Join(name, filepath.ToSlash(rel)), data: data})
		return err
	})
	return all, err
}
