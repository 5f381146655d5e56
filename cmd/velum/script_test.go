package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/text/encoding/charmap"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/stages/read/fence"
)

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == fence.WorkerArgument {
		main() // of a test that masks within its own process
	}
	if planted := testProcesses[os.Getenv(testProcess)]; planted != nil {
		os.Exit(int(planted()))
	}
	testscript.Main(m, map[string]func(){"velum": main, "velum-crash": crash})
}

// crash is velum with a panic in a goroutine of somebody else.
func crash() {
	console.Harden()
	go panic("Acude Dolors Ferrer")
	select {}
}

// TestScripts runs the command line as a user does: testdata/script holds
// commands and what they must print. The command `code N velum ...` wants exit
// code N.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"code": wantCode, "mkparquet": mkparquet, "counts": noteCount, "distinct": distinctRows, "latin1": latin1, "reads": reads, "letsstand": letsStand, "quarantined": quarantined,
		},
		Setup: func(e *testscript.Env) error {
			// nothing of the developer's own settings
			e.Setenv("VELUM_CONFIG", "")
			e.Setenv("HOME", e.WorkDir)
			sample, err := filepath.Abs("testdata/sample")
			e.Setenv("SAMPLE", sample)
			writers, err2 := filepath.Abs("../../stages/read/archive/testdata/writers")
			e.Setenv("WRITERS", writers) // files of other programs
			python, err3 := filepath.Abs("../../scripts/python")
			e.Setenv("PYTHON", python)
			return errors.Join(err, err2, err3)
		},
	})
}

// wantCode runs a command and compares its exit code; stdout and stderr can
// then be matched as after exec.
func wantCode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N command args...")
	}
	err := ts.Exec(args[1], args[2:]...)
	code := 0
	if err != nil {
		var exitErr *exec.ExitError
		if !errors.As(err, &exitErr) {
			ts.Fatalf("%v", err)
		}
		code = exitErr.ExitCode()
	}
	if want := args[0]; want != strconv.Itoa(code) {
		ts.Fatalf("exit code %d, want %s", code, want)
	}
}

// latin1 rewrites a file of UTF-8 in Latin-1.
func latin1(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: latin1 file")
	}
	text, err := charmap.ISO8859_1.NewEncoder().String(ts.ReadFile(args[0]))
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o600))
}
