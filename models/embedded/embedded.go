// Package embedded holds the models that ship inside the binary.
//
// Each is made by one command, `make models`, from MEDDOCAN train (CC BY 4.0,
// see NOTICE) and generated notes, primary-care from real notes as well and
// inverse from general text; scores stand in their headers and in
// BENCHMARKS.md.
package embedded

import (
	_ "embed"
	"maps"
	"slices"
)

// Each file is a variable of its own, so that a model is read where it lies in the
// program: embed.FS makes a copy, of which a run of one note is half.
var (
	//go:embed cascade.velum
	cascade []byte
	//go:embed inverse.velum
	inverse []byte
	//go:embed meddocan-cascade.velum
	meddocanCascade []byte
	//go:embed meddocan.velum
	meddocan []byte
	//go:embed primary-care.velum
	primaryCare []byte
	//go:embed rules.velum
	rules []byte

	models = map[string][]byte{
		"cascade": cascade, "inverse": inverse, "meddocan-cascade": meddocanCascade,
		"meddocan": meddocan, "primary-care": primaryCare, "rules": rules,
	}
)

//go:embed resources/morph.velum
var morph []byte

// Morph returns the parts of speech and lemmas of Spanish and Catalan forms,
// learned from UD treebanks (see NOTICE).
func Morph() []byte { return morph }

// Names returns the names of the models, sorted.
func Names() []string { return slices.Sorted(maps.Keys(models)) }

// Model returns the file of the model of that name, which must not be changed.
func Model(name string) ([]byte, bool) {
	data, ok := models[name]
	return data, ok
}
