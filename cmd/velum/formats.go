package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/velum-health/velum/stages/read"
	"github.com/velum-health/velum/stages/write"
)

// extensions of the files of each format, for telling formats apart.
var extensions = map[string]string{
	".ann": "brat", ".xml": "i2b2", ".conll": "conll", ".jsonl": "jsonl", ".csv": "csv", ".parquet": "parquet",
}

// formatOf returns the format of name, or, when name is empty, the one that
// the files at path have.
func formatOf(flag, name, path string) (string, error) {
	if name != "" {
		if slices.Contains(read.Formats(), name) {
			return name, nil
		}
		remedy := didYouMean(name, read.Formats())
		if remedy == "" {
			remedy = "known: " + strings.Join(read.Formats(), ", ")
		}
		return "", exitf(exitConfig, remedy, "--%s: unknown format %q", flag, name)
	}
	ext := filepath.Ext(strings.TrimSuffix(path, ".gz"))
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		ext = firstExt(path)
	}
	if format := extensions[strings.ToLower(ext)]; format != "" {
		return format, nil
	}
	return "", exitf(exitConfig, "name one with --"+flag+" "+strings.Join(read.Formats(), "|"), "%s: its format cannot be told from its name", path)
}

// firstExt finds the first file below dir that has the extension of a format.
func firstExt(dir string) (found string) {
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		ext := strings.ToLower(filepath.Ext(path))
		if err == nil && !d.IsDir() && extensions[ext] != "" {
			found = ext
			return fs.SkipAll
		}
		return nil
	})
	return found
}

// openNotes opens labelled notes of any format. A wrong path or a broken file
// is the caller's to correct: exit code 10.
func openNotes(flag, format, path string, o read.TextOptions) (read.Text, error) {
	format, err := formatOf(flag, format, path)
	if err != nil {
		return nil, err
	}
	src, err := read.Open(format, path, o)
	if err != nil {
		return nil, exit(exitConfig, err, "")
	}
	return src, nil
}

// createNotes opens the output of a verb that writes labelled notes, and tells
// its format.
func createNotes(flag, format, path string, o write.TextOptions) (write.Text, string, error) {
	format, err := formatOf(flag, format, path)
	if err != nil {
		return nil, "", err
	}
	dst, err := write.Create(format, path, o)
	return dst, format, err
}
