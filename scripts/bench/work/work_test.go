// Package work counts what masking a note takes, so that a rule that costs is seen
// the day it comes, on a machine of any speed. It masks generated notes, the same
// each time, with every statement counted (go test -covermode=count), and holds
// three kinds of figures a note against bounds.txt: statements a package, calls of
// the functions that read or look something up, and bytes written. Two archives of
// different lengths are masked, and the difference is taken, so that no figure holds
// the start of the program. Figures are wrong if one is a twentieth above its bound;
// -update writes what was counted as the new bounds.
//
// The tokens of Go outside tests may not be above their bound at all, and -update writes
// them only if they are fewer. Both tests are done by `make work`, with the flag -bounds.
package work

import (
	"bufio"
	"flag"
	"fmt"
	"go/scanner"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const (
	module = "github.com/velum-health/velum/"
	bounds = "scripts/bench/work/bounds.txt"
	slack  = 1.05
	least  = 0.05 // figures below are rounding
	few    = 500  // notes
	many   = 3000
)

// calls are functions whose calls are counted, by the file and the first words of
// their declarations.
var calls = map[string]string{
	"forms asked for":          "models/tag/crf/cache.go:func (c *cache) form(",
	"forms computed":           "models/tag/crf/label.go:func (l *Labeller) compute(",
	"features located":         "models/tag/crf/label.go:func (l *Labeller) put(",
	"places of several words":  "models/word/gazetteer/phrases.go:func (g *Gazetteer) PhraseAt(",
	"windows of dates":         "models/form/dates/find.go:func (f *Finder) window(",
	"items of dates":           "models/form/dates/scan.go:func (p *Parser) push(",
	"numbers of patterns":      "models/form/patterns/number.go:func (s *scan) number(",
	"words of patterns":        "models/form/patterns/words.go:func (s *scan) meaningOf(",
	"notes cut by resolve":     "stages/resolve/words.go:func (t *wordTable) appendWords(",
	"spans with a probability": "models/tag/chain/span.go:func (s *SpanProbs) span(",
}

type figures map[string]float64

var (
	work   = flag.Bool("bounds", false, "count: minutes of work")
	update = flag.Bool("update", false, "write what was counted as the new bounds")
)

// TestMain goes to the root of the repository.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := os.Chdir("../../.."); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// tokens holds the tokens of Go against their bound.
func tokens(t *testing.T) (n float64, bound figures) {
	if !*work {
		t.Skip("make work")
	}
	n, err := countTokens()
	if err != nil {
		t.Fatal(err)
	}
	if bound, err = readBounds(); err != nil {
		t.Fatal(err)
	}
	t.Logf("%9.0f %9.0f %s", n, bound[goTokens], goTokens)
	if n > bound[goTokens] {
		t.Fatal("there are more tokens of Go than before: a change that adds takes away elsewhere")
	}
	return n, bound
}

// TestTokens counts the program.
func TestTokens(t *testing.T) { tokens(t) }

// TestNote counts the work of a note.
func TestNote(t *testing.T) {
	n, bound := tokens(t)
	dir := t.TempDir()
	short, err := count(dir, few)
	if err != nil {
		t.Fatal(err)
	}
	long, err := count(dir, many)
	if err != nil {
		t.Fatal(err)
	}
	note := figures{}
	for name, n := range long {
		if v := (n - short[name]) / (many - few); v >= least {
			note[name] = v
		}
	}
	if *update {
		note[goTokens] = n
		err = write(note)
	} else {
		err = compare(t, note, bound)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// goTokens is the figure of the size of the program.
const goTokens = "tokens of Go outside tests"

// countTokens counts the tokens of all Go files in git but tests. Comments, the length of names and line breaks count
// nothing, nor do semicolons that stand for line breaks.
func countTokens() (n float64, err error) {
	files, err := exec.Command("git", "ls-files", "*.go").Output()
	if err != nil {
		return 0, fmt.Errorf("git ls-files: %w", err)
	}
	for file := range strings.Lines(string(files)) {
		file = strings.TrimSpace(file)
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		src, err := os.ReadFile(file)
		if err != nil {
			return 0, err
		}
		var s scanner.Scanner
		s.Init(token.NewFileSet().AddFile(file, -1, len(src)), src, nil, 0)
		for {
			_, t, text := s.Scan()
			if t == token.EOF {
				break
			}
			if t != token.SEMICOLON || text != "\n" {
				n++
			}
		}
	}
	return n, nil
}

// count masks notes that are the same each time, and returns all figures of it.
func count(dir string, notes int) (figures, error) {
	in, out, profile := filepath.Join(dir, "in"+strconv.Itoa(notes)), filepath.Join(dir, "out"+strconv.Itoa(notes)), filepath.Join(dir, "profile")
	if err := command(nil, "run", "./cmd/velum", "teach", "synth", "--notes", strconv.Itoa(notes), "--seed", "1", "--to", "archive", "--out", in, "--quiet"); err != nil {
		return nil, err
	}
	if err := command([]string{"VELUM_ARCHIVE=" + in, "VELUM_OUT=" + out}, "test", "./cmd/velum", "-covermode=count", "-coverprofile="+profile,
		"-coverpkg=./models/...,./stages/...,./pipeline/...", "-run", "^$", "-bench", "^BenchmarkFast$", "-benchtime", "1x"); err != nil {
		return nil, err
	}
	f := figures{}
	if err := f.profile(profile); err != nil {
		return nil, err
	}
	return f, f.sizes(out)
}

// command runs go with these arguments; -trimpath as in builds.
func command(env []string, args ...string) error {
	args = slices.Insert(args, 1, "-trimpath")
	c := exec.Command("go", args...)
	c.Env = append(os.Environ(), env...)
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}

// profile adds the statements of every package, and the calls. A line is
// FILE:LINE.COLUMN,LINE.COLUMN STATEMENTS COUNT.
func (f figures) profile(path string) error {
	lines, err := linesOf(path)
	if err != nil {
		return err
	}
	starts, err := declared()
	if err != nil {
		return err
	}
	for _, line := range lines[1:] {
		file, rest, _ := strings.Cut(strings.TrimPrefix(line, module), ":")
		var fromLine, fromColumn, toLine, toColumn int
		var statements, times float64
		if _, err := fmt.Sscanf(rest, "%d.%d,%d.%d %f %f", &fromLine, &fromColumn, &toLine, &toColumn, &statements, &times); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		f["statements "+filepath.Dir(file)] += statements * times
		at := file + ":" + strconv.Itoa(fromLine)
		if name, ok := starts[at]; ok { // its first block
			f["calls "+name] += times
			delete(starts, at)
		}
	}
	for at, name := range starts {
		return fmt.Errorf("%s: %s is not in the profile", at, name)
	}
	return nil
}

// declared returns the lines at which the functions of calls are declared.
func declared() (map[string]string, error) {
	at := map[string]string{}
	for name, decl := range calls {
		file, words, _ := strings.Cut(decl, ":")
		lines, err := linesOf(file)
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, words) })
		if i < 0 {
			return nil, fmt.Errorf("%s has no %s: name in calls what does its work now", file, words)
		}
		at[file+":"+strconv.Itoa(i+1)] = name
	}
	return at, nil
}

// sizes adds the bytes that a run wrote, by the folders of its output.
func (f figures) sizes(out string) error {
	for _, tree := range []string{out, out + ".private"} {
		if err := filepath.WalkDir(tree, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || filepath.Ext(path) != ".parquet" {
				return err
			}
			info, err := d.Info()
			if err != nil {
				return err
			}
			folder, _, _ := strings.Cut(strings.TrimPrefix(path, tree+"/"), "/")
			f["bytes "+folder] += float64(info.Size())
			return nil
		}); err != nil {
			return err
		}
	}
	return nil
}

func linesOf(path string) (lines []string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		lines = append(lines, s.Text())
	}
	return lines, nil
}

func write(note figures) error {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(note)) {
		fmt.Fprintf(&b, "%9.2f %s\n", note[name], name)
	}
	return os.WriteFile(bounds, []byte(b.String()), 0o644)
}

// readBounds reads the bounds.
func readBounds() (figures, error) {
	lines, err := linesOf(bounds)
	if err != nil {
		return nil, err
	}
	bound := figures{}
	for _, line := range lines {
		v, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		if bound[name], err = strconv.ParseFloat(v, 64); err != nil {
			return nil, fmt.Errorf("%s: %w", bounds, err)
		}
	}
	return bound, nil
}

// compare holds the figures against the bounds.
func compare(t *testing.T, note, bound figures) error {
	var over []string
	for _, name := range slices.Sorted(maps.Keys(note)) {
		mark := ""
		if note[name] > bound[name]*slack+least {
			over = append(over, name)
			mark = "  above its bound"
		}
		t.Logf("%9.2f %9.2f %s%s", note[name], bound[name], name, mark)
	}
	if len(over) > 0 {
		return fmt.Errorf("a note takes more than before: %s. What costs must pay: say what for in BENCHMARKS.md, and run with -update", strings.Join(over, ", "))
	}
	return nil
}
