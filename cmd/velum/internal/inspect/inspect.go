// Package inspect is what `velum inspect` does: it says what a model is, what
// its features weigh, and why a note was tagged so.
package inspect

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/flow"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/cmd/velum/internal/vectors"
	"github.com/velum-health/velum/models/tagger"
	"github.com/velum-health/velum/pipeline"
)

// Options say what to look at.
type Options struct {
	In, From, ID string // notes, and one of them
	Neighbours   string // a word, for a file of vectors
	Top          int    // how many features or neighbours
}

// Inspect looks into the model of the configuration.
func Inspect(ctx context.Context, c *console.Console, cfg *option.Config, f *Options) error {
	if file, ok, err := vectors.Open(cfg.Tag.Model); err != nil {
		return err
	} else if ok {
		defer file.Close()
		return vectors.Inspect(c, file, f.Neighbours, f.Top)
	}
	if f.Neighbours != "" {
		return exit.Errorf(exit.Config, "name one with --model; `velum embed` makes it", "--neighbours needs a file of vectors")
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
	s := &inspection{model: p.Model, why: why, out: c.Out, id: f.ID, top: f.Top, weights: map[tagger.Reason]int{}}
	if err := flow.InputError(pipeline.Run(ctx, src, steps, s, nil)); err != nil {
		return err
	}
	if f.ID == "" {
		return s.printRanking()
	}
	if !s.found {
		return exit.Errorf(exit.Config, "ids are those of the file, or paths below the folder", "no note with the id %q", f.ID)
	}
	return nil
}

func printModel(c *console.Console, m *flow.Model) error {
	header, err := m.MarshalHeader()
	if err != nil {
		return err
	}
	if c.JSON {
		_, err = fmt.Fprintf(c.Out, "%s\n", header)
		return err
	}
	size := ""
	if sized, ok := m.Model.(tagger.Sized); ok {
		features, weights := sized.Size()
		size = fmt.Sprintf("%d features, %d weights, ", features, weights)
	}
	_, err = fmt.Fprintf(c.Out, "%s: label set %s, %d tags, %ssha256 %x\n%s\n", m.Name, m.Labels, m.TagSet().Len(), size, m.SHA256, header)
	return err
}

// inspection is a sink that ranks features or prints one note.
type inspection struct {
	model   *flow.Model
	why     tagger.Explainer
	out     io.Writer
	id      string
	top     int
	found   bool
	weights map[tagger.Reason]int // reason -> tokens that it occurs at
}

func (s *inspection) Put(b *pipeline.Batch) error {
	for i := range b.Len() {
		if b.Reason[i] != pipeline.Sound {
			continue
		}
		if s.id == "" {
			s.rank(b, i)
		} else if string(b.ID.At(i)) == s.id {
			s.found = true
			if err := s.printNote(b, i); err != nil {
				return err
			}
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

func (s *inspection) printRanking() error {
	ranked := make([]tagger.Reason, 0, len(s.weights))
	for r := range s.weights {
		ranked = append(ranked, r)
	}
	slices.SortFunc(ranked, func(a, b tagger.Reason) int {
		return cmp.Or(cmp.Compare(abs(b.Weight), abs(a.Weight)), cmp.Compare(a.Attribute, b.Attribute), cmp.Compare(a.Tag, b.Tag))
	})
	for _, r := range ranked[:min(s.top, len(ranked))] {
		if _, err := fmt.Fprintf(s.out, "%+8.3f  %-36s %s  (%d tokens)\n", r.Weight, s.model.TagSet().Name(r.Tag), r.Attribute, s.weights[r]); err != nil {
			return err
		}
	}
	return nil
}

func abs(x float32) float32 { return max(x, -x) }

// printNote prints the tokens of a note with what spoke for their tags.
func (s *inspection) printNote(b *pipeline.Batch, i int) error {
	text, tokens, tags := b.Text.At(i), b.Tokens.At(i), b.TagsOf(i)
	n := s.model.TagSet().Len()
	var marginals []float32
	if l, ok := s.model.NewLabeller().(tagger.Marginals); ok {
		marginals = l.Marginals(nil, text, tokens, b.Matches.At(i))
	}
	t := 0
	for _, sequence := range s.why.Describe(text, tokens, b.Matches.At(i)) {
		for _, attributes := range sequence {
			k := tokens[t]
			probability := "-"
			if marginals != nil {
				probability = fmt.Sprintf("%.4f", marginals[t*n+int(tags[t])])
			}
			if _, err := fmt.Fprintf(s.out, "%6d  %-20s %-36s %s ", k.Start, text[k.Start:k.End], s.model.TagSet().Name(tags[t]), probability); err != nil {
				return err
			}
			var mine []tagger.Reason
			for _, attribute := range attributes {
				for _, r := range s.why.Reasons(attribute) {
					if r.Tag == tags[t] {
						mine = append(mine, r)
					}
				}
			}
			slices.SortFunc(mine, func(a, b tagger.Reason) int {
				return cmp.Or(cmp.Compare(b.Weight, a.Weight), cmp.Compare(a.Attribute, b.Attribute))
			})
			for _, r := range mine[:min(3, len(mine))] {
				if _, err := fmt.Fprintf(s.out, "  %s %+.2f", r.Attribute, r.Weight); err != nil {
					return err
				}
			}
			if _, err := fmt.Fprintln(s.out); err != nil {
				return err
			}
			t++
		}
	}
	for _, x := range b.Spans.At(i) {
		if _, err := fmt.Fprintf(s.out, "span %d-%d  %s  %s %.4f\n", x.Start, x.End, x.Category, x.Source, x.Score); err != nil {
			return err
		}
	}
	return nil
}
