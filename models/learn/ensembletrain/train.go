// Package ensembletrain makes ensembles of taggers. For mode priority it measures on labelled notes how precise each
// member is (VIGI §5.8).
//
//	in:  taggers of one label set; labelled notes that they have not seen
//	out: a *ensemble.Model that holds them
package ensembletrain

import (
	"errors"
	"fmt"

	"github.com/velum-health/velum/models/tag/ensemble"
	"github.com/velum-health/velum/models/tag/tagger"
	"github.com/velum-health/velum/pipeline"
)

// Trainer implements tagger.Trainer for ensembles. It keeps counts and no words.
type Trainer struct {
	m         *ensemble.Model
	labellers []tagger.Labeller
	covers    []map[pipeline.Category]*ratio // of the members
	tags      []pipeline.Tag
	gold      []pipeline.Span
	said      []pipeline.Span
	notes     int
}

type ratio struct{ right, all int }

// NewTrainer returns a trainer without notes for the members of m.
func NewTrainer(m *ensemble.Model) *Trainer {
	t := &Trainer{m: m}
	if m.Mode() == ensemble.Priority {
		for _, member := range m.Members() {
			t.labellers = append(t.labellers, member.NewLabeller(tagger.LabelOptions{}))
			t.covers = append(t.covers, map[pipeline.Category]*ratio{})
		}
	}
	return t
}

// Add tags a labelled note with each tagger of the ensemble and counts, by tagger and category, the spans that it finds
// and those of them that contain a gold span of the category whole. tags are the gold tags.
func (t *Trainer) Add(text []byte, tokens []pipeline.Token, matches []pipeline.Match, tags []pipeline.Tag) error {
	t.notes++
	set := t.m.TagSet()
	t.gold = set.Decode(t.gold[:0], tokens, tags)
	t.tags = append(t.tags[:0], tags...)
	for k, l := range t.labellers {
		l.Label(text, tokens, matches, t.tags)
		t.said = set.Decode(t.said[:0], tokens, t.tags)
		t.cover(t.covers[k])
	}
	return nil
}

func (t *Trainer) cover(of map[pipeline.Category]*ratio) {
	gold := t.gold
	for _, s := range t.said {
		r := of[s.Category]
		if r == nil {
			r = new(ratio)
			of[s.Category] = r
		}
		r.all++
		for len(gold) > 0 && gold[0].End <= s.Start {
			gold = gold[1:]
		}
		for _, g := range gold {
			if g.Start >= s.End {
				break
			}
			if g.Category == s.Category && s.Start <= g.Start && g.End <= s.End {
				r.right++
				break
			}
		}
	}
}

// Work implements tagger.Trainer. All work is done in Add.
func (t *Trainer) Work() (unit string, times int) { return "measures", 1 }

// Train implements tagger.Trainer. The members are not changed. Precision is smoothed by one right and one wrong span,
// because a category seen twice says little.
func (t *Trainer) Train(o tagger.TrainOptions) (tagger.Model, error) {
	if o.Init != nil {
		return nil, fmt.Errorf("%w: an ensemble is made of its members", tagger.ErrInit)
	}
	if t.notes == 0 {
		return nil, errors.New("no notes to measure the members on")
	}
	var precision []map[string]float32
	for _, of := range t.covers {
		all := map[string]float32{}
		for _, category := range t.m.TagSet().Categories {
			r := ratio{}
			if seen := of[category]; seen != nil {
				r = *seen
			}
			all[category.String()] = float32(r.right+1) / float32(r.all+2)
		}
		precision = append(precision, all)
	}
	if o.Progress != nil {
		o.Progress(fmt.Sprintf("%d notes", t.notes))
	}
	return t.m.Trained(o.About, precision), nil
}
