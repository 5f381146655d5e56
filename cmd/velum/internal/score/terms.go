package score

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/flow"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/stages/read/text"
)

// goldTerms are spans of valuable information that people marked, by the labels
// of their own scheme: MORFOLOGIA_NEOPLASIA, ENFERMEDAD, FARMACO...
type goldTerms struct {
	of    map[string][]pipeline.Span // by the note's id; a category is an index of kinds
	kinds []Kept                     // the first one is none
	notes int64                      // that were found in both
}

const maxLabels = 255 // as many as a category has values

// other is what a label is called that does not look like one: in a broken file
// it may be words of a note.
const other = "(other)"

// loadTerms reads notes with gold spans of any labels.
func loadTerms(path string, o text.Options) (*goldTerms, error) {
	g := &goldTerms{kinds: make([]Kept, 1)}
	o.Category = func(label string) (pipeline.Category, error) {
		if len(label) > 40 || strings.ContainsFunc(label, notOfLabels) {
			label = other
		}
		at := slices.IndexFunc(g.kinds[1:], func(k Kept) bool { return k.Kind == label }) + 1
		if at == 0 {
			if len(g.kinds) > maxLabels {
				return pipeline.None, fmt.Errorf("more than %d labels", maxLabels)
			}
			at = len(g.kinds)
			g.kinds = append(g.kinds, Kept{Kind: label})
		}
		return pipeline.Category(at), nil
	}
	format, err := flow.FormatOf("terms", "", path)
	if err != nil {
		return nil, err
	}
	given, err := flow.LoadGiven("terms", format, path, o)
	if err != nil {
		return nil, err
	}
	g.of = given.Spans
	return g, nil
}

func notOfLabels(r rune) bool {
	return !(r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '_' || r == '-')
}

// count counts the terms of a note, and those that nothing of is masked. Of
// terms that overlap the reader keeps one.
func (g *goldTerms) count(id string, text []byte, masked []pipeline.Span) error {
	terms, ok := g.of[id]
	if !ok {
		return nil
	}
	g.notes++
	next := 0
	for _, t := range terms {
		if int(t.End) > len(text) {
			return exit.Errorf(exit.Config, "give the gold terms of these notes", "--terms: a note of --in is shorter than its terms say")
		}
		for next < len(masked) && masked[next].End <= t.Start {
			next++
		}
		k := &g.kinds[t.Category]
		k.Terms++
		if next == len(masked) || masked[next].Start >= t.End {
			k.Kept++
		}
	}
	return nil
}

// shares are the kinds by name.
func (g *goldTerms) shares() []Kept {
	all := slices.Clone(g.kinds[1:])
	slices.SortFunc(all, func(a, b Kept) int { return cmp.Compare(a.Kind, b.Kind) })
	for i := range all {
		if all[i].Terms > 0 {
			all[i].Share = float64(all[i].Kept) / float64(all[i].Terms)
		}
	}
	return all
}
