package look

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/flow"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/models/tag/features"
	"github.com/velum-health/velum/models/tag/tagger"
	"github.com/velum-health/velum/pipeline"
)

// ModelOptions say what to look at.
type ModelOptions struct {
	In, From, ID string // notes, and one of them
	Neighbours   string // a word, for a file of vectors
	Top          int    // how many features or neighbours
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
	s := &inspection{Console: c, model: p.Model, why: why, id: f.ID, top: f.Top, weights: map[tagger.Reason]int{}}
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

// inspection is a sink that ranks features or prints one note.
type inspection struct {
	*console.Console
	model   *flow.Model
	why     tagger.Explainer
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

// explained is a note with what spoke for its tags, as --json has it. Places are
// in bytes.
type explained struct {
	Kind   string  `json:"message_type"`
	ID     string  `json:"id"`
	Tokens []token `json:"tokens"`
	Spans  []span  `json:"spans"`
}

type token struct {
	Start       int32     `json:"start"`
	Text        string    `json:"text"`
	Tag         string    `json:"tag"`
	Probability *float32  `json:"probability"` // null: the kind of model has none
	Features    []feature `json:"features"`    // those that spoke loudest for the tag
}

type span struct {
	Start    int32   `json:"start"`
	End      int32   `json:"end"`
	Category string  `json:"category"`
	Source   string  `json:"source"`
	Score    float32 `json:"score"`
}

// loudest is how many features of a token are printed.
const loudest = 3

// printNote prints the tokens of a note with what spoke for their tags.
func (s *inspection) printNote(b *pipeline.Batch, i int) error {
	e := s.explain(b, i)
	if s.JSON {
		return json.NewEncoder(s.Out).Encode(e)
	}
	var out bytes.Buffer
	for _, t := range e.Tokens {
		probability := "-"
		if t.Probability != nil {
			probability = fmt.Sprintf("%.4f", *t.Probability)
		}
		fmt.Fprintf(&out, "%6d  %-20s %-36s %s ", t.Start, t.Text, t.Tag, probability)
		for _, f := range t.Features {
			fmt.Fprintf(&out, "  %s %+.2f", f.Feature, f.Weight)
		}
		out.WriteByte('\n')
	}
	for _, x := range e.Spans {
		fmt.Fprintf(&out, "span %d-%d  %s  %s %.4f\n", x.Start, x.End, x.Category, x.Source, x.Score)
	}
	_, err := s.Out.Write(out.Bytes())
	return err
}

func (s *inspection) explain(b *pipeline.Batch, i int) explained {
	text, tokens, tags := b.Text.At(i), b.Tokens.At(i), b.TagsOf(i)
	n := s.model.TagSet().Len()
	var marginals []float32
	if l, ok := s.model.NewLabeller().(tagger.Marginals); ok {
		marginals = l.Marginals(nil, text, tokens, b.Matches.At(i))
	}
	e := explained{Kind: "note", ID: string(b.ID.At(i)), Tokens: []token{}, Spans: []span{}}
	for _, sequence := range s.why.Describe(text, tokens, b.Matches.At(i)) {
		for _, attributes := range sequence {
			t := len(e.Tokens)
			k := token{Start: tokens[t].Start, Text: string(text[tokens[t].Start:tokens[t].End]), Tag: s.model.TagSet().Name(tags[t])}
			if marginals != nil {
				k.Probability = &marginals[t*n+int(tags[t])]
			}
			k.Features = s.speakFor(tags[t], attributes)
			e.Tokens = append(e.Tokens, k)
		}
	}
	for _, x := range b.Spans.At(i) {
		e.Spans = append(e.Spans, span{x.Start, x.End, x.Category.String(), x.Source.String(), x.Score})
	}
	return e
}

// speakFor returns the features that spoke loudest for a tag.
func (s *inspection) speakFor(tag pipeline.Tag, attributes []features.Attribute) []feature {
	var mine []tagger.Reason
	for _, attribute := range attributes {
		for _, r := range s.why.Reasons(attribute) {
			if r.Tag == tag {
				mine = append(mine, r)
			}
		}
	}
	slices.SortFunc(mine, func(a, b tagger.Reason) int {
		return cmp.Or(cmp.Compare(b.Weight, a.Weight), cmp.Compare(a.Attribute, b.Attribute))
	})
	heard := []feature{}
	for _, r := range mine[:min(loudest, len(mine))] {
		heard = append(heard, feature{Weight: r.Weight, Tag: s.model.TagSet().Name(r.Tag), Feature: r.Attribute})
	}
	return heard
}
