package main

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
)

// TestOnePathEveryMonth: twelve months that lie at one path one after the other,
// three of them delivered again with corrections, make the trees of twelve paths,
// byte for byte, and so they are when the last file has gone.
func TestOnePathEveryMonth(t *testing.T) {
	dir := t.TempDir()
	velum := func(want exit.Code, args ...string) (errs string) {
		t.Helper()
		var out, log bytes.Buffer
		if code := start(append(args, "--quiet"), &out, &log, nil); code != want || args[0] == "run" && out.Len() > 0 {
			t.Fatalf("velum %v: exit code %d, want %d, %d bytes on stdout: %s", args, code, want, out.Len(), log.String())
		}
		return log.String()
	}
	train, model := filepath.Join(dir, "train.jsonl"), filepath.Join(dir, "tiny.velum")
	velum(0, "teach", "synth", "--notes", "100", "--seed", "3", "--split", "train", "--density", "5", "--out", train)
	velum(0, "teach", "train", "--kind", "crf", "--train", train, "--out", model, "--set", "train.iterations=3")
	one, twelve := filepath.Join(dir, "one"), filepath.Join(dir, "twelve")
	inbox := filepath.Join(dir, "inbox", "notes.csv")
	path := func(month int) string { return filepath.Join(dir, string(rune('a'+month)), "notes.csv") }
	put := func(at string, month int, corrected bool) {
		t.Helper()
		var b strings.Builder
		b.WriteString("note_id,text\n")
		for i := range 20 {
			text := "Sin fiebre desde el control de la semana."
			if corrected && i == 3 {
				text = "Con fiebre desde el control de la semana."
			}
			fmt.Fprintf(&b, "%d,%s Visita %d del mes %d\n", 100*month+i, text, i, month)
		}
		if corrected {
			fmt.Fprintf(&b, "%d,Una visita que faltaba\n", 100*month+20)
		}
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	deliver := func(month int, corrected bool) {
		t.Helper()
		for _, side := range [][2]string{{inbox, one}, {path(month), twelve}} {
			put(side[0], month, corrected)
			log := velum(0, "run", "--in", filepath.Dir(side[0]), "--out", side[1], "--model", model)
			if said := strings.Contains(log, "new version"); said != corrected {
				t.Errorf("month %d, corrected: %v, and the log says %q", month, corrected, log)
			}
		}
	}
	for month := range 12 {
		deliver(month, false)
		if month%5 == 4 {
			deliver(month-2, true)
		}
	}
	deliver(11, true)
	same := func(what string) {
		t.Helper()
		for _, tree := range []string{"", ".private"} {
			if a, b := treeBytes(t, one+tree), treeBytes(t, twelve+tree); a != b {
				t.Fatalf("%s: the trees %s differ", what, tree)
			}
		}
		velum(0, "check", one)
	}
	same("all months")
	for _, gone := range []string{inbox, path(11)} {
		if err := os.Remove(gone); err != nil {
			t.Fatal(err)
		}
	}
	for _, side := range [][2]string{{inbox, one}, {path(11), twelve}} {
		other := filepath.Join(filepath.Dir(side[0]), "other.csv") // behind notes.csv, as behind all months
		put(other, 20, false)
		velum(0, "run", "--in", filepath.Dir(other), "--out", side[1], "--model", model, "--set", "run.vanished=remove")
	}
	same("the last file has gone")
}

// treeBytes is all files of a tree with their names, but for what says when and
// where.
func treeBytes(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || strings.HasPrefix(e.Name(), "_") {
			if err == nil && e.IsDir() {
				return fs.SkipDir
			}
			return err
		}
		if e.IsDir() {
			return nil
		}
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, name)
		fmt.Fprintf(&b, "%s\n", rel)
		_, err = io.Copy(&b, f)
		f.Close()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}
