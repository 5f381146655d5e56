// Command torture runs the velum binary through what a bad year brings, and
// says what it found: `make torture`. Every test prints one line with its
// figures and its seed; the exit code is 1 if one of them failed.
//
//	notes   bad notes and their mutations: all come out masked or in quarantine
//	obfuscation
//	        identifiers of 25 kinds in 23 forms, both profiles: none with check digits is readable
//	oracle  candidates filled into hidden values, both profiles: nothing public singles one out
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
//	rules   files of rules and of recognizers that are broken or mean harm, and notes of a megabyte: an error with its place, or an end in time
//	full    a disk that is too small: exit code 14, and with more room the same tree
//
// and, on a disk in memory (package disk), in place of the binary a run whose
// notes are numbers:
//
//	power   processes die, the power goes: nothing is lost that was synced, nothing is half there
//	grow    the same while months come to an output: what was committed stays; shards: while processes share a run, stop, and finish twice
//	models  the same while models are promoted and rolled back
//	nth     every operation fails in turn, once and from then on
//	pairs   every pair of failpoints of a run and of its resumption
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
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/scripts/torture/disk"
	"github.com/velum-health/velum/stages/synth"
	"github.com/velum-health/velum/stages/write"
)

// torture is what the tests share.
type torture struct {
	velum string
	dir   string
	short bool
	seed  uint64
	rng   *rand.Rand

	ended context.Context // by SIGINT or SIGTERM
	limit time.Duration   // for each test but notes, canary, nth and pairs
	began time.Time
}

var tests = []struct {
	name string
	do   func(t *torture) (figures string, err error)
}{
	{"notes", (*torture).notes},
	{"obfuscation", (*torture).obfuscation},
	{"oracle", (*torture).oracle},
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
	{"power", func(t *torture) (string, error) { return t.seeds(10_000, 100, disk.Power) }},
	{"grow", func(t *torture) (string, error) { return t.seeds(3_000, 30, disk.Grow) }},
	{"shards", func(t *torture) (string, error) { return t.seeds(10_000, 20, disk.Shards) }},
	{"models", func(t *torture) (string, error) { return t.seeds(10_000, 100, disk.Models) }},
	{"nth", (*torture).nth},
	{"pairs", (*torture).pairs},
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	t := &torture{ended: ctx}
	flag.StringVar(&t.velum, "velum", "bin/velum", "binary")
	flag.BoolVar(&t.short, "short", false, "the short forms, for `go test`")
	flag.Uint64Var(&t.seed, "seed", 1, "of everything that is drawn")
	flag.DurationVar(&t.limit, "for", 0, "stop tests that repeat themselves after so long; 0: do all turns")
	only := flag.String("only", "", "names of tests, with commas; all if left out")
	flag.Parse()
	if err := t.run(*only); err != nil {
		fmt.Fprintln(os.Stderr, "torture:", err)
		os.Exit(1)
	}
}

// run does the tests and returns how many failed.
func (t *torture) run(only string) (err error) {
	if t.velum, err = filepath.Abs(t.velum); err != nil {
		return err
	}
	if t.dir, err = os.MkdirTemp("", "velum-torture-"); err != nil {
		return err
	}
	defer os.RemoveAll(t.dir)
	failed := 0
	for i, test := range tests {
		if t.ended.Err() != nil {
			return errors.New("stopped; the other tests are left out")
		}
		if only != "" && !strings.Contains(","+only+",", ","+test.name+",") {
			continue
		}
		t.rng = rand.New(rand.NewPCG(t.seed, uint64(i)))
		t.began = time.Now()
		figures, err := test.do(t)
		verdict := "ok"
		if err != nil {
			failed++
			verdict = "FAILED: " + err.Error()
		}
		fmt.Printf("%-7s seed %d: %s; %.0f s; %s\n", test.name, t.seed, figures, time.Since(t.began).Seconds(), verdict)
	}
	if failed > 0 {
		return fmt.Errorf("%d tests failed", failed)
	}
	return nil
}

// times returns the number of turns.
func (t *torture) times(long, short int) int {
	if t.short {
		return short
	}
	return long
}

// over tells whether the time of a test is up, or somebody wants its figures
// now.
func (t *torture) over() bool {
	return t.ended.Err() != nil || t.limit > 0 && time.Since(t.began) > t.limit
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
		"--set", "read.unit_notes=1000", "--set", "write.max_quarantined=1", "--set", "tag.cache=8MiB"}, flags...)...)
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
func sum(out string) (string, error) {
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
