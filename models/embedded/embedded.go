// Package embedded holds the models that ship inside the binary.
//
// Each is made by one command, `make models`, from MEDDOCAN train (CC BY 4.0,
// see NOTICE) and generated notes, primary-care from real notes as well and
// inverse from general text; scores stand in their headers and in
// BENCHMARKS.md. scripts/data/pack packs them: a cascade names its first member, which
// is a model by itself, and what repeats itself is compressed.
package embedded

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/velum-health/velum/models/number/modelfile"
)

// Each file is a variable of its own, so that a model is read in place; embed.FS makes a copy, which is half the time
// of a run of one note.
var (
	//go:embed cascade.velum
	cascade []byte
	//go:embed inverse.velum
	inverse []byte
	//go:embed meddocan.velum
	meddocan []byte
	//go:embed primary-care.velum
	primaryCare []byte
	//go:embed rules.velum
	rules []byte

	models = map[string][]byte{
		"cascade": cascade, "inverse": inverse, "meddocan": meddocan,
		"primary-care": primaryCare, "rules": rules,
	}
)

//go:embed resources/morph.velum
var morph []byte

// digests.txt has a line a model: the SHA-256 of its file as it stands alone, which is
// what the model is called by wherever it lies, and its name.
//
//go:embed digests.txt
var digests string

// Morph returns the parts of speech and lemmas of Spanish and Catalan forms,
// learned from UD treebanks (see NOTICE).
func Morph() []byte { return morph }

// Names returns the names of the models, sorted.
func Names() []string { return slices.Sorted(maps.Keys(models)) }

// Size returns how many bytes the model of that name takes in the program; 0: there
// is none.
func Size(name string) int { return len(models[name]) }

// Open opens the model of that name.
func Open(name string) (*modelfile.File, error) {
	data, ok := models[name]
	if !ok {
		return nil, errors.New("no model of that name in the binary") // a bug: whoever asks knows the names
	}
	return modelfile.Shipped(data, Open)
}

// Digest returns the SHA-256 of the file of the model of that name, as it stands
// alone.
func Digest(name string) (sum [sha256.Size]byte) {
	for line := range strings.Lines(digests) {
		if digest, of, _ := strings.Cut(strings.TrimSpace(line), "  "); of == name {
			_, _ = hex.Decode(sum[:], []byte(digest)) // TestDigests reads them all
		}
	}
	return sum
}
