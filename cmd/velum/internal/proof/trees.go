// Package proof verifies an output: every byte agrees with the manifest, the audit log is complete, and reading a
// sample of the notes bounds the leak rate of all of them.
package proof

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/pipeline/audit"
	"github.com/velum-health/velum/pipeline/commit"
)

// checkedTree reports the check of one tree.
type checkedTree struct {
	Dir         string              `json:"dir"`
	Parts       int                 `json:"parts"`
	Bytes       int64               `json:"bytes"`
	Rows        string              `json:"rows,omitempty"` // what rows.csv adds up to
	Differences []commit.Difference `json:"differences"`

	manifest *commit.Manifest
}

// checkTrees checks a tree and the private one that belongs to it.
func checkTrees(ctx context.Context, dir, private string) ([]checkedTree, error) {
	public, err := checkTree(ctx, dir)
	if err != nil {
		return nil, err
	}
	trees := []checkedTree{*public}
	beside := private == ""
	if beside {
		private = commit.PrivateDir(dir)
	}
	if _, err := os.Stat(private); beside && errors.Is(err, fs.ErrNotExist) {
		return trees, nil
	}
	secret, err := checkTree(ctx, private)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(secret.belongsTo(public), secret.addRows()); err != nil {
		return nil, err
	}
	return append(trees, *secret), nil
}

func checkTree(ctx context.Context, dir string) (*checkedTree, error) {
	diffs, err := commit.Check(ctx, dir, audit.InTree...)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if _, err := os.Stat(dir); err != nil {
			return nil, exit.Misconfiguredf("name the folder that a run wrote", "%s: %w", dir, fs.ErrNotExist)
		}
		return nil, exit.Errorf(exit.Integrity, "start the run again, or name the folder that it wrote",
			"%s has no manifest.json: its run was not committed", dir)
	case err != nil:
		return nil, err
	}
	t := &checkedTree{Dir: dir, Differences: append([]commit.Difference{}, diffs...)}
	// A manifest that cannot be read is a difference already.
	if t.manifest, err = commit.ReadManifest(dir); err == nil {
		t.count()
	}
	return t, nil
}

func (t *checkedTree) count() {
	parts := t.manifest.Here()
	t.Parts = len(parts)
	for _, p := range parts {
		t.Bytes += p.Bytes
	}
}

// belongsTo records a difference if the private manifest belongs to another public one: then the two trees are of
// different runs.
func (t *checkedTree) belongsTo(public *checkedTree) error {
	data, err := os.ReadFile(filepath.Join(public.Dir, "manifest.json"))
	if err != nil {
		return err
	}
	if t.manifest != nil && !t.manifest.Vouches(data) {
		t.Differences = append(t.Differences, commit.Difference{Path: "manifest.json", Kind: "of another run"})
	}
	return nil
}

// Options names an output, and what to check it against.
type Options struct {
	Path    string
	Private string   // its private tree; "": the one beside it
	In      []string // archive that was masked
}

// Trees compares a public tree and its private tree with their manifests and prints the differences. It also reports a
// run that read no note.
func Trees(ctx context.Context, c *console.Console, o *Options) error {
	trees, err := checkTrees(ctx, o.Path, o.Private)
	if err != nil {
		return err
	}
	n := 0
	for _, t := range trees {
		n += len(t.Differences)
	}
	if err := c.Tell(map[string]any{"message_type": "check", "trees": trees}, treesText); err != nil {
		return err
	}
	if n > 0 {
		return exit.Errorf(exit.Integrity, "the same `velum run` makes missing and changed parts again", "%d differences", n)
	}
	if m := trees[0].manifest; m != nil && m.Rows == 0 {
		return exit.Errorf(exit.Quarantined, "`report.html` names what could not be read: get it again and start the same `velum run`",
			"%s is as its run left it, which read no note: it has no _SUCCESS", o.Path)
	}
	return nil
}

const treesText = `{{range $tree := .trees}}{{range .differences}}{{$tree.dir}}/{{.path}}: {{.kind}}
{{else}}{{.dir}}: {{.parts}} parts, {{times 1e-6 .bytes | figure "%.1f"}} MB, all as the manifest says
{{with .rows}}{{$tree.dir}}: {{.}}; every file adds up (rows.csv)
{{end}}{{end}}{{end}}`
