// Command pack makes the models of a folder as small as the binary holds them, and
// writes their digests beside them. Files that stand alone and packed ones may be
// mixed: what `velum teach train` has written is copied over one of them, and pack does the
// rest. Packed twice they have the same bytes.
//
//	go run ./scripts/data/pack [FOLDER]   (models/embedded)
package main

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/velum-health/velum/models/number/modelfile"
)

func main() {
	folder := "models/embedded"
	if len(os.Args) > 1 {
		folder = os.Args[1]
	}
	if err := pack(folder); err != nil {
		fmt.Fprintln(os.Stderr, "pack:", err)
		os.Exit(1)
	}
}

// model is a file of the folder.
type model struct {
	name  string
	file  []byte // as it is stored
	alone []byte // as it needs no other one
}

func pack(folder string) error {
	models, err := read(folder)
	if err != nil {
		return err
	}
	// A model holds no larger one, so what is named by its path comes before it.
	slices.SortStableFunc(models, func(a, b *model) int { return cmp.Compare(len(a.alone), len(b.alone)) })
	packer, err := modelfile.NewPacker()
	if err != nil {
		return err
	}
	var digests []string
	for _, m := range models {
		small, err := packer.Pack(m.name, m.alone)
		if err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
		fmt.Printf("%-20s %9d → %9d bytes\n", m.name, len(m.alone), len(small))
		if !bytes.Equal(small, m.file) {
			if err := os.WriteFile(filepath.Join(folder, m.name+".velum"), small, 0o644); err != nil {
				return err
			}
		}
		digests = append(digests, fmt.Sprintf("%x  %s\n", sha256.Sum256(m.alone), m.name))
	}
	slices.SortFunc(digests, func(a, b string) int { return cmp.Compare(a[66:], b[66:]) })
	return os.WriteFile(filepath.Join(folder, "digests.txt"), []byte(strings.Join(digests, "")), 0o644)
}

// read reads the models of a folder, by name.
func read(folder string) ([]*model, error) {
	paths, err := filepath.Glob(filepath.Join(folder, "*.velum"))
	if err != nil || len(paths) == 0 {
		return nil, errors.Join(err, fmt.Errorf("no models in %s", folder))
	}
	var all []*model
	var find modelfile.Finder
	find = func(name string) (*modelfile.File, error) {
		i := slices.IndexFunc(all, func(m *model) bool { return m.name == name })
		if i < 0 {
			return nil, fmt.Errorf("%s/%s.velum is not there, and another model holds parts of it", folder, name)
		}
		return modelfile.Shipped(all[i].file, find)
	}
	for _, path := range paths {
		file, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		all = append(all, &model{name: strings.TrimSuffix(filepath.Base(path), ".velum"), file: file})
	}
	for _, m := range all { // all of them, before the first is written
		f, err := find(m.name)
		if err == nil {
			m.alone, err = f.Alone()
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.name, err)
		}
	}
	return all, nil
}
