package main

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// glossaryName is a name that the glossary gives for a word.
var glossaryName = regexp.MustCompile(`\b([a-z]+)\.([A-Z][A-Za-z]+)\b`)

// folders of the packages that the glossary names.
var glossaryFolders = map[string]string{
	"pipeline": "pipeline", "commit": "pipeline/commit", "secret": "pipeline/secret", "tally": "pipeline/tally", "tagger": "models/tag/tagger",
	"score": "stages/score", "rules": "models/tag/rules", "flow": "cmd/velum/internal/flow", "report": "cmd/velum/internal/report",
}

// TestGlossary: every name in the glossary of package pipeline is one that its
// package exports, and no word stands there twice.
func TestGlossary(t *testing.T) {
	text, err := os.ReadFile("../../pipeline/doc.go")
	if err != nil {
		t.Fatal(err)
	}
	_, glossary, ok := strings.Cut(string(text), "// Words: one word a thing")
	if !ok {
		t.Fatal("pipeline/doc.go has no glossary")
	}
	words := map[string]bool{}
	for line := range strings.Lines(glossary) {
		entry, ok := strings.CutPrefix(line, "//\t")
		if !ok {
			continue
		}
		word, _, _ := strings.Cut(entry, "  ")
		if words[word] {
			t.Errorf("%q stands there twice", word)
		}
		words[word] = true
	}
	if len(words) < 25 {
		t.Errorf("only %d words", len(words))
	}
	exported := map[string]map[string]bool{}
	for _, name := range glossaryName.FindAllStringSubmatch(glossary, -1) {
		folder := glossaryFolders[name[1]]
		if folder == "" {
			t.Errorf("%s: no package of the glossary", name[0])
			continue
		}
		if exported[folder] == nil {
			exported[folder] = exportedNames(t, folder)
		}
		if !exported[folder][name[2]] {
			t.Errorf("%s: no such name in %s", name[0], folder)
		}
	}
}

// exportedNames are the types, constants, variables and functions of a package.
func exportedNames(t *testing.T, folder string) map[string]bool {
	p := packageDoc(t, os.DirFS("../.."), folder)
	names := map[string]bool{}
	for _, n := range ownNames(p) {
		names[n] = true
	}
	for _, ty := range p.Types {
		for _, n := range slices.Concat(valueNames(ty.Consts), valueNames(ty.Vars)) {
			names[n] = true
		}
	}
	return names
}

// ownNames are the exported names that a reader of a package has to learn one
// by one: types, functions, and the constants and variables that belong to no
// type of the package. The values of an enumeration come with their type, and
// so do methods.
func ownNames(p *doc.Package) []string {
	names := slices.Concat(valueNames(p.Consts), valueNames(p.Vars), funcNames(p.Funcs))
	for _, ty := range p.Types {
		names = append(append(names, ty.Name), funcNames(ty.Funcs)...)
	}
	return names
}

func valueNames(all []*doc.Value) (names []string) {
	for _, v := range all {
		for _, n := range v.Names {
			if token.IsExported(n) {
				names = append(names, n)
			}
		}
	}
	return names
}

func funcNames(all []*doc.Func) (names []string) {
	for _, f := range all {
		names = append(names, f.Name)
	}
	return names
}

// packageDoc reads what a package exports, tests left out.
func packageDoc(t *testing.T, tree fs.FS, folder string) *doc.Package {
	t.Helper()
	set := token.NewFileSet()
	files, err := fs.Glob(tree, folder+"/*.go")
	if err != nil {
		t.Fatal(err)
	}
	var parsed []*ast.File
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := fs.ReadFile(tree, file)
		if err != nil {
			t.Fatal(err)
		}
		f, err := parser.ParseFile(set, path.Base(file), text, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		parsed = append(parsed, f)
	}
	p, err := doc.NewFromFiles(set, parsed, folder)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
