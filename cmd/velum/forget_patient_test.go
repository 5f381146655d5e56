package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/pipeline/durable"
)

// dying is a file system of a process that dies at its operation number left that
// changes something.
type dying struct {
	durable.FS
	left *atomic.Int64
}

// theirID is the patient's id, and no four digits of a digest.
var theirID = regexp.MustCompile(`(?:^|[^0-9a-f])0003(?:[^0-9a-f]|$)`)

func (d dying) step() error {
	if d.left.Add(-1) < 0 {
		return errors.New("died")
	}
	return nil
}

func (d dying) OpenFile(name string, flag int, perm fs.FileMode) (durable.File, error) {
	if flag&os.O_CREATE != 0 {
		if err := d.step(); err != nil {
			return nil, err
		}
	}
	return d.FS.OpenFile(name, flag, perm)
}

func (d dying) Rename(from, to string) error {
	if err := d.step(); err != nil {
		return err
	}
	return d.FS.Rename(from, to)
}

func (d dying) Remove(name string) error {
	if err := d.step(); err != nil {
		return err
	}
	return d.FS.Remove(name)
}

func (d dying) Mkdir(name string, perm fs.FileMode) error {
	if err := d.step(); err != nil {
		return err
	}
	return d.FS.Mkdir(name, perm)
}

func (d dying) SyncDir(name string) error {
	if err := d.step(); err != nil {
		return err
	}
	return d.FS.SyncDir(name)
}

// kinds are outputs of every kind.
var kindsOfOutput = map[string]string{
	"plain":         "",
	"k, anew":       " --k 2 --set read.keep=center --set anonymity.columns=center=value --set anonymity.releases=anew",
	"k-anonymity":   " --k 2 --set read.keep=center --set anonymity.columns=center=value",
	"dropped ids":   " --set read.ids=drop",
	"known people":  " --people PEOPLE --set choose.use=false",
	"keyed, pseudo": " --policy research --recall 0 --set key.file=KEY --set mask.purpose=test --set read.ids=keyed",
}

// TestForgetPatient: of outputs of every kind, several months, a forgotten patient
// leaves the tree of a run with that objection, at whatever moment the first try
// died: 120 moments in all. What comes later does not take the patient up again.
func TestForgetPatient(t *testing.T) {
	type note struct {
		ID      string  `parquet:"note_id"`
		Patient *string `parquet:"nhc,optional"`
		Center  string  `parquet:"center"`
		Text    string  `parquet:"text"`
	}
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in"), filepath.Join(dir, "out")
	for month := range 3 {
		var notes []note
		for i := range 12 {
			who := fmt.Sprintf("%04d", i/2)
			notes = append(notes, note{fmt.Sprintf("%d-%d", month, i), &who, fmt.Sprint("centre ", i%2), "Acude con su hija Dolors Ferrer Puig, tel 612345678. Refiere tos."})
		}
		name := filepath.Join(in, fmt.Sprintf("month=%d", month), "a.parquet")
		if month == 2 {
			notes = notes[:4] // without the patient
		}
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), parquet.WriteFile(name, notes)); err != nil {
			t.Fatal(err)
		}
	}
	files := map[string]string{"KEY": strings.Repeat("0123456789abcdef", 4), "PEOPLE": "patient_id,given,surname\n0003,Dolors,Ferrer\n", "LIST": "patient_id\n0003\n"}
	var names []string
	for name, text := range files {
		path := filepath.Join(dir, strings.ToLower(name)+".csv")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		names = append(names, name, path)
	}
	velum := func(d durable.FS, args string) (exit.Code, string) {
		var errs bytes.Buffer
		a := newApp(&errs, &errs, nil)
		a.disk = d
		args += " --set read.columns.patient=nhc -q"
		return a.run(strings.Fields(strings.NewReplacer(names...).Replace(args))), errs.String()
	}
	must := func(args string, want exit.Code) {
		t.Helper()
		if code, said := velum(nil, args); code != want {
			t.Fatalf("velum %s: exit code %d, want %d: %s", args, code, want, said)
		}
	}
	gold, model := filepath.Join(dir, "gold.jsonl"), filepath.Join(dir, "tiny.velum")
	for _, args := range []string{"teach synth --notes 150 --seed 3 --split train --density 5 --out " + gold, "teach train --kind crf --train " + gold + " --out " + model + " --set train.iterations=3"} {
		must(args, exit.Done)
	}
	names = append(names, "MODEL", model)
	for kind, options := range kindsOfOutput {
		options += " --model MODEL"
		run, forget := "run --in "+in+options+" --out ", "run forget --patient 0003"+options+" --out "
		want := filepath.Join(dir, strings.ReplaceAll(kind, " ", ""), "want") // outputs in one folder know of each other's releases
		must(run+want+" --exclude LIST", exit.Done)
		must(run+out, exit.Done)
		before := [2]string{filepath.Join(dir, "before"), filepath.Join(dir, "before.private")}
		for i, root := range []string{out, out + ".private"} {
			if err := errors.Join(os.RemoveAll(before[i]), os.CopyFS(before[i], os.DirFS(root))); err != nil {
				t.Fatal(err)
			}
		}
		restore := func() {
			for i, root := range []string{out, out + ".private"} {
				if err := errors.Join(os.RemoveAll(root), os.CopyFS(root, os.DirFS(before[i])), os.Chmod(root, 0o700)); err != nil {
					t.Fatal(err)
				}
			}
		}
		const all = 1 << 30
		var count, left atomic.Int64
		count.Store(all)
		if code, said := velum(dying{durable.OS, &count}, forget+out); code != exit.Done {
			t.Fatalf("%s: %d %s", kind, code, said)
		}
		steps := all - count.Load()
		if kind == "k-anonymity" { // what was generalized stays as it was released, so no run of today makes it
			for _, root := range []string{"", ".private"} {
				if err := errors.Join(os.RemoveAll(want+root), os.CopyFS(want+root, os.DirFS(out+root))); err != nil {
					t.Fatal(err)
				}
			}
		}
		sameTrees(t, kind, out, want)
		must(forget+out, exit.Nothing)
		must(run+out, exit.Nothing)
		restore() // the work may be shared, too
		must(forget+out+" --plan", exit.Done)
		for share := range 2 {
			must(fmt.Sprintf("run --plan %s --shard %d/2", out, share+1), exit.Done)
		}
		must("run finish "+out, exit.Done)
		sameTrees(t, kind+", by shares", out, want)
		for moment := range 20 {
			restore()
			left.Store(steps * int64(moment) / 20)
			if code, _ := velum(dying{durable.OS, &left}, forget+out); code == exit.Done {
				t.Fatalf("%s: did not die at moment %d", kind, moment)
			}
			end := forget
			if moment%4 == 3 && left.Load() < 0 {
				if _, err := os.Stat(filepath.Join(out+".private", "_forgotten")); err == nil {
					end = run // whatever comes next ends it
				}
			}
			if code, said := velum(nil, end+out); code != exit.Done && code != exit.Nothing {
				t.Fatalf("%s, moment %d: %d %s", kind, moment, code, said)
			}
			sameTrees(t, fmt.Sprintf("%s, moment %d", kind, moment), out, want)
		}
		must("check "+out+" --exclude LIST --in "+in, exit.Done)
		log, err := os.ReadFile(filepath.Join(out+".private", "_audit", "audit.jsonl"))
		if err != nil || !bytes.Contains(log, []byte(`"patient_mark"`)) || theirID.Match(log) {
			t.Errorf("%s: the audit log: %v", kind, err)
		}
		if err := errors.Join(os.RemoveAll(out), os.RemoveAll(out+".private"), os.RemoveAll(before[1])); err != nil {
			t.Fatal(err)
		}
	}
}

// sameTrees compares the manifests of two outputs, which name every byte.
func sameTrees(t *testing.T, what, got, want string) {
	t.Helper()
	for _, private := range []string{"", ".private"} {
		a, err1 := os.ReadFile(filepath.Join(got+private, "manifest.json"))
		b, err2 := os.ReadFile(filepath.Join(want+private, "manifest.json"))
		if err1 != nil || err2 != nil || !bytes.Equal(a, b) {
			t.Fatalf("%s: the manifest of out%s is another: %v %v", what, private, err1, err2)
		}
		if _, err := os.Stat(filepath.Join(got+private, "_runs")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: out%s is not finished", what, private)
		}
	}
	a := newApp(&bytes.Buffer{}, &bytes.Buffer{}, nil)
	if code := a.run([]string{"check", "-q", got}); code != exit.Done {
		t.Errorf("%s: check ends with %d", what, code)
	}
}
