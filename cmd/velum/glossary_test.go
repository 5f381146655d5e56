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
	"strings"
	"testing"
)

// glossaryName is a name that the glossary gives for a word.
var glossaryName = regexp.MustCompile(`\b([a-z]+)\.([A-Z][A-Za-z]+)\b`)

// folders of the packages that the glossary names.
var glossaryFolders = map[string]string{
	"pipeline": "pipeline", "commit": "pipeline/commit", "tally": "pipeline/tally", "tagger": "models/tagger",
	"score": "stages/score", "flow": "cmd/velum/internal/flow", "report": "cmd/velum/internal/report",
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
	t.Helper()
	set := token.NewFileSet()
	tree := os.DirFS("../..")
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
	names := map[string]bool{}
	values := func(all []*doc.Value) {
		for _, v := range all {
			for _, n := range v.Names {
				names[n] = true
			}
		}
	}
	values(p.Consts)
	values(p.Vars)
	for _, f := range p.Funcs {
		names[f.Name] = true
	}
	for _, ty := range p.Types {
		names[ty.Name] = true
		values(ty.Consts)
		values(ty.Vars)
		for _, f := range ty.Funcs {
			names[f.Name] = true
		}
	}
	return names
}
