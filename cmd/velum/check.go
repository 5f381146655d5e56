package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/pipeline/audit"
	"github.com/velum-health/velum/pipeline/commit"
)

func newCheckCommand(a *app) *cobra.Command {
	private := ""
	c := &cobra.Command{
		Use:   "check DIR",
		Short: "Compare every byte of an output tree with its manifest",
		Long: `Compare every byte of an output tree with its manifest, and name what differs: parts
that are missing or changed, files that the manifest does not know, a run that did not
end. The private tree beside it is checked too, if it is there, its audit log included.
Nothing is changed.`,
		Example: `  velum check masked/            # masked/ and masked.private/
  velum check masked/ --json`,
		Args: exactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			trees, err := checkTrees(args[0], private)
			if err != nil {
				return err
			}
			return a.printChecked(trees)
		},
	}
	c.Flags().StringVar(&private, "private", "", "`DIR` of the private tree (default: DIR.private, if it is there)")
	return c
}

// checkedTree is what check says of one tree.
type checkedTree struct {
	Dir         string              `json:"dir"`
	Parts       int                 `json:"parts"`
	Bytes       int64               `json:"bytes"`
	Differences []commit.Difference `json:"differences"`

	manifest *commit.Manifest
}

// checkTrees checks a tree and the private one that belongs to it.
func checkTrees(dir, private string) ([]checkedTree, error) {
	public, err := checkTree(dir)
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
	secret, err := checkTree(private)
	if err != nil {
		return nil, err
	}
	if err := secret.belongsTo(public); err != nil {
		return nil, err
	}
	return append(trees, *secret), nil
}

func checkTree(dir string) (*checkedTree, error) {
	diffs, err := commit.Check(dir, audit.InTree)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if _, err := os.Stat(dir); err != nil {
			return nil, exit.Errorf(exit.Config, "name the folder that a run wrote", "%s: %w", dir, fs.ErrNotExist)
		}
		return nil, exit.Errorf(exit.Integrity, "start the run again, or name the folder that it wrote", "%s has no manifest.json: its run was not committed", dir)
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

// belongsTo notes a difference if the private manifest vouches for another
// public one: the two trees are of different runs.
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

func (a *app) printChecked(trees []checkedTree) error {
	n := 0
	for _, t := range trees {
		n += len(t.Differences)
	}
	if err := a.printTrees(trees); err != nil {
		return err
	}
	if n > 0 {
		return exit.Errorf(exit.Integrity, "the same `velum run` makes missing and changed parts again", "%d differences", n)
	}
	return nil
}

func (a *app) printTrees(trees []checkedTree) error {
	if a.JSON {
		return json.NewEncoder(a.Out).Encode(map[string]any{"message_type": "check", "trees": trees})
	}
	for _, t := range trees {
		for _, d := range t.Differences {
			if _, err := fmt.Fprintf(a.Out, "%s: %s\n", exit.OneLine(filepath.Join(t.Dir, d.Path)), d.Kind); err != nil {
				return err
			}
		}
		if len(t.Differences) > 0 {
			continue
		}
		if _, err := fmt.Fprintf(a.Out, "%s: %d parts, %.1f MB, all as the manifest says\n", t.Dir, t.Parts, float64(t.Bytes)/1e6); err != nil {
			return err
		}
	}
	return nil
}
