package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"unicode"
	"unicode/utf8"
)

// shape is what a reader has to hold in mind of a package, tests left out.
type shape struct {
	lines     int // of Go
	methods   int // of the type that has the most
	up        int // arrows between files that run up, see arrowsUp
	receivers int // methods whose receiver does not begin as its type
}

// most is what a package may be.
var most = shape{lines: 2500, methods: 60, up: 20}

// exceptions are the packages that are more, each with its figures. They may
// only fall: a figure that is raised says that the package is to be divided first.
var exceptions = map[string]shape{
	"cmd/velum":                 {lines: 2743},
	"cmd/velum/internal/flow":   {receivers: 19},
	"cmd/velum/internal/learn":  {receivers: 40},
	"cmd/velum/internal/look":   {receivers: 6},
	"cmd/velum/internal/option": {receivers: 6},
	"cmd/velum/internal/review": {receivers: 15},
	"cmd/velum/internal/run":    {receivers: 1},
	"cmd/velum/internal/score":  {receivers: 5},
	"models/tag/bilstm":         {lines: 3809, receivers: 15},
	"models/form/dates":         {lines: 3705, methods: 76},
	"models/tag/ensemble":       {receivers: 9},
	"models/form/patterns":      {lines: 4554, receivers: 124},
	"pipeline/commit":           {lines: 4162, receivers: 59},
	"pipeline/idset":            {receivers: 3},
	"scripts/torture":           {lines: 2627, methods: 68},
	"stages/choose":             {receivers: 5},
	"stages/mask":               {receivers: 26},
	"stages/synth":              {receivers: 20},
	"stages/write":              {lines: 3740, receivers: 44},
}

// parts are the figures of a shape by their names.
func (s shape) parts() map[string]int {
	return map[string]int{"lines": s.lines, "methods of a type": s.methods, "arrows up between files": s.up, "receivers that do not begin as their type": s.receivers}
}

// TestStructure holds every package to the same bounds.
func TestStructure(t *testing.T) {
	found := shapes(t, os.DirFS("../.."))
	for _, v := range misshapen(found, exceptions) {
		t.Error(v)
	}
	if os.Getenv("VELUM_SHAPES") != "" { // to lower the figures of the table
		for _, folder := range slices.Sorted(maps.Keys(found)) {
			s := found[folder]
			t.Logf("%q: {lines: %d, methods: %d, up: %d, receivers: %d},", folder, s.lines, s.methods, s.up, s.receivers)
		}
	}
}

// misshapen says which packages are more than they may be, and which exceptions
// are none any more.
func misshapen(found, exceptions map[string]shape) (wrong []string) {
	for folder, s := range found {
		allowed, general := exceptions[folder].parts(), most.parts()
		for name, n := range s.parts() {
			if limit := max(allowed[name], general[name]); n > limit {
				wrong = append(wrong, fmt.Sprintf("%s has %d %s, and %d are allowed", folder, n, name, limit))
			}
			if allowed[name] > 0 && n <= general[name] {
				wrong = append(wrong, fmt.Sprintf("%s has %d %s, as any package may: strike its exception", folder, n, name))
			}
		}
	}
	for folder := range exceptions {
		if _, ok := found[folder]; !ok {
			wrong = append(wrong, folder+" is gone: strike its exception")
		}
	}
	slices.Sort(wrong)
	return wrong
}

// shapes measures every package of the tree.
func shapes(t *testing.T, tree fs.FS) map[string]shape {
	packages := map[string]map[string]*ast.File{}
	all := map[string]shape{}
	err := eachFile(tree, func(file string, text []byte) error {
		if !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, text, 0)
		if err != nil {
			return err
		}
		folder := path.Dir(file)
		if packages[folder] == nil {
			packages[folder] = map[string]*ast.File{}
		}
		packages[folder][file] = f
		s := all[folder]
		s.lines += strings.Count(string(text), "\n")
		all[folder] = s
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for folder, files := range packages {
		s := all[folder]
		s.methods, s.receivers = methods(files)
		s.up = arrowsUp(files)
		all[folder] = s
	}
	return all
}

// methods returns how many the type with the most has, and how many receivers
// begin with the first letter of no word of their type: TaggedUnit is t or u.
func methods(files map[string]*ast.File) (most, strange int) {
	count := map[string]int{}
	for _, f := range files {
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Recv == nil {
				continue
			}
			of, receiver := receiverOf(fn)
			count[of]++
			most = max(most, count[of])
			if receiver != "" && receiver != "_" && !strings.ContainsRune(initials(of), firstLetter(receiver)) {
				strange++
			}
		}
	}
	return most, strange
}

// receiverOf returns the names of a method's type and of its receiver.
func receiverOf(fn *ast.FuncDecl) (of, receiver string) {
	field := fn.Recv.List[0]
	if len(field.Names) > 0 {
		receiver = field.Names[0].Name
	}
	e := field.Type
	for {
		switch x := e.(type) {
		case *ast.StarExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.IndexListExpr:
			e = x.X
		case *ast.Ident:
			return x.Name, receiver
		default:
			return "", receiver
		}
	}
}

// initials are the first letters of the words of a name, in small letters.
func initials(name string) string {
	letters := []rune{firstLetter(name)}
	for _, r := range name {
		if unicode.IsUpper(r) {
			letters = append(letters, unicode.ToLower(r))
		}
	}
	return string(letters)
}

func firstLetter(name string) rune {
	r, _ := utf8.DecodeRuneInString(name)
	return unicode.ToLower(r)
}

// arrowsUp counts the arrows between the files of a package that run up. A file
// has an arrow to each whose declarations it names (methods are not looked at). Files
// stand in the order that is taken from below, again and again: whoever names fewest of
// those that are left, and of these whom most name. Where no two files name each
// other, by whatever way, no arrow runs up.
func arrowsUp(files map[string]*ast.File) (up int) {
	declared := map[string]string{}
	for file, f := range files {
		for name := range f.Scope.Objects {
			declared[name] = file
		}
	}
	names, named := map[string]map[string]bool{}, map[string]map[string]bool{}
	for file, f := range files {
		names[file] = map[string]bool{}
		for _, ident := range f.Unresolved {
			if of := declared[ident.Name]; of != "" && of != file {
				names[file][of] = true
				if named[of] == nil {
					named[of] = map[string]bool{}
				}
				named[of][file] = true
			}
		}
	}
	for left := slices.Sorted(maps.Keys(files)); len(left) > 0; {
		lowest := slices.MinFunc(left, func(a, b string) int {
			return cmp.Or(cmp.Compare(len(names[a]), len(names[b])), cmp.Compare(len(named[b]), len(named[a])), strings.Compare(a, b))
		})
		up += len(names[lowest])
		for file := range names[lowest] {
			delete(named[file], lowest)
		}
		for file := range named[lowest] {
			delete(names[file], lowest)
		}
		left = slices.DeleteFunc(left, func(file string) bool { return file == lowest })
	}
	return up
}

// TestStructureSees plants packages and wants what is wrong with them found.
func TestStructureSees(t *testing.T) {
	tree := fstest.MapFS{
		"long/a.go":      {Data: []byte("package long\n" + strings.Repeat("\n", most.lines))},
		"long/a_test.go": {Data: []byte("package long\n" + strings.Repeat("\n", most.lines))},
		"wide/a.go":      {Data: []byte("package wide\ntype T[K any] struct{}\n" + strings.Repeat("func (t *T[K]) F() {}\n", most.methods+1))},
		"odd/a.go":       {Data: []byte("package odd\ntype note struct{}\nfunc (n note) a() {}\nfunc (x *note) b() {}\nfunc (note) c() {}\n")},
		"knot/a.go":      {Data: []byte("package knot\nfunc A() { B(); C() }\n")},
		"knot/b.go":      {Data: []byte("package knot\nfunc B() { C(); A() }\n")},
		"knot/c.go":      {Data: []byte("package knot\nfunc C() { A := 1; _ = A }\n")},
		"flat/a.go":      {Data: []byte("package flat\nfunc A() { B(); C() }\n")},
		"flat/b.go":      {Data: []byte("package flat\nfunc B() { C() }\n")},
		"flat/c.go":      {Data: []byte("package flat\nfunc C() {}\n")},
	}
	found := shapes(t, tree)
	if found["knot"].up != 1 || found["flat"].up != 0 || found["odd"].receivers != 1 || found["wide"].methods != most.methods+1 {
		t.Errorf("%+v", found)
	}
	wrong := misshapen(found, map[string]shape{"flat": {up: 21}, "gone": {lines: 3000}})
	want := []string{
		"flat has 0 arrows up between files, as any package may: strike its exception",
		"gone is gone: strike its exception",
		"long has 2501 lines, and 2500 are allowed",
		"odd has 1 receivers that do not begin as their type, and 0 are allowed",
		"wide has 61 methods of a type, and 60 are allowed",
	}
	if !slices.Equal(wrong, want) {
		t.Errorf("%q, want %q", wrong, want)
	}
}
