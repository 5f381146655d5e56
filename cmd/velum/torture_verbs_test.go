package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// A writer is a verb that writes, as it is called in a folder of its own. What
// it reads lies in ../given (made by givenFiles).
type writer struct {
	name string
	args string   // with {} for ../given
	from []string // trees of given that are copied into the folder first
	// grows: after a kill a part of what it writes may stand under its name, and
	// the next start goes on from there. The others write all of a file or none.
	grows bool
	once  bool // what it writes may not be there already
	quick bool // is part of the short form
	// leaves is a folder that a kill may leave, and that the next start wants gone.
	leaves string
}

// writers are all verbs that write anything, with every kind of thing that they
// write.
var writers = []writer{
	{name: "run", args: "run --in {}/in --out out --model {}/m.velum --audit 5 --metrics m.prom", grows: true},
	{name: "mask", args: "mask --set mask.again=allow --tagged {}/out --in {}/in --out ext --model {}/m.velum --policy research --recall 0 --set key.file={}/key --without-patient", grows: true, quick: true},
	{name: "forget", args: "run forget --out out --model {}/m.velum {}/in/year=2026/month=01", from: []string{"out", "out.private"}, grows: true, quick: true},
	{name: "learn", args: "teach learn --in {}/in --gold {}/gold.jsonl --dev {}/dev.jsonl --out learned --slice 100 --turns 1 --k 20 --set train.iterations=5", grows: true},
	{name: "promote", args: "model promote {}/n.velum --models models --force", from: []string{"models"}, grows: true, quick: true},
	{name: "reveal", args: "mask reveal --in {}/sealed.parquet --out open.jsonl --set key.file={}/key", quick: true},
	{name: "tag", args: "model tag --in {}/dev.jsonl --out tagged.jsonl --model {}/m.velum"},
	{name: "tag to Parquet", args: "model tag --in {}/dev.jsonl --out tagged.parquet --model {}/m.velum"},
	{name: "convert to Parquet", args: "teach convert --in {}/dev.jsonl --out dev.parquet"},
	{name: "convert to CSV", args: "teach convert --in {}/dev.jsonl --out dev.csv.gz"},
	{name: "convert to brat", args: "teach convert --in {}/dev.jsonl --out dev --to brat", quick: true},
	{name: "synth", args: "teach synth --notes 500 --out notes.jsonl"},
	{name: "synth archive", args: "teach synth --notes 500 --out notes --to archive", once: true, quick: true},
	{name: "embed", args: "teach embed --in {}/gold.jsonl --out e.velum --dim 10 --epochs 1 --min-count 1 --min-notes 1 --clusters 4 --workers 1"},
	{name: "gazetteer", args: "teach gazetteer build --out g.velum GivenName={}/given.csv?form=name", quick: true},
	{name: "train crf", args: "teach train --kind crf --train {}/dev.jsonl --iterations 4 --out m.velum"},
	{name: "train bilstm", args: "teach train --kind bilstm --train {}/dev.jsonl --epochs 2 --out b.velum"},
	{name: "train dictionary", args: "teach train --kind dictionary --gazetteer {}/g.velum --archive {}/gold.jsonl --out d.velum"},
	{name: "train ensemble", args: "teach train --kind ensemble --members {}/m.velum,{}/n.velum --mode vote --train {}/dev.jsonl --out ens.velum"},
	{name: "train morph", args: "teach train --kind morph --train {}/a.conllu --out morph.velum"},
	{name: "man", args: "help man man"},
}

// command is the verb in a folder below t.dir.
func (w *writer) command(t *torture, dir string) *exec.Cmd {
	args := append(strings.Fields(strings.ReplaceAll(w.args, "{}", "../given")), "-q")
	c := exec.Command(t.velum, args...)
	c.Dir = dir
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return c
}

// givenFiles makes what the verbs read.
func (t *torture) givenFiles() error {
	given := t.path("given")
	if _, err := os.Stat(filepath.Join(given, "sealed", "_SUCCESS")); err == nil {
		return nil // a test before has made them, this one last
	}
	if err := os.MkdirAll(given, 0o700); err != nil {
		return err
	}
	for name, text := range map[string]string{
		"key":        strings.Repeat("0123456789abcdef", 4) + "\n",
		"given.csv":  "name;count\nMarta;100\nJoan;80\n",
		"people.csv": "patient_id,given,surname\n1,Oriol,Serrallonga\n2,Imma,Puigdevall\n,Marta,Torra\n", "objects.csv": "patient_id\n3\n",
		"a.conllu": "1\tla\tel\tDET\t_\t_\t2\tdet\t_\t_\n2\ttos\ttos\tNOUN\t_\t_\t0\troot\t_\t_\n\n",
	} {
		if err := os.WriteFile(filepath.Join(given, name), []byte(text), 0o400); err != nil {
			return err
		}
	}
	for _, args := range []string{
		"teach synth --notes 300 --seed 1 --density 3 --out in --to archive", "teach synth --notes 80 --seed 2 --split train --density 5 --out gold.jsonl",
		"teach synth --notes 60 --seed 3 --split train --density 5 --out dev.jsonl",
		"teach train --kind crf --train gold.jsonl --dev dev.jsonl --iterations 6 --out m.velum", "teach train --kind crf --train gold.jsonl --iterations 3 --out n.velum",
		"teach gazetteer build --out g.velum GivenName=given.csv?form=name", "model promote m.velum --models models",
		"run --in in --out out --model m.velum", "mask --set mask.again=allow --tagged out --in in --out sealed --model m.velum --set mask.operators=PERSON=encrypt --set key.file=key",
	} {
		c := exec.Command(t.velum, append(strings.Fields(args), "-q")...)
		c.Dir = given
		if err := must(0, c); err != nil {
			return fmt.Errorf("velum %s: %w", args, err)
		}
	}
	parts, err := filepath.Glob(filepath.Join(given, "sealed", "masked", "*", "*", "*.parquet"))
	if err == nil && len(parts) == 0 {
		err = errors.New("no sealed part")
	}
	if err != nil {
		return err
	}
	return os.Rename(parts[0], filepath.Join(given, "sealed.parquet"))
}

// verbs ends every verb that writes at a random time: with kill -9, alone or
// with its workers, with SIGTERM, or it or its workers are stopped for a while.
// What stands under its name then is whole, and the next start makes what an
// undisturbed one makes and leaves nothing else.
func (t *torture) verbs() (string, error) { return t.disturbed(writers) }

// disturbed does it for some verbs.
func (t *torture) disturbed(writers []writer) (string, error) {
	if err := t.givenFiles(); err != nil {
		return "", err
	}
	undisturbed := make([]*wholeWork, len(writers))
	ends, failed, verbs, rounds := map[string]int{}, map[string]error{}, 0, 0
	for ; rounds < turns(12, 1); rounds++ {
		for i := range writers {
			w := &writers[i]
			if !*longForm && !w.quick || failed[w.name] != nil {
				continue
			}
			if undisturbed[i] == nil {
				verbs++
				var err error
				if undisturbed[i], err = t.wholeWork(w); err != nil {
					return "", fmt.Errorf("%s: %w", w.name, err)
				}
			}
			if err := t.disturb(w, undisturbed[i], ends); err != nil {
				failed[w.name] = fmt.Errorf("%s, turn %d: %w", w.name, rounds, err)
			}
		}
	}
	return fmt.Sprintf("%d verbs, %d times each: %v; what was there was whole, and the next start made what an undisturbed one makes", verbs, rounds, ends),
		errors.Join(slices.Collect(maps.Values(failed))...)
}

// wholeWork is what a verb does when nobody disturbs it.
type wholeWork struct {
	before, after map[string]string // hashes of the files of its folder
	took          time.Duration
}

func (t *torture) wholeWork(w *writer) (*wholeWork, error) {
	dir := t.path("verb.whole")
	before, err := t.begin(w, dir)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	if err := must(0, w.command(t, dir)); err != nil {
		return nil, err
	}
	took := time.Since(began)
	after, err := filesBelow(dir)
	return &wholeWork{before, after, took}, errors.Join(err, os.RemoveAll(dir))
}

// begin makes the folder that a verb writes in and returns what is in it.
func (t *torture) begin(w *writer, dir string) (map[string]string, error) {
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o700)); err != nil {
		return nil, err
	}
	for _, tree := range w.from {
		if err := os.CopyFS(filepath.Join(dir, tree), os.DirFS(t.path("given", tree))); err != nil {
			return nil, err
		}
		if err := filepath.WalkDir(filepath.Join(dir, tree), private); err != nil {
			return nil, err
		}
	}
	return filesBelow(dir)
}

// private makes a copied tree its owner's alone, as velum's trees are.
func private(name string, e fs.DirEntry, err error) error {
	if err != nil {
		return err
	}
	if e.IsDir() {
		return os.Chmod(name, 0o700)
	}
	return os.Chmod(name, 0o600)
}

// disturb does one turn of a verb.
func (t *torture) disturb(w *writer, whole *wholeWork, ends map[string]int) error {
	dir := t.path("verb")
	if _, err := t.begin(w, dir); err != nil {
		return err
	}
	c := w.command(t, dir)
	how, err := t.endSomehow(c, time.Duration(t.rng.Float64()*1.1*float64(whole.took)))
	if err != nil {
		return err
	}
	ends[how]++
	if !w.grows {
		have, err := filesBelow(dir)
		if err != nil {
			return err
		}
		for name, sum := range have {
			if !temporary(name) && sum != whole.after[name] && sum != whole.before[name] {
				return fmt.Errorf("%s: %s is there and not whole", how, name)
			}
		}
	}
	if w.once && (how == "held" || how == "ended before" || t.same(how, dir, whole.after) == nil) {
		return t.same(how, dir, whole.after) // a kill may come when all is there
	}
	if w.leaves != "" {
		if err := os.RemoveAll(filepath.Join(dir, w.leaves)); err != nil {
			return err
		}
	}
	got, err := code(w.command(t, dir))
	if err == nil && got != 0 && (got != 4 || !w.grows) {
		err = fmt.Errorf("the next start ended with exit code %d", got)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", how, err)
	}
	return t.same(how, dir, whole.after)
}

// temporary tells whether a file, or a folder that it is in, has a name that
// promises nothing.
func temporary(name string) bool {
	return slices.ContainsFunc(strings.Split(name, "/"), func(part string) bool {
		return strings.HasPrefix(part, ".") || strings.HasSuffix(part, ".tmp")
	})
}

// same checks that a folder has the files that are wanted and no others.
func (t *torture) same(how, dir string, want map[string]string) error {
	have, err := filesBelow(dir)
	if err == nil && !maps.Equal(have, want) {
		err = fmt.Errorf("%s: left %v", how, difference(have, want))
	}
	return err
}

// endSomehow starts a command and ends it, or holds it up, after a while. It
// says how it ended.
func (t *torture) endSomehow(c *exec.Cmd, after time.Duration) (how string, err error) {
	said, err := os.Create(t.path("said")) // a file: Wait would wait for workers with a pipe
	if err != nil {
		return "", err
	}
	defer said.Close()
	c.Stderr = said
	if err := c.Start(); err != nil {
		return "", err
	}
	time.Sleep(after)
	held := false
	switch t.rng.IntN(6) {
	case 0, 1:
		_ = c.Process.Kill() // it may have ended
	case 2:
		_ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL)
	case 3:
		_ = syscall.Kill(c.Process.Pid, syscall.SIGTERM)
	case 4:
		held = true
		t.hold(-c.Process.Pid)
	case 5:
		held = true
		for _, worker := range children(c.Process.Pid) {
			t.hold(worker)
		}
	}
	_ = c.Wait() // the state says how
	switch n := c.ProcessState.ExitCode(); {
	case n == -1:
		return "killed", nil
	case n == 143:
		return "terminated", nil
	case n == 0 && held:
		return "held", nil
	case n == 0:
		return "ended before", nil
	default:
		text, err := os.ReadFile(said.Name())
		return "", errors.Join(fmt.Errorf("exit code %d: %s", n, text), err)
	}
}

// unsteady are names of files that say when or where something was done.
var unsteady = []string{"_inputs", "_CURRENT", "_forgotten", "m.prom"} // _forgotten has a secret of its own

// filesBelow returns the hash of every file of a folder, by name; audit logs
// and other unsteady files are only named.
func filesBelow(dir string) (map[string]string, error) {
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		below, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		files[below] = ""
		if slices.Contains(unsteady, e.Name()) || filepath.Base(filepath.Dir(name)) == "_audit" {
			return nil
		}
		data, err := os.ReadFile(name)
		files[below] = fmt.Sprintf("%x", sha256.Sum256(data))
		return err
	})
	return files, err
}

// difference names the files that differ, are missing, or are too many.
func difference(have, want map[string]string) (names []string) {
	for name, sum := range have {
		if w, ok := want[name]; !ok {
			names = append(names, name+" too many")
		} else if w != sum {
			names = append(names, name+" of other bytes")
		}
	}
	for name := range want {
		if _, ok := have[name]; !ok {
			names = append(names, name+" missing")
		}
	}
	slices.Sort(names)
	return names
}
