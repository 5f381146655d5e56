package look

import (
	"context"
	"fmt"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/flow"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/models/tag/tagger"
)

// ModelOptions holds the arguments of `velum model inspect`.
type ModelOptions struct {
	Neighbours string // a word, for a file of vectors
	Top        int    // how many neighbours
}

// Model prints the header and the features of the model in the configuration.
func Model(_ context.Context, c *console.Console, cfg *option.Config, f *ModelOptions) error {
	if file, ok, err := openVectors(cfg.Tag.Model); err != nil {
		return err
	} else if ok {
		defer file.Close()
		return inspectVectors(c, file, f.Neighbours, f.Top)
	}
	if f.Neighbours != "" {
		return exit.Misconfiguredf("name one with --model; `velum teach embed` makes it", "--neighbours needs a file of vectors")
	}
	p, err := flow.New(cfg)
	if err != nil {
		return err
	}
	return printModel(c, p.Model)
}

func printModel(c *console.Console, m *flow.Model) error {
	header, err := m.MarshalHeader()
	if err != nil {
		return err
	}
	if c.JSON {
		_, err = c.Printf("%s\n", header)
		return err
	}
	size := ""
	if sized, ok := m.Model.(tagger.Sized); ok {
		features, weights := sized.Size()
		size = fmt.Sprintf("%d features, %d weights, ", features, weights)
	}
	if summarized, ok := m.Model.(tagger.Summarized); ok {
		size += summarized.Summary() + ", "
	}
	_, err = c.Printf("%s: label set %s, %d tags, %ssha256 %x\n%s\n", m.Name, m.Labels, m.TagSet().Len(), size, m.SHA256, header)
	return err
}
