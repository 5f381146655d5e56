package bilstm

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/velum-health/velum/models/number/kernels"
)

// Architecture is the shape of a network, as stored in the header of a model. All widths are rounded up to multiples of
// Lanes (eight).
type Architecture struct {
	Word      int    `json:"word"`       // numbers a word's vector has
	Chars     string `json:"chars"`      // characters by "cnn", "lstm" or "none"
	Char      int    `json:"char"`       // numbers a character's vector has
	CharUnits int    `json:"char_units"` // filters of the convolution; or units a direction
	PostSpace bool   `json:"post_space"` // up to three characters behind a token belong to its characters (INV §4.3.4)
	Feature   int    `json:"feature"`    // numbers the vector of a feature has; 0: no features
	Units     int    `json:"units"`      // of the network, a direction
	Layers    int    `json:"layers"`     // 1 or 2
	Cell      string `json:"cell"`       // "lstm", or "coupled" (NGRID appendix C)
	Objective string `json:"objective"`  // "path" (NGRID), "marginals" (BOOT §3.5.2) or "softmax" (INV §4.3.4)
	Window    int    `json:"window"`     // 0: sequences of the template; else overlapping runs of so many tokens (BOOT fig. 3.3)
}

// Default returns the architecture with the best score on MEDDOCAN dev, see BENCHMARKS.md: characters by convolution,
// hand-made features as vectors beside the word vector, whole lines, one layer of a hundred units.
func Default() Architecture {
	return Architecture{
		Word: 104, Chars: "cnn", Char: 24, CharUnits: 48, Feature: 64,
		Units: 104, Layers: 1, Cell: "lstm", Objective: "path",
	}
}

// variants are the networks of the papers by the names that these give them,
// each with the template of what its paper gives it beside words and characters.
var variants = map[string]struct {
	template string
	set      func(*Architecture, *Recipe)
}{
	"default": {"network", func(*Architecture, *Recipe) {}},
	"boot":    {"network-boot", boot},
	"fhu":     {"network-boot", func(a *Architecture, r *Recipe) { boot(a, r); a.Units = 32 }},
	"ls":      {"network-boot", func(a *Architecture, r *Recipe) { boot(a, r); a.Window = 48 }},
	"ngrid":   {"network-ngrid", ngrid},
	"a-1":     {"network-inv", inv},
	"b-1":     {"network-inv", func(a *Architecture, r *Recipe) { inv(a, r); a.PostSpace = true }},
	"c-1":     {"network-inv", func(a *Architecture, r *Recipe) { inv(a, r); a.Feature = 8 }},
	"d-2":     {"network-inv", func(a *Architecture, r *Recipe) { inv(a, r); a.PostSpace, a.Feature = true, 8 }},
}

// boot is the network of BOOT §3.5: 64 units, runs of 24 tokens of which a
// quarter overlaps at either end, characters by a network of 25 units,
// capitals and dictionary as vectors of 6 numbers (here 8), dropout of a half,
// the product of marginals, Adam as Keras has it.
func boot(a *Architecture, r *Recipe) {
	a.Chars, a.Char, a.CharUnits, a.Feature = "lstm", 25, 25, 6
	a.Units, a.Window, a.Objective = 64, 24, "marginals"
	keras(r)
}

// ngrid is the network of NGRID §5 and §6.2: 64 units of the cell whose forget
// gate is 1 - i, capitals and dictionaries as codes of 6 numbers each (the sum
// of two vectors of 12 is their row, where they choose to), the path's
// likelihood, plain gradient descent at 0.005, dropout before the last layer.
func ngrid(a *Architecture, r *Recipe) {
	a.Chars, a.Char, a.CharUnits, a.Feature = "lstm", 25, 25, 12
	a.Units, a.Cell = 64, "coupled"
	*r = Recipe{
		Solver: "sgd", Rate: 0.005, Last: 1, Clip: 5, Batch: 1, Epochs: 30,
		Output: 0.5, Keep: 1, KeepO: 1,
	}
}

// inv is the network of INV §4.3.4: a softmax a token, classes weighted
// against their frequency, dropout of a half behind the vectors.
func inv(a *Architecture, r *Recipe) {
	a.Chars, a.Char, a.CharUnits, a.Feature, a.Objective = "lstm", 25, 25, 0, "softmax"
	keras(r)
	r.ClassWeights = true
}

// keras sets Keras' defaults, which the papers that used Keras do not mention.
func keras(r *Recipe) {
	*r = Recipe{
		Solver: "adam", Rate: 0.001, Beta1: 0.9, Beta2: 0.999, Last: 1, Batch: 32, Epochs: 30,
		Input: 0.5, Keep: 1, KeepO: 1, Flat: 10,
	}
}

// VariantTemplate names the feature template of a variant.
func VariantTemplate(name string) string { return variants[name].template }

// Variants returns the names that Variant accepts, sorted.
func Variants() []string { return slices.Sorted(maps.Keys(variants)) }

// Variant returns the network with that name and the recipe for its training.
func Variant(name string) (Architecture, Recipe, error) {
	v, ok := variants[name]
	if !ok {
		return Architecture{}, Recipe{}, fmt.Errorf("network %q is not known; known: %s", name, strings.Join(Variants(), ", "))
	}
	a, r := Default(), DefaultRecipe()
	v.set(&a, &r)
	return a.padded(), r, nil
}

// padded rounds the widths up.
func (a Architecture) padded() Architecture {
	for _, n := range []*int{&a.Word, &a.Char, &a.CharUnits, &a.Feature, &a.Units} {
		*n = kernels.Pad(*n)
	}
	return a
}

// Upper limits on the values in a model file.
const (
	maxWidth  = 4096
	maxWindow = 1 << 16
)

// Check returns what is impossible about the shape.
func (a Architecture) Check() error {
	for _, w := range []struct {
		name     string
		n, least int
	}{{"word", a.Word, 8}, {"units", a.Units, 8}, {"feature", a.Feature, 0}, {"char", a.Char, 8}, {"char_units", a.CharUnits, 8}} {
		if w.n < w.least || w.n > maxWidth || w.n%kernels.Lanes != 0 {
			return fmt.Errorf("%s: %d is no multiple of %d from %d to %d", w.name, w.n, kernels.Lanes, w.least, maxWidth)
		}
	}
	if a.Layers != 1 && a.Layers != 2 {
		return fmt.Errorf("layers: %d; known: 1, 2", a.Layers)
	}
	if a.Window < 0 || a.Window > maxWindow || a.Window > 0 && a.Window < 4 {
		return fmt.Errorf("window: %d is not 0 and not from 4 to %d", a.Window, maxWindow)
	}
	for _, w := range []struct {
		name, value string
		known       []string
	}{
		{"chars", a.Chars, []string{"cnn", "lstm", "none"}},
		{"cell", a.Cell, []string{"lstm", "coupled"}},
		{"objective", a.Objective, []string{"path", "marginals", "softmax"}},
	} {
		if !slices.Contains(w.known, w.value) {
			return fmt.Errorf("%s: %q is not known; known: %s", w.name, w.value, strings.Join(w.known, ", "))
		}
	}
	return nil
}

// Gates returns the number of gates of a cell: three for coupled gates, otherwise four.
func (a Architecture) Gates() int {
	if a.Cell == "coupled" {
		return 3
	}
	return 4
}

// CharWidth returns the length of the character-based vector of a token.
func (a Architecture) CharWidth() int {
	switch a.Chars {
	case "cnn":
		return a.CharUnits
	case "lstm":
		return 2 * a.CharUnits
	}
	return 0
}

// Input returns the length of the vector of a token.
func (a Architecture) Input() int { return a.Word + a.CharWidth() + a.Feature }
