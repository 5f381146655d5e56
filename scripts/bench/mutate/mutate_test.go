// Package mutate measures what the tests of each package see: it changes the program at places drawn by a seed and runs the package's own
// tests on each change. A change that they let pass survives: a test is missing there, or the change means nothing.
//
//	go test ./scripts/bench/mutate -timeout 0 -v -places 200 -seed 1 -packages ./...
//
// The places are drawn from all places that a change can have, so a package counts by its size. All changes of one package are compiled
// into one test binary, and the environment says which of them is made: a build a package, not a build a change. Changes that do not
// compile are drawn again. Places that no test reaches survive without being tried. Packages whose tests take longer than -most are
// named and left out. Constants are not changed, for a type could hang on them.
package mutate

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

var (
	number   = flag.Int("places", 0, "how many places are changed: minutes of work")
	seed     = flag.Uint64("seed", 1, "draws the places")
	patterns = flag.String("packages", "./...", "which packages, separated by spaces")
	leave    = flag.String("leave", "", "folders that are left out, separated by commas")
	most     = flag.Duration("most", 20*time.Second, "processor time of a package's tests, above which it is left out")
	only     = flag.String("only", "", "file:line of the places that are changed, separated by commas, in place of drawn ones")
	list     = flag.Bool("list", false, "name the places and try none")
)

// listed is what `go list` says of a package.
type listed struct {
	Dir, ImportPath, Export   string
	GoFiles                   []string
	TestGoFiles, XTestGoFiles []string
	Standard, DepOnly         bool
}

// source is a file of a package with the changes that were drawn for it.
type source struct {
	path  string
	text  []byte
	tree  *ast.File
	drawn []place
}

type unit struct {
	listed
	fset  *token.FileSet
	files []*source
	info  *types.Info
	tests string // the binary
	took  time.Duration
}

// place is one change of a file: bytes from..to become what write makes of them. sub renders a part of the file with the changes inside it.
type place struct {
	id, from, to int
	line         int
	what         string
	write        func(id int, sub func(from, to int) string) string
}

var swapped = map[token.Token]token.Token{
	token.LSS: token.LEQ, token.GTR: token.GEQ, token.LEQ: token.LSS, token.GEQ: token.GTR, token.EQL: token.NEQ, token.NEQ: token.EQL,
	token.LAND: token.LOR, token.LOR: token.LAND, token.ADD: token.SUB, token.SUB: token.ADD,
}

// chooser is the file that is added to a package.
const chooser = `
import (
	mutateOS "os"
	mutateConv "strconv"
)

var mutateID, mutateTrace = mutateStart()

func mutateStart() (int, string) {
	id, _ := mutateConv.Atoi(mutateOS.Getenv("MUTATE"))
	return id, mutateOS.Getenv("MUTATE_TRACE")
}

func mutateOn(id int) bool {
	if mutateTrace != "" {
		mutateSay(id)
	}
	return mutateID == id
}

var mutateSaid [1 << 16]bool

func mutateSay(id int) {
	if mutateSaid[id] {
		return
	}
	mutateSaid[id] = true
	if f, err := mutateOS.OpenFile(mutateTrace, mutateOS.O_APPEND|mutateOS.O_WRONLY|mutateOS.O_CREATE, 0o600); err == nil {
		f.WriteString(mutateConv.Itoa(id) + "\n")
		f.Close()
	}
}

type mutateNumber interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uintptr | ~float32 | ~float64
}

func mutateAdd[T mutateNumber](id int, a, b T) T {
	if mutateOn(id) {
		return a - b
	}
	return a + b
}

func mutateSub[T mutateNumber](id int, a, b T) T {
	if mutateOn(id) {
		return a + b
	}
	return a - b
}

func mutateLiteral[T mutateNumber](id int, a T) T {
	if mutateOn(id) {
		return a + 1
	}
	return a
}

func mutateMin[T mutateNumber](id int, a T, more ...T) T {
	for _, b := range more {
		if mutateOn(id) == (b > a) {
			a = b
		}
	}
	return a
}

func mutateMax[T mutateNumber](id int, a T, more ...T) T {
	for _, b := range more {
		if mutateOn(id) == (b < a) {
			a = b
		}
	}
	return a
}

func mutateStep[T mutateNumber](id int, a *T, by T) {
	if mutateOn(id) {
		*a -= by
	} else {
		*a += by
	}
}
`

func TestMutations(t *testing.T) {
	if *number == 0 && *only == "" {
		t.Skip("-places is not set")
	}
	root := output(t, "", "go", "list", "-m", "-f", "{{.Dir}}")
	units := load(t, strings.TrimSpace(root))
	type candidate struct {
		u *unit
		f *source
		p place
	}
	var all []candidate
	for _, u := range units {
		for _, f := range u.files {
			for _, p := range u.places(f) {
				all = append(all, candidate{u, f, p})
			}
		}
	}
	t.Logf("%d places in %d packages", len(all), len(units))
	rng := rand.New(rand.NewPCG(*seed, 0))
	rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	wanted := strings.Split(*only, ",")
	drawn := 0
	name := func(f *source, p place) string {
		rel, _ := filepath.Rel(strings.TrimSpace(root), f.path)
		return fmt.Sprintf("%s:%d", filepath.ToSlash(rel), p.line)
	}
	chosen := map[*unit]bool{}
	for _, c := range all {
		if *only == "" && drawn == *number {
			break
		}
		if *only != "" && !slices.Contains(wanted, name(c.f, c.p)) || !c.u.compiles(c.f, c.p) {
			continue
		}
		drawn++
		c.p.id = drawn
		c.f.drawn = append(c.f.drawn, c.p)
		chosen[c.u] = true
	}
	dir := t.TempDir()
	killed, survived, out := 0, 0, 0
	for _, u := range units {
		if !chosen[u] {
			continue
		}
		var drawn []candidate
		for _, f := range u.files {
			for _, p := range f.drawn {
				drawn = append(drawn, candidate{u, f, p})
			}
		}
		if *list {
			for _, c := range drawn {
				fmt.Println(name(c.f, c.p), c.p.what)
			}
			continue
		}
		reached, err := u.build(dir)
		if err != nil {
			fmt.Printf("left out %s, %d places: %v\n", u.ImportPath, len(drawn), err)
			out += len(drawn)
			continue
		}
		for _, c := range drawn {
			if reached[c.p.id] && u.kills(c.p.id) {
				killed++
				continue
			}
			survived++
			how := "survives"
			if !reached[c.p.id] {
				how = "unreached"
			}
			lines := bytes.Split(c.f.text, []byte("\n"))
			fmt.Printf("%s %s: %s: %s\n", how, name(c.f, c.p), c.p.what, bytes.TrimSpace(lines[c.p.line-1]))
		}
		os.Remove(u.tests)
		fmt.Printf("... %s: %d tried, %v; so far %d of %d killed\n", u.ImportPath, len(drawn), u.took.Round(time.Millisecond), killed, killed+survived)
	}
	fmt.Printf("%d of %d changes were killed by the tests of their own package (%.0f %%); %d more are of packages that were left out\n",
		killed, killed+survived, 100*float64(killed)/float64(max(killed+survived, 1)), out)
}

func output(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	c := exec.Command(name, args...)
	c.Dir, c.Stderr = dir, os.Stderr
	b, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// load parses and types the packages, from what the compiler said of those below them.
func load(t *testing.T, root string) []*unit {
	args := append([]string{"list", "-export", "-deps", "-json=Dir,ImportPath,Export,GoFiles,TestGoFiles,XTestGoFiles,Standard,DepOnly"}, strings.Fields(*patterns)...)
	d := json.NewDecoder(strings.NewReader(output(t, root, "go", args...)))
	exports := map[string]string{}
	var units []*unit
	left := strings.Split(*leave, ",")
	for {
		var l listed
		if err := d.Decode(&l); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		exports[l.ImportPath] = l.Export
		rel, _ := filepath.Rel(root, l.Dir)
		if !l.DepOnly && !l.Standard && len(l.GoFiles) > 0 && !slices.Contains(left, filepath.ToSlash(rel)) {
			units = append(units, &unit{listed: l, fset: token.NewFileSet()})
		}
	}
	for _, u := range units {
		var trees []*ast.File
		for _, name := range u.GoFiles {
			f := &source{path: filepath.Join(u.Dir, name)}
			var err error
			if f.text, err = os.ReadFile(f.path); err == nil {
				f.tree, err = parser.ParseFile(u.fset, f.path, f.text, parser.ParseComments|parser.SkipObjectResolution)
			}
			if err != nil {
				t.Fatal(err)
			}
			trees = append(trees, f.tree)
			if !ast.IsGenerated(f.tree) {
				u.files = append(u.files, f)
			}
		}
		u.info = &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
		u.check(exports, trees, u.info)
	}
	exported = exports
	return units
}

var exported map[string]string

func (u *unit) check(exports map[string]string, trees []*ast.File, info *types.Info) error {
	look := func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) }
	config := types.Config{Importer: importer.ForCompiler(u.fset, "gc", look), Error: nil}
	_, err := config.Check(u.ImportPath, u.fset, trees, info)
	return err
}

// compiles says whether the package is still a program with one change.
func (u *unit) compiles(f *source, p place) bool {
	p.id = 1
	fset := token.NewFileSet()
	var trees []*ast.File
	for _, name := range u.GoFiles {
		path := filepath.Join(u.Dir, name)
		var text any
		if path == f.path {
			text = render(f.text, []place{p})
		}
		tree, err := parser.ParseFile(fset, path, text, parser.SkipObjectResolution)
		if err != nil {
			return false
		}
		trees = append(trees, tree)
	}
	tree, err := parser.ParseFile(fset, "mutate.go", "package "+f.tree.Name.Name+chooser, parser.SkipObjectResolution)
	if err != nil {
		panic(err)
	}
	v := &unit{listed: u.listed, fset: fset}
	return v.check(exported, append(trees, tree), nil) == nil
}

// render writes a file with changes, each of which may stand inside another.
func render(text []byte, places []place) string {
	slices.SortStableFunc(places, func(a, b place) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(b.to, a.to)) })
	var part func(from, to int, in []place) string
	part = func(from, to int, in []place) string {
		var b strings.Builder
		for len(in) > 0 {
			p := in[0]
			in = in[1:]
			if p.from < from || p.to > to {
				continue
			}
			inside := 0
			for inside < len(in) && in[inside].from < p.to {
				inside++
			}
			mine := in[:inside]
			in = in[inside:]
			b.Write(text[from:p.from])
			b.WriteString(p.write(p.id, func(from, to int) string { return part(from, to, mine) }))
			from = p.to
		}
		b.Write(text[from:to])
		return b.String()
	}
	return part(0, len(text), places)
}

// places finds all that can be changed in a file.
func (u *unit) places(f *source) []place {
	var found []place
	at := func(p token.Pos) int { return u.fset.Position(p).Offset }
	add := func(from, to, line token.Pos, what string, write func(string, func(from, to int) string) string) {
		found = append(found, place{from: at(from), to: at(to), line: u.fset.Position(line).Line, what: what,
			write: func(id int, sub func(from, to int) string) string { return write(strconv.Itoa(id), sub) }})
	}
	either := func(from, to token.Pos, line token.Pos, what string, plain, changed func(sub func(from, to int) string) string) {
		add(from, to, line, what, func(id string, sub func(from, to int) string) string {
			return "(!mutateOn(" + id + ") && (" + plain(sub) + ") || mutateOn(" + id + ") && (" + changed(sub) + "))"
		})
	}
	var above []ast.Node
	constant := 0
	ast.Inspect(f.tree, func(n ast.Node) bool {
		if n == nil {
			if d, ok := above[len(above)-1].(*ast.GenDecl); ok && d.Tok == token.CONST {
				constant--
			}
			above = above[:len(above)-1]
			return true
		}
		var parent ast.Node
		if len(above) > 0 {
			parent = above[len(above)-1]
		}
		above = append(above, n)
		if d, ok := n.(*ast.GenDecl); ok && d.Tok == token.CONST {
			constant++
		}
		if constant > 0 {
			return true
		}
		switch n := n.(type) {
		case *ast.IfStmt:
			add(n.Cond.Pos(), n.Cond.End(), n.Cond.Pos(), "if false", func(id string, sub func(from, to int) string) string {
				return "!mutateOn(" + id + ") && (" + sub(at(n.Cond.Pos()), at(n.Cond.End())) + ")"
			})
		case *ast.BinaryExpr:
			by, ok := swapped[n.Op]
			if !ok {
				break
			}
			x := func(sub func(from, to int) string) string { return sub(at(n.X.Pos()), at(n.X.End())) }
			y := func(sub func(from, to int) string) string { return sub(at(n.Y.Pos()), at(n.Y.End())) }
			what := n.Op.String() + " becomes " + by.String()
			if n.Op == token.ADD || n.Op == token.SUB {
				function := "mutateAdd("
				if n.Op == token.SUB {
					function = "mutateSub("
				}
				add(n.Pos(), n.End(), n.OpPos, what, func(id string, sub func(from, to int) string) string {
					return function + id + ", " + x(sub) + ", " + y(sub) + ")"
				})
				break
			}
			both := func(op token.Token) func(sub func(from, to int) string) string {
				return func(sub func(from, to int) string) string {
					return "(" + x(sub) + ") " + op.String() + " (" + y(sub) + ")"
				}
			}
			either(n.Pos(), n.End(), n.OpPos, what, both(n.Op), both(by))
		case *ast.IncDecStmt:
			by := "1"
			if n.Tok == token.DEC {
				by = "-1"
			}
			x := func(sub func(from, to int) string) string { return sub(at(n.X.Pos()), at(n.X.End())) }
			if loop, ok := parent.(*ast.ForStmt); ok && loop.Post == n {
				if by == "1" {
					add(n.Pos(), n.End(), n.Pos(), "++ becomes --", func(id string, sub func(from, to int) string) string {
						return "mutateStep(" + id + ", &" + x(sub) + ", 1)"
					})
				}
				break
			}
			add(n.Pos(), n.End(), n.Pos(), n.Tok.String()+" is turned round", func(id string, sub func(from, to int) string) string {
				return "if mutateOn(" + id + ") { " + x(sub) + " -= " + by + " } else { " + x(sub) + " += " + by + " }"
			})
		case *ast.AssignStmt:
			if n.Tok != token.ADD_ASSIGN {
				break
			}
			x := func(sub func(from, to int) string) string { return sub(at(n.Lhs[0].Pos()), at(n.Lhs[0].End())) }
			y := func(sub func(from, to int) string) string { return sub(at(n.Rhs[0].Pos()), at(n.Rhs[0].End())) }
			if _, ok := parent.(*ast.ForStmt); ok {
				add(n.Pos(), n.End(), n.Pos(), "+= becomes -=", func(id string, sub func(from, to int) string) string {
					return "mutateStep(" + id + ", &" + x(sub) + ", " + y(sub) + ")"
				})
				break
			}
			add(n.Pos(), n.End(), n.Pos(), "+= becomes -=", func(id string, sub func(from, to int) string) string {
				return "if mutateOn(" + id + ") { " + x(sub) + " -= " + y(sub) + " } else { " + x(sub) + " += " + y(sub) + " }"
			})
		case *ast.BasicLit:
			if n.Value != "0" && n.Value != "1" {
				break
			}
			kind := u.info.Types[n].Type
			if b, ok := kind.(*types.Basic); kind == nil || ok && b.Info()&types.IsUntyped != 0 {
				break
			}
			named := types.TypeString(kind, func(p *types.Package) string {
				if p.Path() == u.ImportPath {
					return ""
				}
				return p.Name()
			})
			add(n.Pos(), n.End(), n.Pos(), n.Value+" becomes one more", func(id string, sub func(from, to int) string) string {
				return "mutateLiteral[" + named + "](" + id + ", " + n.Value + ")"
			})
		case *ast.CallExpr:
			name, ok := n.Fun.(*ast.Ident)
			if !ok || name.Name != "min" && name.Name != "max" {
				break
			}
			function := "mutateM" + name.Name[1:]
			add(name.Pos(), n.End(), n.Pos(), name.Name+" is the other one", func(id string, sub func(from, to int) string) string {
				return function + "(" + id + ", " + sub(at(n.Lparen)+1, at(n.End()))
			})
		case *ast.BranchStmt:
			if n.Tok == token.CONTINUE && n.Label == nil {
				add(n.Pos(), n.End(), n.Pos(), "continue becomes break", func(id string, sub func(from, to int) string) string {
					return "if mutateOn(" + id + ") { break }; continue"
				})
			}
		case *ast.ReturnStmt:
			if len(n.Results) == 0 {
				break
			}
			r, ok := n.Results[len(n.Results)-1].(*ast.Ident)
			if !ok || r.Name != "true" && r.Name != "false" {
				break
			}
			by := map[string]string{"true": "!mutateOn(", "false": "mutateOn("}[r.Name]
			add(r.Pos(), r.End(), r.Pos(), "return "+r.Name+" is turned round", func(id string, sub func(from, to int) string) string { return by + id + ")" })
		}
		return true
	})
	return found
}

// build compiles the package's tests with all its changes, and runs them with none made: they must pass. It says which places they reach.
func (u *unit) build(dir string) (map[int]bool, error) {
	if len(u.TestGoFiles)+len(u.XTestGoFiles) == 0 {
		return nil, nil
	}
	overlay := map[string]string{}
	put := func(path, text string) error {
		at := filepath.Join(dir, strconv.Itoa(len(overlay))+".go")
		overlay[path] = at
		return os.WriteFile(at, []byte(text), 0o600)
	}
	for _, f := range u.files {
		if len(f.drawn) > 0 {
			if err := put(f.path, render(f.text, slices.Clone(f.drawn))); err != nil {
				return nil, err
			}
		}
	}
	if err := put(filepath.Join(u.Dir, "mutate_chooser.go"), "package "+u.files[0].tree.Name.Name+chooser); err != nil {
		return nil, err
	}
	b, err := json.Marshal(map[string]any{"Replace": overlay})
	if err != nil {
		return nil, err
	}
	over := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(over, b, 0o600); err != nil {
		return nil, err
	}
	u.tests = filepath.Join(dir, "tests")
	c := exec.Command("go", "test", "-c", "-ldflags=-s -w", "-overlay", over, "-o", u.tests, u.ImportPath)
	c.Dir = u.Dir
	if said, err := c.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, said)
	}
	trace := filepath.Join(dir, "trace")
	os.Remove(trace)
	took, err := u.run(10*time.Minute, "MUTATE_TRACE="+trace)
	u.took = took
	if err != nil {
		return nil, fmt.Errorf("its tests do not pass unchanged: %w", err)
	}
	if took > *most {
		return nil, fmt.Errorf("its tests take %v", took.Round(time.Second))
	}
	reached := map[int]bool{}
	seen, _ := os.ReadFile(trace)
	for _, line := range strings.Fields(string(seen)) {
		id, _ := strconv.Atoi(line)
		reached[id] = true
	}
	return reached, nil
}

// kills says whether the tests fail with a change. A change with which they hang is killed: the limit is twenty times the processor time
// that they took, so that a busy machine kills nothing.
func (u *unit) kills(id int) bool {
	_, err := u.run(10*time.Second+20*u.took, "MUTATE="+strconv.Itoa(id))
	return err != nil
}

// run runs the tests with a limit of processor time and says how much they took. Tests that wait for something forever end, too.
func (u *unit) run(limit time.Duration, env string) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, "sh", "-c", `ulimit -t "$0" && exec "$@"`, strconv.Itoa(int(limit.Seconds())), u.tests, "-test.short", "-test.failfast", "-test.timeout=15m")
	c.Dir = u.Dir
	c.WaitDelay = time.Second
	c.Env = append(os.Environ(), env)
	said, err := c.CombinedOutput()
	if c.ProcessState == nil {
		return 0, err
	}
	if err != nil {
		err = errors.Join(err, fmt.Errorf("%s", said[max(0, len(said)-300):]))
	}
	return c.ProcessState.UserTime() + c.ProcessState.SystemTime(), err
}
