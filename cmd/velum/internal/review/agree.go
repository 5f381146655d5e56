package review

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"os"
	"slices"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/pipeline"
)

// agreement is the agreement of two curators on the same notes.
type agreement struct {
	Notes   int     `json:"notes"` // that both have
	Differ  int     `json:"differ"`
	F1      float64 `json:"f1"`    // of strict spans, the one as gold of the other
	Kappa   float64 `json:"kappa"` // Cohen's, by token
	Both    int     `json:"spans_both"`
	First   int     `json:"spans_first"`
	Second  int     `json:"spans_second"`
	Missing int     `json:"missing"` // notes that the second lacks
}

// agreement compares the spans of the notes with those of the other curator.
func (s *session) agreement() (a agreement) {
	counts := map[[2]pipeline.Category]int{}
	for i := range s.notes {
		n := &s.notes[i]
		if n.other == nil {
			a.Missing++
			continue
		}
		a.Notes++
		if n.differs {
			a.Differ++
		}
		a.First, a.Second = a.First+len(n.spans), a.Second+len(n.other)
		for _, x := range n.spans {
			if slices.ContainsFunc(n.other, func(y pipeline.Span) bool { return same(x, y) }) {
				a.Both++
			}
		}
		for _, t := range n.tokens {
			counts[[2]pipeline.Category{categoryAt(n.spans, t), categoryAt(n.other, t)}]++
		}
	}
	if a.First+a.Second > 0 {
		a.F1 = 2 * float64(a.Both) / float64(a.First+a.Second)
	} else if a.Notes > 0 {
		a.F1 = 1
	}
	a.Kappa = kappa(counts)
	return a
}

func same(x, y pipeline.Span) bool {
	return x.Start == y.Start && x.End == y.End && x.Category == y.Category
}

func categoryAt(spans []pipeline.Span, t pipeline.Token) pipeline.Category {
	for _, s := range spans {
		if s.Start < t.End && t.Start < s.End {
			return s.Category
		}
	}
	return pipeline.None
}

// kappa is Cohen's: (p_o - p_e) / (1 - p_e), where p_o is the observed share of agreement and p_e the share expected by
// chance. The sums are in a fixed order, so that the last digit is reproducible.
func kappa[T cmp.Ordered](counts map[[2]T]int) float64 {
	var n, agreed float64
	first, second := map[T]float64{}, map[T]float64{}
	for pair, k := range counts {
		n += float64(k)
		first[pair[0]] += float64(k)
		second[pair[1]] += float64(k)
		if pair[0] == pair[1] {
			agreed += float64(k)
		}
	}
	if n == 0 {
		return 0
	}
	chance := 0.0
	for _, c := range slices.Sorted(maps.Keys(first)) {
		chance += first[c] / n * second[c] / n
	}
	if chance == 1 {
		return 1
	}
	return (agreed/n - chance) / (1 - chance)
}

// compare reads the notes of the other curator and prints the agreement. The page then shows only the notes on which
// the two differ.
func (s *session) compare(ctx context.Context, c *console.Console, cfg *option.Config, o *Options) error {
	if s.asks.answers != nil {
		return s.compareAnswers(c, o)
	}
	others, _, err := load(ctx, cfg, "", o.Other)
	if err != nil {
		return err
	}
	byID := make(map[string]*note, len(others))
	for i := range others {
		byID[others[i].id] = &others[i]
	}
	for i := range s.notes {
		n := &s.notes[i]
		if other := byID[n.id]; other != nil && other.text == n.text {
			n.other = append([]pipeline.Span{}, other.spans...)
			n.differs = !slices.EqualFunc(n.spans, n.other, same)
		}
	}
	s.order = slices.DeleteFunc(s.order, func(i int) bool { return !s.notes[i].differs })
	a := s.agreement()
	return c.Tell(map[string]any{"message_type": "agreement", "agreement": a}, `{{with .agreement}}{{.notes}} notes that both have, {{.differ}} differ; F1 {{figure "%.4f" .f1}} of {{.spans_first}} and {{.spans_second}} spans, kappa {{figure "%.4f" .kappa}} by token
{{end}}`)
}

// answerAgreement is the agreement of two people on a question with fixed answers.
type answerAgreement struct {
	Notes  int     `json:"notes"` // that both have answered
	Differ int     `json:"differ"`
	Kappa  float64 `json:"kappa"` // Cohen's, by note
}

// compareAnswers reads another person's answers, prints the agreement with this session, and keeps on the page only the
// notes with different answers.
func (s *session) compareAnswers(c *console.Console, o *Options) error {
	data, err := os.ReadFile(o.Other)
	if err != nil {
		return exit.Misconfigured(err, "name the other person's answers")
	}
	others := map[string]string{}
	row := 0
	for line := range bytes.Lines(data) {
		row++
		var a answerLine
		if json.Unmarshal(line, &a) != nil || !slices.Contains(s.asks.answers, a.Answer) {
			return exit.Misconfiguredf("name a file that `velum review --ask "+s.asks.name+"` has written", "%s: line %d is no answer", o.Other, row)
		}
		others[a.ID] = a.Answer
	}
	var agreed answerAgreement
	counts := map[[2]string]int{}
	for i := range s.notes {
		n := &s.notes[i]
		n.against = others[n.id]
		if !n.decided || n.against == "" {
			continue
		}
		agreed.Notes++
		counts[[2]string{n.answer, n.against}]++
		if n.differs = n.answer != n.against; n.differs {
			agreed.Differ++
		}
	}
	s.order = slices.DeleteFunc(s.order, func(i int) bool { return !s.notes[i].differs })
	agreed.Kappa = kappa(counts)
	return c.Tell(map[string]any{"message_type": "agreement", "agreement": agreed},
		"{{with .agreement}}{{.notes}} notes that both have answered, {{.differ}} differ; kappa {{figure `%.4f` .kappa}}\n{{end}}")
}
