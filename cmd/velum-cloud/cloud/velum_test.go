package cloud

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gocloud.dev/blob"
	_ "gocloud.dev/blob/fileblob"
)

// TestVelum masks with velum itself: three months in a store, in batches, one start of which is killed, against
// one run over a folder. Then a night that brings a fourth month.
func TestVelum(t *testing.T) {
	if testing.Short() {
		t.Skip("builds velum")
	}
	dir := t.TempDir()
	velum := filepath.Join(dir, "velum")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-C", "../../..", "-o", velum, "./cmd/velum").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	s := newStore()
	month := func(m int) {
		var text strings.Builder
		text.WriteString("note_id,text\n")
		for i := range 60 {
			fmt.Fprintf(&text, "%d,\"Acude Dolors Ferrer Quintana%d con DNI 4%07dX el 3/%d/2026; tos y fiebre\"\n", m*1000+i, i, i*7919+m, m)
		}
		s.put(t, fmt.Sprintf("%s/2026-%02d.csv", archive, m), text.String())
		if err := writeFile(filepath.Join(dir, "archive", fmt.Sprintf("2026-%02d.csv", m)), text.String()); err != nil {
			t.Fatal(err)
		}
	}
	for m := range 3 {
		month(m + 1)
	}
	var log bytes.Buffer
	run := func(args ...string) (int, error) {
		c := exec.CommandContext(t.Context(), velum, args...)
		c.Stdout, c.Stderr, c.Env = &log, &log, append(os.Environ(), "VELUM_CONFIG=", "HOME="+dir)
		err := c.Run()
		if ended, is := errors.AsType[*exec.ExitError](err); is {
			return ended.ExitCode(), nil
		}
		return 0, err
	}
	o := options(t)
	o.Limit = 20_000 // a batch a month
	o.Args = []string{"--set", "run.workers=2"}
	batches, kill := 0, true
	from := func() (int, error) {
		o.Log = slog.New(slog.NewTextHandler(&log, nil))
		return start(t, s, func(args []string) (int, error) {
			if batches++; batches == 2 && kill {
				code, err := run(args...)
				return code, errors.Join(err, errKilled)
			}
			return run(args...)
		}, o)
	}
	if code, err := from(); !errors.Is(err, errKilled) {
		t.Fatalf("ended with %d: %v\n%s", code, err, &log)
	}
	kill, o.Limit = false, 1<<20 // the others at once
	if code, err := from(); code != 0 || err != nil || batches != 3 {
		t.Fatalf("%d batches, ended with %d: %v\n%s", batches, code, err, &log)
	}
	same(t, s, run, dir)
	month(4)
	if code, err := from(); code != 0 || err != nil {
		t.Fatalf("ended with %d: %v\n%s", code, err, &log)
	}
	same(t, s, run, dir)
	if code, err := from(); code != Nothing || err != nil {
		t.Errorf("ended with %d: %v\n%s", code, err, &log)
	}
	for _, tree := range []string{"", ".private", ".private.cloud"} {
		for key := range s.objects(t, output+tree) {
			log.WriteString(key + "\n")
		}
	}
	for _, word := range []string{"Ferrer", "Dolors", "Quintana", "fiebre"} {
		if strings.Contains(log.String(), word) {
			t.Errorf("%s is in a name or a line of the log", word)
		}
	}
	copied(t, s, run, filepath.Join(dir, "copy"))
}

// same wants the trees of the store to be those of one run over the folder.
func same(t *testing.T, s *store, run func(...string) (int, error), dir string) {
	t.Helper()
	out := filepath.Join(dir, "masked")
	if err := errors.Join(os.RemoveAll(out), os.RemoveAll(out+".private")); err != nil {
		t.Fatal(err)
	}
	if code, err := run("run", "--in", filepath.Join(dir, "archive"), "--out", out); code != 0 || err != nil {
		t.Fatalf("velum run: %d %v", code, err)
	}
	want := map[string]string{}
	for _, tree := range []string{"", ".private"} {
		err := filepath.WalkDir(out+tree, func(name string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() || strings.HasPrefix(e.Name(), ".") {
				return err
			}
			text, err := os.ReadFile(name)
			want[tree+strings.TrimPrefix(name, out+tree)] = string(text)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if got := s.tree(t, output); got != said(want) {
		t.Errorf("another tree:\n%s\nwant\n%s", got, said(want))
	}
}

// copied wants velum to find an output of a store sound that somebody has copied to a folder.
func copied(t *testing.T, s *store, run func(...string) (int, error), to string) {
	t.Helper()
	for _, tree := range []string{"", ".private"} {
		for key, text := range s.objects(t, output+tree) {
			if err := writeFile(filepath.Join(to+tree, key), text); err != nil {
				t.Fatal(err)
			}
		}
	}
	if code, err := run("check", to); code != 0 || err != nil {
		t.Errorf("velum check: %d %v", code, err)
	}
}

// TestFolders does without memory: input and output are folders of this machine, by the driver for them.
func TestFolders(t *testing.T) {
	dir := t.TempDir()
	for i := range 3 {
		if err := writeFile(filepath.Join(dir, "archive", fmt.Sprint(i, ".txt")), strings.Repeat(fmt.Sprint("note ", i), 100)); err != nil {
			t.Fatal(err)
		}
	}
	o := Options{In: []string{filepath.Join(dir, "archive")}, Out: "file://" + dir + "/masked", Scratch: t.TempDir(), Limit: 1 << 20, Log: slog.New(slog.DiscardHandler), Open: blob.OpenBucket}
	o.Velum = func(_ context.Context, out io.Writer, _ *os.File, args ...string) (int, error) {
		if out != nil {
			return 0, nil
		}
		return toy(args)
	}
	for i, want := range []int{0, Nothing, 0, 0} {
		if code, err := Run(t.Context(), &o); code != want {
			t.Errorf("start %d ended with %d: %v", i, code, err)
		}
		switch i {
		case 1: // one file, by its name
			o.In = []string{filepath.Join(dir, "more.txt")}
			if err := writeFile(o.In[0], "one more"); err != nil {
				t.Fatal(err)
			}
		case 2:
			o.Args = []string{"--fresh"}
		}
	}
	var out bytes.Buffer
	if code, err := Check(t.Context(), &o, &out); code != 0 || err != nil {
		t.Errorf("check: %d %v\n%s", code, err, &out)
	}
	parts, err := os.ReadDir(filepath.Join(dir, "masked", "parts"))
	if len(parts) != 4 || err != nil {
		t.Errorf("%d parts %v", len(parts), err)
	}
}
