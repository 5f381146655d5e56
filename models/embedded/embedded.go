// Package embedded holds the models that ship inside the binary.
//
// Each is made by one command, `make models`, from MEDDOCAN train (CC BY 4.0,
// see NOTICE) and generated notes, primary-care from real notes as well and
// inverse from general text; scores stand in their headers and in
// BENCHMARKS.md.
package embedded

import (
	"embed"
	"io/fs"
	"path"
	"strings"
)

//go:embed *.velum
var files embed.FS

//go:embed resources/morph.velum
var morph []byte

// Morph returns the parts of speech and lemmas of Spanish and Catalan forms,
// learned from UD treebanks (see NOTICE).
func Morph() []byte { return morph }

// Names returns the names of the models, sorted.
func Names() []string {
	paths, err := fs.Glob(files, "*.velum")
	if err != nil {
		panic("embedded: bad glob") // a bug: the pattern is a constant
	}
	for i, p := range paths {
		paths[i] = strings.TrimSuffix(path.Base(p), ".velum")
	}
	return paths
}

// Model returns the file of the model of that name.
func Model(name string) ([]byte, bool) {
	data, err := files.ReadFile(name + ".velum")
	return data, err == nil
}
