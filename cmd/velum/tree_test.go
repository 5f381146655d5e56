package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// longestFunction is how many lines a function may have. The median is 11; a
// long one is a flat switch or one loop of numbers, and even those fit.
const longestFunction = 80

// longFunctions lists the functions of the tree, tests left out, that have
// more lines than that.
func longFunctions(tree fs.FS) (found []string) {
	err := eachFile(tree, func(file string, text []byte) error {
		if !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return nil
		}
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, file, text, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if n := set.Position(fn.End()).Line - set.Position(fn.Pos()).Line + 1; n > longestFunction {
				found = append(found, fmt.Sprintf("%s: %s has %d lines", file, fn.Name.Name, n))
			}
		}
		return nil
	})
	if err != nil {
		found = append(found, err.Error())
	}
	return found
}

// mostNames is how many names a package may export for its readers to learn
// (ownNames): what is asked of the two packages that everybody imports.
var mostNames = map[string]int{"pipeline": 45, "pipeline/commit": 38}

func TestExportedNames(t *testing.T) {
	for folder, most := range mostNames {
		if names := ownNames(packageDoc(t, os.DirFS("../.."), folder)); len(names) > most {
			t.Errorf("%s exports %d names, %d are allowed: %s", folder, len(names), most, strings.Join(names, " "))
		}
	}
	planted := "package a\ntype T int\nconst One T = 1\nconst Two = 2\nvar V, w int\nfunc (T) M() {}\nfunc F() T { return 0 }\nfunc g() {}\n"
	got := ownNames(packageDoc(t, fstest.MapFS{"a/a.go": {Data: []byte(planted)}}, "a"))
	if want := []string{"Two", "V", "T", "F"}; !slices.Equal(got, want) {
		t.Errorf("names of a planted package: %q, want %q", got, want)
	}
}

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

func TestFunctionLength(t *testing.T) {
	for _, f := range longFunctions(os.DirFS("../..")) {
		t.Error(f)
	}
	long := "package a\nfunc f() {" + strings.Repeat("\n", longestFunction) + "}\n"
	if found := longFunctions(fstest.MapFS{"a/a.go": {Data: []byte(long)}}); len(found) != 1 {
		t.Errorf("a planted function of %d lines: %q", longestFunction+1, found)
	}
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
