package patterns

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"testing"
)

var update = flag.Bool("update", false, "write the golden file anew; read the difference before you commit it")

// TestGolden pins every match and score in a few invented notes to the
// version: who changes one changes the other, since models that were trained
// with matches as features ask for the version.
func TestGolden(t *testing.T) {
	const path = "testdata/golden/matches.txt"
	notes, err := os.ReadFile("testdata/golden/notes.txt")
	if err != nil {
		t.Fatal(err)
	}
	got := new(bytes.Buffer)
	fmt.Fprintln(got, Version)
	m := New(Options{})
	for i, note := range bytes.Split(bytes.TrimSpace(notes), []byte("\n")) {
		for _, x := range m.Find(nil, note) {
			fmt.Fprintf(got, "%d %d-%d %v %.2f %v %q\n", i+1, x.Start, x.End, x.Category, x.Score, x.Checked, note[x.Start:x.End])
		}
	}
	want, err := os.ReadFile(path)
	if bytes.Equal(got.Bytes(), want) {
		return
	}
	switch {
	case !*update:
		t.Errorf("matches differ from %s (%v): run with -update and read the difference", path, err)
	case bytes.HasPrefix(want, []byte(Version+"\n")):
		t.Error("matches changed: change Version, then run with -update")
	default:
		if err := os.WriteFile(path, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
