package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/flow"
	"github.com/velum-health/velum/models/tagger"
	"github.com/velum-health/velum/pipeline"
)

type inspectFlags struct {
	in, from, id string
	neighbours   string
	top          int
}

func newInspectCommand(a *app) *cobra.Command {
	var f inspectFlags
	c := &cobra.Command{
		Use:   "inspect [--model FILE] [--in PATH [--id ID]] [--neighbours WORD]",
		Short: "Look into a model: what it is, what its features weigh, why a note was tagged so",
		Long: `Without --in, print what the model says of itself. With --in, rank the features that
occur in those notes by weight. With --id too, print every token of that note with its
tag, its probability and the features that spoke loudest for it, and then the spans of
the note with who found them and how probable each is; this prints words of the note, on
standard output only.

A file of vectors (velum embed) is a model too: --neighbours prints the words nearest to
one, and its clusters.`,
		Example: `  velum inspect --model meddocan
  velum inspect --model meddocan --in dev/ --top 40
  velum inspect --model primary-care --in notes.jsonl --id 7
  velum inspect --model words.velum --neighbours hospital --top 10`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.inspect(c.Context(), &f) },
	}
	flags := c.Flags()
	flags.StringVar(&f.in, "in", "", "`PATH` of notes")
	flags.StringVar(&f.from, "from", "", "their `FORMAT`; told from the files if left out")
	flags.StringVar(&f.id, "id", "", "`ID` of one note")
	flags.StringVar(&f.neighbours, "neighbours", "", "`WORD` whose neighbours in a file of vectors are printed")
	flags.IntVar(&f.top, "top", 20, "how many features or neighbours")
	a.optionFlag(c, "model", "tag.model")
	a.noteFlags(c)
	return c
}

func (a *app) inspect(ctx context.Context, f *inspectFlags) error {
	cfg, err := a.config()
	if err != nil {
		return err
	}
	if vectors, ok, err := openVectors(cfg.Tag.Model); err != nil {
		return err
	} else if ok {
		defer vectors.Close()
		return a.inspectVectors(vectors, f.neighbours, f.top)
	}
	if f.neighbours != "" {
		return exit.Errorf(exit.Config, "name one with --model; `velum embed` makes it", "--neighbours needs a file of vectors")
	}
	p, err := flow.New(cfg)
	if err != nil {
		return err
	}
	if f.in == "" {
		return a.printModel(p.Model)
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
	src, err := flow.OpenNotes("from", f.from, f.in, o)
	if err != nil {
		return err
	}
	defer src.Close()
	s := &inspection{model: p.Model, why: why, out: a.Out, id: f.id, top: f.top, weights: map[tagger.Reason]int{}}
	if err := flow.InputError(pipeline.Run(ctx, src, steps, s, nil)); err != nil {
		return err
	}
	if f.id == "" {
		return s.printRanking()
	}
	if !s.found {
		return exit.Errorf(exit.Config, "ids are those of the file, or paths below the folder", "no note with the id %q", f.id)
	}
	return nil
}

func (a *app) printModel(m *flow.Model) error {
	header, err := m.MarshalHeader()
	if err != nil {
		return err
	}
	if a.JSON {
		_, err = fmt.Fprintf(a.Out, "%s\n", header)
		return err
	}
	size := ""
	if sized, ok := m.Model.(tagger.Sized); ok {
		features, weights := sized.Size()
		size = fmt.Sprintf("%d features, %d weights, ", features, weights)
	}
	_, err = fmt.Fprintf(a.Out, "%s: label set %s, %d tags, %ssha256 %x\n%s\n", m.Name, m.Labels, m.TagSet().Len(), size, m.SHA256, header)
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
