package main

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
)

// writingForms are the verbs as they write, with HERE in place of what is written.
var writingForms = []string{
	"run --in ARCHIVE --out HERE", "run --in ARCHIVE --out OWN --metrics HERE/m.prom",
	"run --in ARCHIVE --out OWN --audit-log HERE/manifest.json", "run --in ARCHIVE --out OWN --audit-log HERE/_audit/audit.jsonl", "run --in ARCHIVE --out OWN --private HERE",
	"run --in ARCHIVE --out HERE/sub", "run --in HERE --out HERE", "run --in ARCHIVE --out LINK", "run --in ARCHIVE --out OWN --metrics LINK/m.prom",
	"night --in ARCHIVE --out HERE/sub", "night --in ARCHIVE --out OWN --metrics HERE/m.prom", "night --in ARCHIVE --out OWN --audit-log HERE/manifest.json",
	"run plan --in ARCHIVE --out HERE/sub", "run plan --in HERE --out HERE", "run finish OUT --metrics HERE/m.prom", "run finish OUT --audit-log HERE/manifest.json",
	"mask --in ARCHIVE --tagged OUT --out HERE", "mask --in ARCHIVE --tagged OUT --out OWN --audit-log HERE/manifest.json", "mask --in ARCHIVE --tagged OUT --out OWN --private HERE",
	"run forget x --out OWN --audit-log HERE/manifest.json", "run forget x --out HERE --audit-log HERE/report.json",
	"teach learn --in ARCHIVE --gold GOLD --out HERE", "teach learn --in ARCHIVE --gold GOLD --out HERE/learned", "teach learn --in ARCHIVE --gold GOLD --out OWN --ask 3 --questions HERE/q", "teach learn --in ARCHIVE --gold GOLD --out LINK",
	"start --in ARCHIVE --out HERE", "start --in ARCHIVE --out HERE/start", "start --in ARCHIVE --out LINK",
	"init GOLD --yes --out HERE/velum.yaml", "model tag --in GOLD --out HERE/t.jsonl", "model tag --in GOLD --out HERE/manifest.json", "model tag --in GOLD --out LINK/t.jsonl", "teach convert --in GOLD --out HERE/masked/c.jsonl", "teach convert --in GOLD --out HERE/brat --to brat",
	"teach synth --out HERE/s.jsonl", "teach synth --out HERE --to archive", "mask reveal --in GOLD --out HERE/r.jsonl",
	"review --in GOLD --out HERE/a.jsonl", "review --in GOLD --out HERE/manifest.json --export", "prove usefulness --in GOLD --sample 3 --out HERE/u.jsonl", "prove evaluate --gold GOLD --errors HERE/e.jsonl", "prove diff OUT OUT --list HERE/p.jsonl",
	"teach train --train GOLD --out HERE/m.velum", "teach embed --in GOLD --out HERE/e.velum", "teach gazetteer build --out HERE/g.gaz GivenName=x.csv?form=name",
	"teach rules build house.atn --out HERE/r.velum", "model promote m.velum --models HERE/models", "model measure --gold GOLD --out HERE/c.velum",
	"teach study folds --gold GOLD --out HERE/study", "help man HERE/man1",
}

// TestWritesNowhereElse: no verb writes into the output of a run that is not its
// own: it is refused, and no byte and no time of a file there changes.
func TestWritesNowhereElse(t *testing.T) {
	if len(writingForms) < 40 {
		t.Fatalf("only %d forms", len(writingForms))
	}
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in"), filepath.Join(dir, "out")
	canaryArchive(t, filepath.Join(in, "a.parquet"), 1, faultNotes, false)
	velum := func(args string) (exit.Code, string) {
		var errs bytes.Buffer
		return newApp(&errs, &errs, nil).run(append(strings.Fields(args), "-q")), errs.String()
	}
	if code, said := velum("run --in " + in + " --out " + out); code != exit.Done {
		t.Fatal(code, said)
	}
	gold := filepath.Join(dir, "gold.jsonl")
	if code, said := velum("teach synth --notes 20 --out " + gold); code != exit.Done {
		t.Fatal(code, said)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(out, link); err != nil {
		t.Fatal(err)
	}
	before := state(t, out, out+".private")
	for _, form := range writingForms {
		heres := []string{out, out + ".private"}
		if form == "run --in ARCHIVE --out HERE" {
			heres = heres[1:] // the public tree is the run's own
		}
		for _, here := range heres {
			args := strings.NewReplacer("ARCHIVE", in, "HERE", here, "OWN", filepath.Join(dir, "own"), "OUT", out, "GOLD", gold, "LINK", link+strings.TrimPrefix(here, out)).Replace(form)
			if strings.Contains(form, "--out LINK") && strings.HasPrefix(form, "run") {
				args = strings.Replace(args, "--out "+link, "--out "+link+"/masked", 1)
			}
			if strings.HasSuffix(args, link+".private") || strings.Contains(args, link+".private/") {
				continue // there is no such link
			}
			if code, said := velum(args); code != exit.Config || !strings.Contains(said, "output") && !strings.Contains(said, "private tree") {
				t.Errorf("velum %s: exit code %d: %s", form, code, said)
			}
			for name, now := range state(t, out, out+".private") {
				if before[name] != now {
					t.Fatalf("velum %s: %s was touched", form, name)
				}
			}
		}
	}
	if after := state(t, out, out+".private"); !maps.Equal(before, after) {
		t.Error("the trees are not as they were")
	}
	if _, err := os.Stat(filepath.Join(dir, "own")); !errors.Is(err, fs.ErrNotExist) {
		t.Error("something was written elsewhere")
	}
}

// TestWritingFormsAreAll: every command with a flag that names what it writes is
// among the forms.
func TestWritingFormsAreAll(t *testing.T) {
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		for _, flag := range writingFlags {
			if flag == "models" || c.Flags().Lookup(flag) == nil {
				continue
			}
			verb := strings.TrimPrefix(c.CommandPath(), "velum ")
			if !slices.ContainsFunc(writingForms, func(form string) bool {
				return strings.HasPrefix(form, verb+" ") && strings.Contains(form, "--"+flag+" ")
			}) {
				t.Errorf("no form of velum %s --%s", verb, flag)
			}
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(newRootCommand(newApp(&bytes.Buffer{}, &bytes.Buffer{}, nil)))
}

// state is the bytes and times of all files and folders of some trees.
func state(t *testing.T, roots ...string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, root := range roots {
		err := filepath.WalkDir(root, func(name string, e fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := e.Info()
			if err != nil || e.IsDir() {
				all[name] = fmt.Sprint(info.ModTime())
				return err
			}
			data, err := os.ReadFile(name)
			all[name] = fmt.Sprintf("%x %v", sha256.Sum256(data), info.ModTime())
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all
}
