package study

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/flow"
	"github.com/velum-health/velum/cmd/velum/internal/report"
	"github.com/velum-health/velum/models/tag/features"
	"github.com/velum-health/velum/models/tag/tagger"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/stages/score"
)

// Ranked is a feature with its average contribution at the gold tokens of a category: the weights for the gold tag
// minus the weights for O. A feature is a template group at a window offset; its values, which may be words, are
// summed.
type Ranked struct {
	Kind     string  `json:"kind"`
	Category string  `json:"category"`
	Feature  string  `json:"feature"` // group[offset]
	Adds     float64 `json:"adds"`
	Tokens   int     `json:"tokens"` // of the category
}

// rankPart ranks features by category (VIGI §6.5), at tokens that the model has not
// seen: in the folds, or on the development notes.
func (s *study) rankPart(ctx context.Context, splits []split) (*Part, error) {
	cells := s.inSplits(splits)
	for _, c := range cells {
		for _, t := range c.trials {
			t.rank = true
		}
	}
	p, err := s.table(ctx, "", len(splits), cells)
	if err != nil {
		return nil, err
	}
	p.Points = nil // nothing is scored
	for _, c := range cells {
		p.Ranking = append(p.Ranking, together(c.arm.name, c.trials)...)
	}
	return p, nil
}

// together joins what the trials of an arm found, each by its tokens.
func together(kind string, trials []*trial) (all []*Ranked) {
	type name struct{ category, feature string }
	sums, tokens := map[name]float64{}, map[string]int{}
	for _, t := range trials {
		of := map[string]int{}
		for _, r := range t.outcome.Ranking {
			sums[name{r.Category, r.Feature}] += r.Adds * float64(r.Tokens)
			of[r.Category] = r.Tokens
		}
		for c, n := range of {
			tokens[c] += n
		}
	}
	for n, sum := range sums {
		all = append(all, &Ranked{kind, n.category, n.feature, report.Rounded(sum / float64(tokens[n.category])), tokens[n.category]})
	}
	slices.SortFunc(all, func(a, b *Ranked) int {
		return cmp.Or(cmp.Compare(a.Category, b.Category), cmp.Compare(math.Abs(b.Adds), math.Abs(a.Adds)), cmp.Compare(a.Feature, b.Feature))
	})
	return all
}

// ranking is a sink that sums up what features add.
type ranking struct {
	model   *flow.Model
	why     tagger.Explainer
	into    func(pipeline.Category) pipeline.Category
	outcome *outcome
	sums    map[pipeline.Category]map[string]float64
	tokens  map[pipeline.Category]int
}

func (s *study) newRanking(m *flow.Model, o *outcome) (*ranking, error) {
	why, ok := m.Model.(tagger.Explainer)
	if !ok {
		return nil, exit.Misconfiguredf("name one that can, as crf", "--kinds: %s cannot say what a feature weighs", m.Header().Kind)
	}
	o.Scores = score.New(score.Options{Draws: -1})
	return &ranking{m, why, s.into, o, map[pipeline.Category]map[string]float64{}, map[pipeline.Category]int{}}, nil
}

// Put implements pipeline.Sink.
func (r *ranking) Put(b *pipeline.Batch) error {
	set := r.model.TagSet()
	var spans []pipeline.Span
	for i := range b.Sound() {
		spans = spans[:0]
		for _, x := range b.Gold.At(i) {
			if x.Category = r.into(x.Category); slices.Contains(set.Categories, x.Category) {
				spans = append(spans, x)
			}
		}
		tags := make([]pipeline.Tag, len(b.Tokens.At(i)))
		set.Encode(tags, b.Tokens.At(i), spans)
		at := 0
		for _, sequence := range r.why.Describe(b.Text.At(i), b.Tokens.At(i), b.Matches.At(i)) {
			for _, attributes := range sequence {
				if tags[at] != pipeline.O {
					r.add(set.Category(tags[at]), tags[at], attributes)
				}
				at++
			}
		}
	}
	return nil
}

// add adds the attributes of a token. What an attribute is called may end in a word.
func (r *ranking) add(c pipeline.Category, tag pipeline.Tag, attributes []features.Attribute) {
	if r.sums[c] == nil {
		r.sums[c] = map[string]float64{}
	}
	r.tokens[c]++
	for _, a := range attributes {
		name, _, _ := strings.Cut(a.Name, "=")
		for _, w := range r.why.Reasons(a) {
			switch w.Tag {
			case tag:
				r.sums[c][name] += float64(w.Weight)
			case pipeline.O:
				r.sums[c][name] -= float64(w.Weight)
			}
		}
	}
}

// end writes down the means.
func (r *ranking) end() {
	for _, c := range slices.Sorted(maps.Keys(r.sums)) {
		for _, name := range slices.Sorted(maps.Keys(r.sums[c])) {
			r.outcome.Ranking = append(r.outcome.Ranking, Ranked{Category: c.String(), Feature: name, Adds: r.sums[c][name] / float64(r.tokens[c]),
				Tokens: r.tokens[c]})
		}
	}
}
