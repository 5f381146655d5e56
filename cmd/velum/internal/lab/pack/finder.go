package pack

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/velum-health/velum/cmd/velum/internal/files"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/models/form/recognizers"
	"github.com/velum-health/velum/models/tag/rules"
	"github.com/velum-health/velum/pipeline"
)

// finder is a file of networks or of recognizers, for one goroutine.
type finder struct {
	called     string   // networks, recognizers
	names      []string // of them, in the order of the file
	categories []pipeline.Category
	text       string

	trace func(text []byte, tokens []pipeline.Token) []traced
	spans func(dst []pipeline.Span, text []byte, tokens []pipeline.Token) []pipeline.Span // those that do not overlap
}

// traced is a place that was found, and how.
type traced struct {
	start, end int32
	of         int // finder.names
	category   pipeline.Category
	score      float32
	steps      []string
}

// openFinder compiles a file of either kind, told by its name.
func openFinder(cfg *option.Config, file string) (*finder, error) {
	if files.IsRecognizers(file) {
		s, err := files.Recognizers(file)
		if err != nil {
			return nil, err
		}
		return ofRecognizers(s), nil
	}
	p, err := open(cfg, file)
	if err != nil {
		return nil, err
	}
	return ofNetworks(p), nil
}

func ofNetworks(p *rules.Pack) *finder {
	machine := p.NewMachine()
	return &finder{
		called: "networks", names: p.Networks(), categories: p.Categories(), text: p.Text(), spans: machine.Spans,
		trace: func(text []byte, tokens []pipeline.Token) (all []traced) {
			for _, f := range machine.Trace(text, tokens) {
				t := traced{start: f.Start, end: f.End, of: int(f.Network), category: f.Category, score: f.Score}
				for _, s := range f.Steps {
					t.steps = append(t.steps, fmt.Sprintf("line %d  %s/%s  %q", s.Line, s.Network, s.State, text[s.Start:s.End]))
				}
				all = append(all, t)
			}
			return all
		},
	}
}

func ofRecognizers(s *recognizers.Set) *finder {
	return &finder{
		called: "recognizers", names: s.Names(), categories: s.Categories(), text: s.Text(),
		trace: func(text []byte, _ []pipeline.Token) (all []traced) {
			finds, ok := s.Find(nil, text)
			for _, f := range finds {
				t := traced{start: f.Start, end: f.End, of: f.Recognizer, category: f.Category, score: f.Score}
				step := "deny list"
				if f.Line > 0 {
					step = fmt.Sprintf("line %d", f.Line)
				}
				if f.Context {
					step += ", context"
				}
				if f.Checked {
					step += ", check digit"
				}
				if !ok {
					step += "; the work that one note may cost has ended here"
				}
				t.steps = []string{step}
				all = append(all, t)
			}
			return all
		},
		spans: func(dst []pipeline.Span, text []byte, _ []pipeline.Token) []pipeline.Span {
			finds, _ := s.Find(nil, text)
			slices.SortStableFunc(finds, func(a, b recognizers.Find) int {
				return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(b.End-b.Start, a.End-a.Start), cmp.Compare(a.Start, b.Start))
			})
			first := len(dst)
			for _, f := range finds {
				if !slices.ContainsFunc(dst[first:], func(o pipeline.Span) bool { return f.Start < o.End && o.Start < f.End }) {
					dst = append(dst, pipeline.Span{Start: f.Start, End: f.End, Score: f.Score, Category: f.Category, Source: pipeline.FromPattern})
				}
			}
			slices.SortFunc(dst[first:], func(a, b pipeline.Span) int { return cmp.Compare(a.Start, b.Start) })
			return dst
		},
	}
}
