// Package rulefile opens files that people write: networks of rules, and
// recognizers of the house. Mistakes come with file, line and cause.
package rulefile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/configs"
	"github.com/velum-health/velum/models/embedded"
	"github.com/velum-health/velum/models/gazetteer"
	"github.com/velum-health/velum/models/morph"
	"github.com/velum-health/velum/models/recognizers"
	"github.com/velum-health/velum/models/rules"
)

// shippedMorph opens the shipped parts of speech and lemmas once.
var shippedMorph = sync.OnceValues(func() (*morph.Model, error) { return morph.Open(embedded.Morph()) })

// Resources are what tests of networks look forms up in.
func Resources(lists *gazetteer.Gazetteer) (rules.Resources, error) {
	m, err := shippedMorph()
	return rules.Resources{Lists: lists, Names: gazetteer.Names(), Morph: m}, err
}

// Pack compiles a file of networks, or the pack that ships.
func Pack(path string, lists *gazetteer.Gazetteer) (*rules.Pack, error) {
	text, err := packText(path)
	if err != nil {
		return nil, err
	}
	r, err := Resources(lists)
	if err != nil {
		return nil, err
	}
	p, err := rules.Compile(string(text), r)
	if err != nil {
		return nil, exit.With(exit.Config, fmt.Errorf("%s: %w", path, err), "mend the rule; README, Rules, tells the language")
	}
	return p, nil
}

// Recognizers compiles a file of recognizers that the house writes.
func Recognizers(path string) (*recognizers.Set, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, exit.With(exit.Config, err, "name a file of recognizers")
	}
	s, err := recognizers.Compile(string(text))
	if err != nil {
		return nil, exit.With(exit.Config, fmt.Errorf("%s: %w", path, err), "mend the file; README, Patterns of the house, tells what stands in it")
	}
	return s, nil
}

// IsRecognizers tells whether a path names a file of recognizers, and not one
// of networks.
func IsRecognizers(path string) bool {
	ext := strings.ToLower(filepath.Ext(path))
	return ext == ".yaml" || ext == ".yml"
}

func packText(path string) ([]byte, error) {
	if path == configs.ShippedPack {
		return configs.Pack(path)
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, exit.With(exit.Config, err, "name a file of rules, or "+configs.ShippedPack+" for those of velum")
	}
	if err != nil {
		return nil, exit.With(exit.Config, err, "make the file readable")
	}
	return text, nil
}
