package console

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"
	"testing"
)

// TestPrintf: a name from outside moves no cursor and paints nothing.
func TestPrintf(t *testing.T) {
	var out strings.Builder
	c := &Console{Out: &out}
	hostile := "a\x1b[31m\r\n\u009b2J\u202eb\u2028\x7f\xff "
	if _, err := c.Printf("%s|%v|%d\n%s", hostile, errors.New(hostile), 3, []byte("{\n}")); err != nil {
		t.Fatal(err)
	}
	plain := "a [31m   2J b  \ufffd "
	if want := plain + "|" + plain + "|3\n{\n}"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}

// TestPrintsHere: verbs print for people by Printf and by nothing else.
func TestPrintsHere(t *testing.T) {
	direct := regexp.MustCompile(`fmt\.Fprint\w*\([\w.]*\.Out\b`)
	err := filepath.WalkDir("../..", func(name string, e fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") || filepath.Base(name) == "console.go" {
			return err
		}
		text, err := os.ReadFile(name)
		if found := direct.Find(text); found != nil && filepath.Base(name) != "machine.go" { // which paints
			t.Errorf("%s: %s", name, found)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestSetMemory(t *testing.T) {
	limit, percent := debug.SetMemoryLimit(-1), debug.SetGCPercent(100)
	defer func() { debug.SetMemoryLimit(limit); debug.SetGCPercent(percent) }()
	(&Console{}).SetMemory(3 << 30)
	if got := debug.SetMemoryLimit(-1); got != 3<<30 {
		t.Errorf("limit %d", got)
	}
	(&Console{}).SteadyMemory()
	if got := debug.SetGCPercent(100); got != gcPercent {
		t.Errorf("GC percent %d", got)
	}
	debug.SetMemoryLimit(math.MaxInt64)
	(&Console{Env: []string{"GOMEMLIMIT=1GiB", "GOGC=50"}}).SetMemory(0) // the runtime has read both already
	if got := debug.SetMemoryLimit(-1); got != math.MaxInt64 {
		t.Errorf("limit %d beside GOMEMLIMIT", got)
	}
	(&Console{Env: []string{"GOGC=50"}}).SteadyMemory()
	if got := debug.SetGCPercent(100); got != 100 {
		t.Errorf("GC percent %d beside GOGC", got)
	}
}
