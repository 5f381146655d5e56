package look

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/flow"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/models/tag/tagger"
	"github.com/velum-health/velum/pipeline"
)

// ModelOptions say what to look at.
type ModelOptions struct {
	In, From   string // notes
	Neighbours string // a word, for a file of vectors
	Top        int    // how many features or neighbours
}

// Model looks into the model of the configuration.
func Model(ctx context.Context, c *console.Console, cfg *option.Config, f *ModelOptions) error {
	if file, ok, err := openVectors(cfg.Tag.Model); err != nil {
		return err
	} else if ok {
		defer file.Close()
		return inspectVectors(c, file, f.Neighbours, f.Top)
	}
	if f.Neighbours != "" {
		return exit.Errorf(exit.Config, "name one with --model; `velum teach embed` makes it", "--neighbours needs a file of vectors")
	}
	p, err := flow.New(cfg)
	if err != nil {
		return err
	}
	if f.In == "" {
		return printModel(c, p.Model)
	}
	why, ok := p.Model.Model.(tagger.Explainer)
	if !ok {
		return exit.Errorf(exit.Config, "use a model of another kind", "inspect --in: %s is of kind %s, which cannot say why", p.Model.Name, p.Model.Header().Kind)
	}
	steps, err := p.TagSteps()
	if err != nil {
		return err
	}
	o, err := flow.TextOptions(cfg)
	if err != nil {
		return err
	}
	o.SkipUnknown = true // gold spans do not count here
	src, err := flow.OpenNotes("from", f.From, f.In, o)
	if err != nil {
		return err
	}
	defer src.Close()
	s := &inspection{Console: c, model: p.Model, why: why, top: f.Top, weights: map[tagger.Reason]int{}}
	if err := flow.InputError(pipeline.Run(ctx, src, steps, s, nil)); err != nil {
		return err
	}
	return s.printRanking()
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

// inspection is a sink that ranks features.
type inspection struct {
	*console.Console
	model   *flow.Model
	why     tagger.Explainer
	top     int
	weights map[tagger.Reason]int // reason -> tokens that it occurs at
}

func (s *inspection) Put(b *pipeline.Batch) error {
	for i := range b.Len() {
		if b.Reason[i] == pipeline.Sound {
			s.rank(b, i)
		}
	}
	return nil
}

// rank counts the features of a note (feature ranking by weight, VIGI §5.9).
func (s *inspection) rank(b *pipeline.Batch, i int) {
	for _, sequence := range s.why.Describe(b.Text.At(i), b.Tokens.At(i), b.Matches.At(i)) {
		for _, attributes := range sequence {
			for _, attribute := range attributes {
				attribute.Value = 1
				for _, r := range s.why.Reasons(attribute) {
					s.weights[r]++
				}
			}
		}
	}
}

// feature is a feature with its weight, as --json has it.
type feature struct {
	Weight  float32 `json:"weight"`
	Tag     string  `json:"tag"`
	Feature string  `json:"feature"`
	Tokens  int     `json:"tokens,omitempty"` // that it occurs at
}

// printRanking prints the features of all notes, the heaviest first.
func (s *inspection) printRanking() error {
	ranked := make([]tagger.Reason, 0, len(s.weights))
	for r := range s.weights {
		ranked = append(ranked, r)
	}
	slices.SortFunc(ranked, func(a, b tagger.Reason) int {
		return cmp.Or(cmp.Compare(abs(b.Weight), abs(a.Weight)), cmp.Compare(a.Attribute, b.Attribute), cmp.Compare(a.Tag, b.Tag))
	})
	heaviest := []feature{}
	for _, r := range ranked[:min(s.top, len(ranked))] {
		heaviest = append(heaviest, feature{r.Weight, s.model.TagSet().Name(r.Tag), r.Attribute, s.weights[r]})
	}
	if s.JSON {
		return json.NewEncoder(s.Out).Encode(map[string]any{"message_type": "features", "model": s.model.Name, "features": heaviest})
	}
	for _, f := range heaviest {
		if _, err := s.Printf("%+8.3f  %-36s %s  (%d tokens)\n", f.Weight, f.Tag, f.Feature, f.Tokens); err != nil {
			return err
		}
	}
	return nil
}

func abs(x float32) float32 { return max(x, -x) }
