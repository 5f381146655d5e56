package pack

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/flow"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/pipeline"
)

// Test scores each network of a pack on labelled notes, and all together, by
// the overlap criterion of ATN §4.2: a find is right if it shares a byte with a
// gold span of its category.
func Test(ctx context.Context, c *console.Console, cfg *option.Config, file, gold string) error {
	if gold == "" {
		return exit.Errorf(exit.Config, "name labelled notes with --gold", "velum rules test: --gold is needed")
	}
	f, err := openFinder(cfg, file)
	if err != nil {
		return err
	}
	r, err := flow.TextOptions(cfg)
	if err != nil {
		return err
	}
	src, err := flow.OpenNotes("gold", "", gold, r)
	if err != nil {
		return err
	}
	defer src.Close()
	s := newScores(f)
	if err := flow.InputError(pipeline.Run(ctx, src, []pipeline.Step{flow.Tokenized(cfg)}, s, nil)); err != nil {
		return err
	}
	return s.print(c)
}

// right counts finds by the overlap criterion.
type right struct {
	Finds int `json:"finds"`
	Right int `json:"right"`
	Gold  int `json:"gold,omitempty"`  // spans of the category
	Found int `json:"found,omitempty"` // of them
}

func (r *right) precision() float64 { return share(r.Right, r.Finds) }
func (r *right) recall() float64    { return share(r.Found, r.Gold) }
func (r *right) f1() float64 {
	if p, q := r.precision(), r.recall(); p+q > 0 {
		return 2 * p * q / (p + q)
	}
	return 0
}

func share(a, b int) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}

// networkScores is a sink that scores finds.
type networkScores struct {
	*finder
	networks []right // or recognizers
	total    map[pipeline.Category]*right
	notes    int
	found    []pipeline.Span
	mistakes []mistake // of the categories together, in the order of the notes
}

func newScores(f *finder) *networkScores {
	s := &networkScores{finder: f, networks: make([]right, len(f.names)), total: map[pipeline.Category]*right{}}
	for _, category := range f.categories {
		s.total[category] = &right{}
	}
	return s
}

// Put implements pipeline.Sink.
func (s *networkScores) Put(b *pipeline.Batch) error {
	for i := range b.Len() {
		if b.Reason[i] == pipeline.Sound {
			s.add(b, i)
		}
	}
	return nil
}

// add scores a note.
func (s *networkScores) add(b *pipeline.Batch, i int) {
	s.notes++
	gold := b.Gold.At(i)
	for _, f := range s.trace(b.Text.At(i), b.Tokens.At(i)) {
		n := &s.networks[f.of]
		n.Finds++
		if overlaps(gold, f.start, f.end, f.category) {
			n.Right++
		}
	}
	s.found = s.spans(s.found[:0], b.Text.At(i), b.Tokens.At(i))
	s.together(string(b.ID.At(i)), gold)
}

// all is the counts of all categories together.
func (s *networkScores) all() (sum right) {
	for _, t := range s.total {
		sum.Finds, sum.Right, sum.Gold, sum.Found = sum.Finds+t.Finds, sum.Right+t.Right, sum.Gold+t.Gold, sum.Found+t.Found
	}
	return sum
}

func (s *networkScores) together(id string, gold []pipeline.Span) {
	for _, f := range s.found {
		t := s.total[f.Category]
		t.Finds++
		if overlaps(gold, f.Start, f.End, f.Category) {
			t.Right++
		} else {
			s.mistakes = append(s.mistakes, mistake{id, f.Category.String(), inVain, f.Start, f.End})
		}
	}
	for _, g := range gold {
		t := s.total[g.Category]
		if t == nil {
			continue
		}
		t.Gold++
		if overlaps(s.found, g.Start, g.End, g.Category) {
			t.Found++
		} else {
			s.mistakes = append(s.mistakes, mistake{id, g.Category.String(), missed, g.Start, g.End})
		}
	}
}

func overlaps(spans []pipeline.Span, start, end int32, c pipeline.Category) bool {
	for _, s := range spans {
		if s.Category == c && s.Start < end && start < s.End {
			return true
		}
	}
	return false
}

func (s *networkScores) print(c *console.Console) error {
	if c.JSON {
		networks, categories := map[string]right{}, map[string]right{}
		for i, n := range s.networks {
			networks[s.names[i]] = n
		}
		for category, t := range s.total {
			categories[category.String()] = *t
		}
		return json.NewEncoder(c.Out).Encode(map[string]any{"message_type": "rules", "notes": s.notes, s.called: networks, "categories": categories})
	}
	w := tabwriter.NewWriter(c.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "%s\tfinds\tright\tprecision\n", strings.TrimSuffix(s.called, "s"))
	for i, n := range s.networks {
		fmt.Fprintf(w, "%s\t%d\t%d\t%.3f\n", s.names[i], n.Finds, n.Right, n.precision())
	}
	fmt.Fprintf(w, "\ncategory\tfinds\tright\tprecision\tgold\tfound\trecall\tF1\n")
	for _, category := range s.categories {
		t := s.total[category]
		fmt.Fprintf(w, "%s\t%d\t%d\t%.3f\t%d\t%d\t%.3f\t%.3f\n", category, t.Finds, t.Right, t.precision(), t.Gold, t.Found, t.recall(), t.f1())
	}
	return w.Flush()
}
