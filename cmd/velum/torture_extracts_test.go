package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/parquet-go/parquet-go"

	"github.com/velum-health/velum/configs"
)

// extracts makes extracts of notes full of canaries under every built-in policy
// and with encrypted values, in ways that end well and in ways that fail, opens
// the encrypted ones again, and searches all that was written outside the
// private trees and the opened file.
func (t *torture) extracts() (string, error) {
	set, rows := canaryNotes(t.rng, turns(2500, 100))
	in, tagged, out, tmp, key := t.path("extracts", "a.parquet"), t.path("extracts.tagged"), t.path("extracts.out"), t.path("extracts.tmp"), t.path("extracts.key")
	err := errors.Join(os.MkdirAll(filepath.Dir(in), 0o700), os.Mkdir(tmp, 0o700), os.WriteFile(key, []byte(strings.Repeat("0123456789abcdef", 4)), 0o400))
	if err := errors.Join(err, parquet.WriteFile(in, rows, parquet.MaxRowsPerRowGroup(1000))); err != nil {
		return "", err
	}
	if err := must(0, t.mask(in, tagged)); err != nil {
		return "", err
	}
	var all [][]string // flags of an extract
	for _, policy := range configs.Policies() {
		all = append(all, []string{"--policy", policy})
	}
	sealed := []string{"--set", "mask.operators=PERSON=encrypt,DNI=encrypt,TELEPHONE=encrypt,EMAIL=encrypt"}
	all = append(all, []string{"--k", "3", "--set", "anonymity.text=AGE=number,DATE=date", "--set", "mask.operators=PERSON=surrogate strategy=random"}, sealed, []string{"-v", "--policy", "nowhere.yaml"}, []string{"-v", "--model", in}, []string{"-v", "--set", "run.deadline=1ms"},
		[]string{"-v", "--set", "read.max_note_bytes=50"}, []string{"-v", "--json", "--set", "read.columns.text=nota"})
	var hits [4]int
	opened := 0
	for i, flags := range all {
		text, err := t.search(set, &hits, tmp, t.extract(in, tagged, out, append([]string{"--set", "key.file=" + key}, flags...)...), out)
		if err != nil {
			return "", fmt.Errorf("extract %q: %w: %s", flags, err, text)
		}
		if i == len(configs.Policies())+1 {
			n, err := t.open(set, &hits, tmp, out, key)
			if err != nil {
				return "", err
			}
			opened = n
		}
		if err := t.clear(out); err != nil {
			return "", err
		}
	}
	figures := fmt.Sprintf("%d canaries, %d extracts, %d values opened again: hits DNI %d, telephone %d, e-mail %d, surname %d",
		set.Len(), len(all), opened, hits[canaryDNI], hits[canaryTelephone], hits[canaryMail], hits[canarySurname])
	if hits != [4]int{} {
		return figures, errors.New("canaries got out")
	}
	return figures, nil
}

// search runs a command and adds the canaries in what it said and left.
func (t *torture) search(set *canarySet, hits *[4]int, tmp string, c *exec.Cmd, trees ...string) (said []byte, err error) {
	c.Env = append(os.Environ(), "TMPDIR="+tmp)
	said, _ = c.CombinedOutput() // the exit code is looked at
	if n := c.ProcessState.ExitCode(); n == 2 || n < 0 {
		return said, fmt.Errorf("exit code %d", n)
	}
	addHits(hits, set.In(said))
	for _, dir := range append(trees, tmp) {
		finds, _, err := set.Below(dir)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return said, err
		}
		for _, f := range finds {
			addHits(hits, f.Hits)
		}
	}
	return said, nil
}

// open opens the encrypted values of an extract, under the right key and under
// another, and returns how many canaries are readable then.
func (t *torture) open(set *canarySet, hits *[4]int, tmp, out, key string) (int, error) {
	parts, err := filepath.Glob(filepath.Join(out, "masked", "*.parquet"))
	if err != nil || len(parts) == 0 {
		return 0, errors.Join(err, errors.New("the extract has no parts"))
	}
	other, file := t.path("extracts.other"), t.path("extracts.jsonl")
	if err := os.WriteFile(other, []byte(strings.Repeat("fedcba9876543210", 4)), 0o400); err != nil {
		return 0, err
	}
	opened := 0
	for _, k := range []string{other, key} {
		text, err := t.search(set, hits, tmp, exec.Command(t.velum, "mask", "reveal", "-v", "--in", parts[0], "--out", file, "--set", "key.file="+k))
		if err != nil {
			return 0, fmt.Errorf("reveal: %w: %s", err, text)
		}
		data, err := os.ReadFile(file)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return 0, err
		}
		opened = 0
		for _, n := range set.In(data) {
			opened += n
		}
		if (opened > 0) != (k == key) {
			return opened, fmt.Errorf("%s opens %d values", filepath.Base(k), opened)
		}
	}
	return opened, os.Remove(file)
}
