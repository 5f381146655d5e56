package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"hash"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/stages/synth"
	"github.com/velum-health/velum/stages/write"
)

// longForm asks for the long forms of the tests on reliability: `make torture`.
var longForm = flag.Bool("long", false, "the long forms of the tests on reliability, some hours in all")

// turns is how often a test repeats itself.
func turns(many, few int) int {
	if *longForm {
		return many
	}
	return few
}

// torture is what the tests on the binary share.
type torture struct {
	*testing.T
	velum string
	dir   string
	seed  uint64
	rng   *rand.Rand
}

// tortures are the tests of TestTorture:
//
//	notes   bad notes and their mutations: all come out masked or in quarantine
//	obfuscation
//	        identifiers of 25 kinds in 23 forms, both profiles: none with check digits is readable
//	canary  invented identifiers: none is in anything that may be given away
//	extracts
//	        the same of what velum mask and reveal write, log and leave, under every policy
//	order   workers and file order: one tree, byte for byte
//	double  two starts, of runs and of extracts, at the same moment: one winner, one exit code 11
//	flips   bits that change on the disk: all are found by `velum check`
//	kill    kill -9 at random times: resumed, the tree is that of an undisturbed run
//	verbs   every verb that writes, killed, terminated or stopped: what is there is whole, the next start makes the rest
//	stops   runs told to end at any moment, alone or with their workers: the exit code of a stop, and the next start makes the rest
//	months  an output grows month by month in any order, killed and stopped on the way: the tree is that of one run; nested outputs are refused, months that vanish stay or go
//	freezes the program or its decode workers stopped, up to 11 s: the tree of an undisturbed run
//	stalls  a disk that answers late, up to 11 s a read: the same
//	replaced
//	        inputs that are replaced, rewritten, shrunk or removed during a run: after the next start the tree of one run over what is there
//	outputs outputs inside, around and in place of others: refused, nothing is touched
//	folders odd names, deep folders, pipes, sockets, devices, dangling links: every note accounted for
//	machine sparse files of 10 GB, trees and folders swapped for links, files of two names: refused and named, or read, in bounded memory
//	rules   files of rules that are broken or mean harm, and notes of a megabyte: an error with its place, or an end in time
//	full    a disk that is too small: exit code 14, and with more room the same tree
var tortures = []struct {
	name string
	do   func(t *torture) (figures string, err error)
}{
	{"notes", (*torture).notes},
	{"obfuscation", (*torture).obfuscation},
	{"canary", (*torture).canary},
	{"extracts", (*torture).extracts},
	{"order", (*torture).order},
	{"double", (*torture).double},
	{"flips", (*torture).flips},
	{"kill", (*torture).kill},
	{"verbs", (*torture).verbs},
	{"derived", (*torture).derive},
	{"doubles", (*torture).doubles},
	{"stops", (*torture).stops},
	{"months", (*torture).months},
	{"freezes", (*torture).freezes},
	{"stalls", (*torture).stalls},
	{"replaced", (*torture).replaced},
	{"outputs", (*torture).outputs},
	{"folders", (*torture).folders},
	{"machine", (*torture).machine},
	{"full", (*torture).full},
	{"rules", (*torture).rules},
}

// TestTorture runs the velum binary, built of this tree, through what a bad year brings.
func TestTorture(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the binary and runs it some hundred times")
	}
	velum := filepath.Join(t.TempDir(), "velum")
	if text, err := exec.Command("go", "build", "-o", velum, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	for i, test := range tortures {
		t.Run(test.name, func(t *testing.T) {
			const seed = 2
			figures, err := test.do(&torture{T: t, velum: velum, dir: t.TempDir(), seed: seed, rng: rand.New(rand.NewPCG(seed, uint64(i)))})
			if err != nil {
				t.Fatalf("%s: %v", figures, err)
			}
			t.Log(figures)
		})
	}
}

func (t *torture) path(names ...string) string {
	return filepath.Join(append([]string{t.dir}, names...)...)
}

// clear removes output trees.
func (t *torture) clear(outs ...string) error {
	var errs []error
	for _, out := range outs {
		errs = append(errs, os.RemoveAll(out), os.RemoveAll(out+".private"))
	}
	return errors.Join(errs...)
}

// mask is the command of a run with small units.
func (t *torture) mask(in, out string, flags ...string) *exec.Cmd {
	return exec.Command(t.velum, append([]string{"run", "-q", "--in", in, "--out", out,
		"--set", "read.unit_notes=1000", "--set", "write.max_quarantined=1"}, flags...)...)
}

// extract is the command of an extract of what a run has tagged.
func (t *torture) extract(in, tagged, out string, flags ...string) *exec.Cmd {
	return exec.Command(t.velum, append([]string{"mask", "-q", "--tagged", tagged, "--in", in, "--out", out, "--set", "read.unit_notes=1000", "--set", "mask.again=allow"}, flags...)...)
}

// code runs a command and returns its exit code, -1 if a signal ended it.
func code(c *exec.Cmd) (int, error) {
	text, err := c.CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode(), nil
	}
	if err != nil {
		return 0, fmt.Errorf("%w: %s", err, text)
	}
	return 0, nil
}

// must runs a command that has to end with the exit code.
func must(want int, c *exec.Cmd) error {
	text, err := c.CombinedOutput()
	if got := c.ProcessState.ExitCode(); got != want {
		return fmt.Errorf("exit code %d, want %d: %s (%v)", got, want, strings.TrimSpace(string(text)), err)
	}
	return nil
}

// archive makes files of so many notes each, in row groups of 500.
func (t *torture) archive(name string, files, notes int) error {
	for f := range files {
		dir := t.path(name, fmt.Sprintf("month=%02d", f+1))
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		src := synth.New(synth.Options{Notes: int64(notes), First: int64(f * notes), Seed: t.seed, Batch: 500})
		w := write.NewArchive(filepath.Join(dir, "notes.parquet"), 500, write.TextOptions{})
		if err := errors.Join(pipeline.Run(context.Background(), src, nil, w, nil), w.Close()); err != nil {
			return err
		}
	}
	return nil
}

// sum is a hash of both trees of an output: names and bytes of all files but
// the audit log and the list of inputs, which say when and where.
func sumOfTrees(out string) (string, error) {
	h := sha256.New()
	err := errors.Join(addTree(h, out), addTree(h, out+".private"))
	return fmt.Sprintf("%x", h.Sum(nil)[:8]), err
}

func addTree(h hash.Hash, dir string) error {
	return filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() && e.Name() == "_audit" {
			return fs.SkipDir
		}
		if !e.Type().IsRegular() || e.Name() == "_inputs" { // where they lay
			return nil
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		below, err := filepath.Rel(dir, name)
		fmt.Fprintf(h, "%s %d\n", below, len(data))
		h.Write(data)
		return err
	})
}
