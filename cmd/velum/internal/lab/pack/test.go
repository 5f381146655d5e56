package pack

import (
	"context"
	"slices"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/flow"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/models/tag/rules"
	"github.com/velum-health/velum/pipeline"
)

// Test scores each network of a pack on labelled notes, and all networks together. A span counts as right if it shares
// a byte with a gold span of its category (overlap criterion of ATN §4.2). Given an earlier version of the rule file,
// it lists the errors that are gone and the new ones: ATN §2.1 keeps a rule that corrects more than one error and does
// not lower F1.
func Test(ctx context.Context, c *console.Console, cfg *option.Config, o *Options) error {
	now, err := scored(ctx, cfg, o.File, o.Gold)
	if err != nil {
		return err
	}
	if o.With != "" {
		was, err := scored(ctx, cfg, o.With, o.Gold)
		if err != nil {
			return err
		}
		now.than = changed(was, now)
	}
	return now.print(c)
}

// scored runs a file of rules over labelled notes.
func scored(ctx context.Context, cfg *option.Config, file, gold string) (*networkScores, error) {
	p, err := open(cfg, file)
	if err != nil {
		return nil, err
	}
	s := newScores(p)
	notes := flow.Labelled{Flag: "gold", Paths: []string{gold}, Config: cfg}
	return s, notes.Run(ctx, []pipeline.Step{flow.Tokenized(cfg)}, s)
}

// mistake is an error of rules on a labelled note: where it is, and no words.
type mistake struct {
	ID       string `json:"id"`
	Category string `json:"category"`
	Kind     string `json:"kind"`
	Start    int32  `json:"start"` // bytes
	End      int32  `json:"end"`
}

// Kinds of errors: a span that is missing in the result, or one that is too many.
const (
	missed = "missed"
	inVain = "in vain"
)

// change is how rules differ from what they were, on the same notes.
type change struct {
	Was    float64 `json:"f1_was"`
	Now    float64 `json:"f1"`
	Mended int     `json:"mended"` // errors that went
	Made   int     `json:"made"`   // errors that came
}

func changed(was, now *networkScores) *change {
	old, fresh := was.all(), now.all()
	return &change{old.F1, fresh.F1, len(gone(was.mistakes, now.mistakes)), len(gone(now.mistakes, was.mistakes))}
}

// gone returns the mistakes of was that are none of now.
func gone(was, now []mistake) []mistake {
	still := map[mistake]bool{}
	for _, m := range now {
		still[m] = true
	}
	return slices.DeleteFunc(slices.Clone(was), func(m mistake) bool { return still[m] })
}

// right counts finds by the overlap criterion.
type right struct {
	Finds     int     `json:"finds"`
	Right     int     `json:"right"`
	Precision float64 `json:"precision"`
	Gold      int     `json:"gold,omitempty"`  // spans of the category
	Found     int     `json:"found,omitempty"` // of them
	Recall    float64 `json:"recall,omitempty"`
	F1        float64 `json:"f1,omitempty"`
}

// rated returns the counts with their ratios; those without a denominator are 0.
func (r right) rated() right {
	r.Precision, r.Recall = float64(r.Right)/float64(max(r.Finds, 1)), float64(r.Found)/float64(max(r.Gold, 1))
	if p, q := r.Precision, r.Recall; p+q > 0 {
		r.F1 = 2 * p * q / (p + q)
	}
	return r
}

// networkScores is a sink that scores finds.
type networkScores struct {
	pack     *rules.Pack
	machine  *rules.Machine
	networks []right
	total    map[pipeline.Category]*right
	notes    int
	found    []pipeline.Span
	mistakes []mistake // of the categories together, in the order of the notes
	than     *change   // from the rules as they were; nil where none are named
}

func newScores(p *rules.Pack) *networkScores {
	s := &networkScores{pack: p, machine: p.NewMachine(), networks: make([]right, len(p.Networks())), total: map[pipeline.Category]*right{}}
	for _, category := range p.Categories() {
		s.total[category] = &right{}
	}
	return s
}

// Put implements pipeline.Sink.
func (s *networkScores) Put(b *pipeline.Batch) error {
	for i := range b.Sound() {
		s.add(b, i)
	}
	return nil
}

// add scores a note.
func (s *networkScores) add(b *pipeline.Batch, i int) {
	s.notes++
	gold := b.Gold.At(i)
	for _, f := range s.machine.Finds(b.Text.At(i), b.Tokens.At(i)) {
		n := &s.networks[f.Network]
		n.Finds++
		if overlaps(gold, f.Start, f.End, f.Category) {
			n.Right++
		}
	}
	s.found = s.machine.Spans(s.found[:0], b.Text.At(i), b.Tokens.At(i))
	s.together(string(b.ID.At(i)), gold)
}

// all is the counts of all categories together.
func (s *networkScores) all() (sum right) {
	for _, t := range s.total {
		sum.Finds, sum.Right, sum.Gold, sum.Found = sum.Finds+t.Finds, sum.Right+t.Right, sum.Gold+t.Gold, sum.Found+t.Found
	}
	return sum.rated()
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

// print says how good each network is, and each category.
func (s *networkScores) print(c *console.Console) error {
	networks, categories := map[string]right{}, map[string]right{}
	for i, n := range s.networks {
		networks[s.pack.Networks()[i]] = n.rated()
	}
	for category, t := range s.total {
		categories[category.String()] = t.rated()
	}
	return c.Tell(map[string]any{
		"message_type": "rules", "notes": s.notes, "networks": networks, "categories": categories, "errors": s.mistakes, "changed": s.than,
	}, `network	finds	right	precision
{{range $name, $n := .networks}}{{$name}}	{{.finds}}	{{.right}}	{{figure "%.3f" .precision}}
{{end}}
category	finds	right	precision	gold	found	recall	F1
{{range $name, $n := .categories}}{{$name}}	{{.finds}}	{{.right}}	{{figure "%.3f" .precision}}	{{figure "%.0f" .gold}}	{{figure "%.0f" .found}}	{{figure "%.3f" .recall}}	{{figure "%.3f" .f1}}
{{end}}{{with .changed}}
{{.mended}} errors mended, {{.made}} made, F1 {{figure "%.4f" .f1_was}} -> {{figure "%.4f" .f1}}
{{end}}`)
}
