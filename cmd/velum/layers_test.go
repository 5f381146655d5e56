package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
)

const module = "github.com/velum-health/velum"

// below is what a stage may import.
const below = "pipeline pipeline/column pipeline/commit pipeline/durable pipeline/filename pipeline/guard pipeline/idset pipeline/limit pipeline/offset pipeline/patientid pipeline/secret pipeline/sheet pipeline/tally models/*"

// mayImport says which of our packages a package may import. It is a
// statement of policy: do not loosen it to make a build pass.
var mayImport = []struct{ who, what string }{
	{"pipeline", ""},
	{"pipeline/casetest", ""}, // for tests
	{"pipeline/column", "pipeline"},
	{"pipeline/tally", ""},
	{"pipeline/durable", ""},
	{"pipeline/filename", ""},
	{"pipeline/guard", ""},
	{"pipeline/idset", ""},
	{"pipeline/limit", ""},
	{"pipeline/markup", "pipeline"},
	{"pipeline/offset", ""},
	{"pipeline/paced", ""},
	{"pipeline/patientid", ""},
	{"pipeline/promote", "pipeline/durable"},
	{"pipeline/secret", ""},
	{"pipeline/sheet", ""},
	{"pipeline/commit", "pipeline pipeline/durable pipeline/tally"},
	{"pipeline/audit", "pipeline pipeline/commit pipeline/durable pipeline/patientid"},
	{"configs", "pipeline"},
	// The wings of models, in the order in which they may know each other.
	{"models/embedded", "pipeline models/number/*"},
	{"models/number/*", "pipeline models/number/*"},
	{"models/word/*", "pipeline models/number/* models/word/*"},
	{"models/form/people", "pipeline pipeline/patientid models/number/* models/word/* models/form/*"}, // people belong to a patient
	{"models/form/*", "pipeline models/number/* models/word/* models/form/*"},
	{"models/tag/crf/crftest", "pipeline pipeline/markup models/tag/* models/word/*"}, // for tests
	{"models/tag/*", "pipeline models/number/* models/word/* models/form/* models/tag/*"},
	{"models/release/*", "pipeline models/number/* models/word/* models/form/*"},
	{"models/learn/*", "pipeline models/number/* models/word/* models/form/* models/tag/* models/learn/*"}, // only the laboratory knows it
	// The packages below stages/read, in the order in which they may know each other. Other stages know none of them.
	{"stages/read/input", below},
	{"stages/read/pages", below},
	{"stages/read/parquet", below + " stages/read/input stages/read/pages"},
	{"stages/read/text", below + " stages/read/input stages/read/parquet"},
	{"stages/read/tagged", below + " stages/read/input stages/read/parquet"},
	{"stages/read/fence", below + " stages/read/input stages/read/parquet"},
	{"stages/read/clinical", below + " stages/read/input stages/read/text"},
	{"stages/read/archive", below + " stages/read/clinical stages/read/input stages/read/parquet stages/read/text stages/read/fence"},
	{"stages/read/readtest", below + " pipeline/markup"}, // for tests
	// The packages below stages/write: what a table of Parquet is, what a unit sums up, the parts of a unit, those that are written again.
	{"stages/write/table", below},
	{"stages/write/summary", below},
	{"stages/write/unit", below + " stages/write/summary stages/write/table"},
	{"stages/write/rewrite", below + " stages/write/summary stages/write/table"},
	{"stages/write", below + " stages/write/table"},
	{"stages/read", below + " stages/read/*"},
	{"stages/*", below}, // never another stage
	{"cmd/*", "*"},      // and of rooms, those below: see rooms
	{"scripts/*", "pipeline pipeline/* models/* stages/* configs scripts/*"},
}

// rooms are those of cmd/velum/internal, in layers: a room may import the rooms
// of the layers before its own, and none beside it or above.
var rooms = [][]string{
	{"exit"},                              // how a command ends
	{"console", "syntax"},                 // the process around it; YAML that anybody wrote
	{"option", "files"},                   // the configuration; what people and runs have written
	{"flow"},                              // stages, models, labelled notes
	{"page"},                              // pages in three languages
	{"report"},                            // what a run came to
	{"selection", "anonymize", "release"}, // what is chosen of an archive; its public tables; the ledger of extracts
	{"explain", "look", "notes", "proof", "propose", "review", "run", "score", "stream"}, // what the verbs do
	{"evidence", "night"}, // the dossier of a release; a run as a timer starts it
	// The laboratory stands above all rooms of the product: it may use them, and none of them may use it.
	{"lab/attack", "lab/train", "lab/turns"}, // what an extract gives away; kinds of models made from labelled notes; what learning keeps of its turns
	{"lab/learn", "lab/pack", "lab/study"},   // turns of learning, rules of people, kinds compared
	{"lab/start"},                            // a first month: the rooms that it calls
}

// layerOf returns the layer of a room, by the path of its package; -1 for what
// is no room that the table names.
func layerOf(pkg string) int {
	name, _ := strings.CutPrefix(pkg, roomsFolder)
	return slices.IndexFunc(rooms, func(layer []string) bool { return slices.Contains(layer, name) })
}

const roomsFolder = "cmd/velum/internal/"

// notForModels are the names of pipeline that models do not know: a model
// knows tokens and numbers, no batches and no pump.
var notForModels = []string{"Batch", "Run", "Step"}

// mayStartGoroutines lists the packages with go statements.
var mayStartGoroutines = []string{"pipeline", "pipeline/commit", "pipeline/paced", "models/number/kernels"}

// badNames are names that say nothing about what is inside.
var badNames = []string{"util", "utils", "common", "helper", "helpers", "misc", "shared", "types", "base"}

func TestLayers(t *testing.T) {
	for _, v := range violations(os.DirFS("../..")) {
		t.Error(v)
	}
}

// violations reads every Go file of the tree and returns what breaks the rules
// of ARCHITECTURE.md, sorted.
func violations(tree fs.FS) []string {
	var all []string
	err := fs.WalkDir(tree, ".", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name := d.Name(); file != "." && (strings.HasPrefix(name, ".") || name == "testdata" || name == "bin" || file == "out") {
				return fs.SkipDir
			}
			if slices.Contains(badNames, d.Name()) {
				all = append(all, fmt.Sprintf("%s: a folder may not be called that", file))
			}
			return nil
		}
		if !strings.HasSuffix(file, ".go") {
			return nil
		}
		found, err := fileViolations(tree, file)
		all = append(all, found...)
		return err
	})
	if err != nil {
		all = append(all, err.Error())
	}
	slices.Sort(all)
	return all
}

func fileViolations(tree fs.FS, file string) ([]string, error) {
	text, err := fs.ReadFile(tree, file)
	if err != nil {
		return nil, err
	}
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, file, text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	c := &fileChecker{set: set, pkg: path.Dir(file), test: strings.HasSuffix(file, "_test.go")}
	if base := strings.TrimSuffix(strings.TrimSuffix(path.Base(file), ".go"), "_test"); slices.Contains(badNames, base) {
		c.note(f.Package, "a file may not be called that")
	}
	if slices.Contains(badNames, f.Name.Name) {
		c.note(f.Package, "a package may not be called that")
	}
	c.imports(f)
	ast.Inspect(f, c.node)
	return c.found, nil
}

type fileChecker struct {
	set      *token.FileSet
	pkg      string // folder
	test     bool
	pipeline string // name under which the file imports pipeline
	found    []string
}

func (c *fileChecker) note(at token.Pos, what string) {
	p := c.set.Position(at)
	c.found = append(c.found, fmt.Sprintf("%s:%d: %s", p.Filename, p.Line, what))
}

// pageRoom serves a page to this machine: the one package of velum that listens. None
// dials.
const pageRoom = roomsFolder + "review"

// dials tells whether a package that is imported may talk to other machines.
func dials(name string) bool {
	return name == "net" || strings.HasPrefix(name, "net/") && name != "net/netip" && name != "net/url" || strings.HasPrefix(name, "gocloud.dev")
}

// mayDial tells whether package who may import such a package.
func mayDial(who string) bool {
	return who == pageRoom || strings.HasPrefix(who, "scripts/")
}

// imports checks the imports. Tests may import what they like: a round trip
// wants the stage that reads beside the one that writes.
func (c *fileChecker) imports(f *ast.File) {
	for _, spec := range f.Imports {
		name, err := strconv.Unquote(spec.Path.Value)
		what, ours := strings.CutPrefix(name, module+"/")
		if err == nil && !c.test && dials(name) && !mayDial(c.pkg) {
			c.note(spec.Pos(), "velum uses no network: "+name)
		}
		if err != nil || !ours {
			continue
		}
		if what == "pipeline" {
			c.pipeline = "pipeline"
			if spec.Name != nil {
				c.pipeline = spec.Name.Name
			}
		}
		if strings.HasPrefix(c.pkg, roomsFolder) && layerOf(c.pkg) < 0 {
			c.note(spec.Pos(), c.pkg+" has no layer: name it in rooms")
		}
		if !c.test && !allowed(c.pkg, what) {
			c.note(spec.Pos(), c.pkg+" may not import "+what)
		}
	}
}

// onlyForTests are what no program links.
var onlyForTests = []string{"pipeline/casetest", "stages/read/readtest", "models/tag/crf/crftest"}

// learning is the wing of what makes models: the product, which uses them, links none of it.
const learning = "models/learn/*"

// mayLearn are the packages that may import trainers.
var mayLearn = []string{learning, roomsFolder + "lab/*", "scripts/*"}

// allowed tells whether package who may import package what.
func allowed(who, what string) bool {
	if slices.Contains(onlyForTests, what) {
		return false
	}
	if matches(learning, what) && !slices.ContainsFunc(mayLearn, func(p string) bool { return matches(p, who) }) {
		return false
	}
	if strings.HasPrefix(who, roomsFolder) && (what == "cmd/velum" || strings.HasPrefix(what, roomsFolder)) {
		return layerOf(what) >= 0 && layerOf(what) < layerOf(who)
	}
	for _, rule := range mayImport {
		if matches(rule.who, who) {
			return slices.ContainsFunc(strings.Fields(rule.what), func(p string) bool { return matches(p, what) })
		}
	}
	return false
}

// matches tells whether pattern is name, or name lies in the folder of a
// pattern that ends in a star.
func matches(pattern, name string) bool {
	prefix, star := strings.CutSuffix(pattern, "*")
	return pattern == name || star && strings.HasPrefix(name, prefix)
}

func (c *fileChecker) node(n ast.Node) bool {
	if c.test {
		return false
	}
	switch n := n.(type) {
	case *ast.GoStmt:
		c.goroutine(n.Pos())
	case *ast.CallExpr:
		// wg.Go and its like
		if f, ok := n.Fun.(*ast.SelectorExpr); ok && f.Sel.Name == "Go" && len(n.Args) == 1 {
			c.goroutine(n.Pos())
		}
	case *ast.SelectorExpr:
		x, ok := n.X.(*ast.Ident)
		if ok && c.pipeline != "" && x.Name == c.pipeline && strings.HasPrefix(c.pkg, "models/") && slices.Contains(notForModels, n.Sel.Name) {
			c.note(n.Pos(), "a model may not know pipeline."+n.Sel.Name)
		}
	}
	return true
}

func (c *fileChecker) goroutine(at token.Pos) {
	if !slices.Contains(mayStartGoroutines, c.pkg) {
		c.note(at, "goroutines start in "+strings.Join(mayStartGoroutines, " and ")+" only")
	}
}

// TestNoCloud: of what velum is built from, nothing talks to an object store.
func TestNoCloud(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", ".").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	deps := strings.Fields(string(out))
	if !slices.Contains(deps, module+"/pipeline") {
		t.Fatalf("the list is not that of velum: %d packages", len(deps))
	}
	for _, dep := range deps {
		for _, store := range []string{"gocloud.dev", "github.com/aws/", "github.com/Azure/", "cloud.google.com/"} {
			if strings.HasPrefix(dep, store) {
				t.Errorf("velum is built with %s", dep)
			}
		}
	}
}

// laboratory are the packages that train, measure and study. What masks links none of them, nor
// the graph of gorgonia that gradients are checked with.
var laboratory = []string{module + "/models/learn", module + "/" + roomsFolder + "lab", "gorgonia.org"}

// TestWall: the laboratory imports the product, and never the other way. No room but its own
// links anything of it.
func TestWall(t *testing.T) {
	list := []string{"list", "-deps"}
	for _, room := range slices.Concat(rooms...) {
		if !strings.HasPrefix(room, "lab/") {
			list = append(list, "./internal/"+room)
		}
	}
	out, err := exec.CommandContext(t.Context(), "go", list...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	deps := strings.Fields(string(out))
	if !slices.Contains(deps, module+"/pipeline") {
		t.Fatalf("the list is not that of velum: %d packages", len(deps))
	}
	for _, dep := range deps {
		if slices.ContainsFunc(laboratory, func(part string) bool { return strings.HasPrefix(dep, part) }) {
			t.Errorf("the product is built with %s", dep)
		}
	}
}

// TestLayersSeesViolations plants one violation a file and wants each found.
func TestLayersSeesViolations(t *testing.T) {
	planted := map[string]struct{ text, want string }{
		"cmd/velum/internal/run/l.go":          {`package run; import _ "MODULE/cmd/velum/internal/lab/train"`, "cmd/velum/internal/run may not import cmd/velum/internal/lab/train"},
		"pipeline/a.go":                        {`package pipeline; import _ "MODULE/models/tag/crf"`, "pipeline may not import models/tag/crf"},
		"pipeline/b.go":                        {`package pipeline; import _ "MODULE/pipeline/commit"`, "pipeline may not import pipeline/commit"},
		"pipeline/commit/a.go":                 {`package commit; import _ "MODULE/pipeline/audit"`, "pipeline/commit may not import pipeline/audit"},
		"pipeline/audit/a.go":                  {`package audit; func f() { go f() }`, "goroutines start in"},
		"models/tag/crf/f.go":                  {`package crf; import _ "MODULE/pipeline/commit"`, "models/tag/crf may not import pipeline/commit"},
		"stages/tag/f.go":                      {`package tag; import _ "MODULE/pipeline/audit"`, "stages/tag may not import pipeline/audit"},
		"models/tag/crf/a.go":                  {`package crf; import _ "MODULE/stages/tag"`, "models/tag/crf may not import stages/tag"},
		"models/tag/crf/b.go":                  {`package crf; import "MODULE/pipeline"; var B pipeline.Batch`, "a model may not know pipeline.Batch"},
		"models/tag/crf/c.go":                  {`package crf; import p "MODULE/pipeline"; var S p.Step`, "a model may not know pipeline.Step"},
		"models/tag/crf/d.go":                  {`package crf; func f() { go f() }`, "goroutines start in"},
		"models/tag/crf/e.go":                  {`package crf; import _ "MODULE/cmd/velum"`, "models/tag/crf may not import cmd/velum"},
		"stages/tag/a.go":                      {`package tag; import _ "MODULE/stages/read"`, "stages/tag may not import stages/read"},
		"stages/tag/f2.go":                     {`package tag; import _ "MODULE/stages/read/input"`, "stages/tag may not import stages/read/input"},
		"stages/read/text/a.go":                {`package text; import _ "MODULE/stages/read/archive"`, "stages/read/text may not import stages/read/archive"},
		"cmd/velum/r.go":                       {`package main; import _ "MODULE/stages/read/readtest"`, "cmd/velum may not import stages/read/readtest"},
		"stages/tag/b.go":                      {`package tag; import "sync"; func f(wg *sync.WaitGroup) { wg.Go(func() {}) }`, "goroutines start in"},
		"stages/tag/e.go":                      {`package tag; import _ "MODULE/configs"`, "stages/tag may not import configs"},
		"stages/util/a.go":                     {`package util`, "a folder may not be called that"},
		"stages/tag/misc.go":                   {`package tag`, "a file may not be called that"},
		"configs/a.go":                         {`package configs; import _ "MODULE/models/tag/crf"`, "configs may not import models/tag/crf"},
		"stages/tag/net.go":                    {`package tag; import "net/http"; var H http.Client`, "velum uses no network: net/http"},
		"stages/tag/cloud.go":                  {`package tag; import _ "gocloud.dev/blob"`, "velum uses no network: gocloud.dev/blob"},
		"models/word/view/a.go":                {`package view; import _ "MODULE/models/tag/crf"`, "models/word/view may not import models/tag/crf"},
		"models/form/dates/a.go":               {`package dates; import _ "MODULE/models/release/shuffle"`, "models/form/dates may not import models/release/shuffle"},
		"elsewhere/a.go":                       {`package elsewhere; import _ "MODULE/pipeline"`, "elsewhere may not import pipeline"},
		"models/tag/crf/l.go":                  {`package crf; import _ "MODULE/models/learn/crftrain"`, "models/tag/crf may not import models/learn/crftrain"},
		"cmd/velum/internal/stream/trainer.go": {`package stream; import _ "MODULE/models/learn/crftrain"`, "cmd/velum/internal/stream may not import models/learn/crftrain"},
		"stages/tag/l.go":                      {`package tag; import _ "MODULE/models/learn/crftrain"`, "stages/tag may not import models/learn/crftrain"},
		"models/broken/a.go":                   {`package`, "expected"},
	}
	for file, p := range planted {
		tree := fstest.MapFS{file: {Data: []byte(strings.ReplaceAll(p.text, "MODULE", module))}}
		found := violations(tree)
		if len(found) == 0 || !slices.ContainsFunc(found, func(v string) bool { return strings.Contains(v, p.want) }) {
			t.Errorf("%s: found %q, want one with %q", file, found, p.want)
		}
	}
}

// TestLayersAllows wants nothing found in a tree that keeps the rules.
func TestLayersAllows(t *testing.T) {
	sound := map[string]string{
		"pipeline/run.go":                   `package pipeline; func f() { go f() }`,
		"models/number/kernels/k.go":        `package kernels; import "sync"; func f(wg *sync.WaitGroup) { wg.Go(func() {}) }`,
		"models/tag/crf/a.go":               `package crf; import "MODULE/pipeline"; import _ "MODULE/models/number/kernels"; var T pipeline.Token`,
		"models/tag/crf/a_test.go":          `package crf_test; import _ "MODULE/stages/tag"; func f() { go f() }`,
		"stages/tag/a.go":                   `package tag; import _ "MODULE/pipeline"; import _ "MODULE/models/tag/crf"; func f() { panic("tag: a bug") }`,
		"configs/a.go":                      `package configs; import _ "MODULE/pipeline"`,
		"cmd/velum/main.go":                 `package main; import _ "MODULE/stages/tag"; import _ "MODULE/cmd/velum/internal/lab/learn"`,
		"cmd/velum/internal/lab/learn/a.go": `package learn; import _ "MODULE/cmd/velum/internal/run"; import _ "MODULE/stages/choose"`,
		"stages/tag/testdata/x.go":          `this is no Go`,
		"stages/tag/notes.txt":              `go func()`,
	}
	tree := fstest.MapFS{}
	for file, text := range sound {
		tree[file] = &fstest.MapFile{Data: []byte(strings.ReplaceAll(text, "MODULE", module))}
	}
	for _, v := range violations(tree) {
		t.Error(v)
	}
}
