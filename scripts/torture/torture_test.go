package main

import (
	"os/exec"
	"path/filepath"
	"testing"
)

// TestShort runs the short form of every test on a binary of this tree.
func TestShort(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the binary and runs it some hundred times")
	}
	velum := filepath.Join(t.TempDir(), "velum")
	if text, err := exec.Command("go", "build", "-o", velum, "../../cmd/velum").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if err := (&torture{ended: t.Context(), velum: velum, short: true, seed: 2}).run(""); err != nil {
		t.Error(err)
	}
}
