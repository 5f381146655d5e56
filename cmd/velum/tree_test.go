package main

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// citedFile is a page that a comment or a text sends its reader to; a page
// beside the repository is none that the reader has.
var citedFile = regexp.MustCompile(`\b[A-Z][A-Z_]+\.md\b|\b[A-Z]{4,} §`)

// sources are the short names of the works that ARCHITECTURE.md lists.
var sources = []string{"BOOT §", "NGRID §", "VIGI §", "ATN §"}

// missingFiles lists what Go files and the texts for contributors cite and the
// tree does not hold.
func missingFiles(tree fs.FS) (found []string) {
	err := eachFile(tree, func(file string, text []byte) error {
		if !strings.HasSuffix(file, ".go") && !slices.Contains([]string{"README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"}, file) {
			return nil
		}
		for _, cited := range citedFile.FindAllString(string(text), -1) {
			if slices.Contains(sources, cited) || path.Base(file) == "tree_test.go" {
				continue
			}
			if _, err := fs.Stat(tree, cited); err != nil {
				found = append(found, file+" cites "+cited)
			}
		}
		return nil
	})
	if err != nil {
		found = append(found, err.Error())
	}
	return found
}

// eachFile calls do with every file of the tree but hidden ones, test data and
// what was built.
func eachFile(tree fs.FS, do func(file string, text []byte) error) error {
	return fs.WalkDir(tree, ".", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := d.Name(); file != "." && (strings.HasPrefix(name, ".") || d.IsDir() && slices.Contains([]string{"testdata", "bin", "out"}, name)) {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if d.IsDir() {
			return nil
		}
		if ext := path.Ext(file); ext != ".go" && ext != ".md" {
			return nil
		}
		text, err := fs.ReadFile(tree, file)
		if err != nil {
			return err
		}
		return do(file, text)
	})
}

func TestCitedFiles(t *testing.T) {
	for _, f := range missingFiles(os.DirFS("../..")) {
		t.Error(f)
	}
	planted := fstest.MapFS{"a/a.go": {Data: []byte("// Package a is DESIGN §2, see NOWHERE.md and README.md (BOOT §3).\npackage a\n")}, "README.md": {}}
	if found := missingFiles(planted); len(found) != 2 {
		t.Errorf("planted: %q", found)
	}
}
