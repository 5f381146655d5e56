package flow

import (
	"slices"

	"github.com/velum-health/velum/cmd/velum/internal/files"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/models/word/gazetteer"
)

// FeatureLists returns the name lists that the tagger's features look words up in.
func FeatureLists(c *option.Config) (*gazetteer.Gazetteer, error) {
	return files.MergedLists("tag.gazetteers", c.Tag.Gazetteers)
}

// ResolveLists returns the name lists of stages/resolve: those of the tagger and its own.
func ResolveLists(c *option.Config) (*gazetteer.Gazetteer, error) {
	return files.MergedLists("resolve.gazetteers", slices.Concat(c.Tag.Gazetteers, c.Resolve.Gazetteers))
}
