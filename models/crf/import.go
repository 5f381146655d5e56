package crf

import (
	"fmt"

	"github.com/velum-health/velum/models/tagger"

	"github.com/velum-health/velum/models/chain"
	"github.com/velum-health/velum/models/features"
	"github.com/velum-health/velum/pipeline"
)

// StateWeight is a weight of another program's model: of a feature, seen at a
// window offset, with a tag.
type StateWeight struct {
	Group  string // of the template
	Offset int
	Value  string // as features.Describe writes it
	Tag    string
	Weight float64
}

// TransitionWeight is a weight between two tags.
type TransitionWeight struct {
	From, To string
	Weight   float64
}

// Import makes a model of the weights of another program, so that both can be
// held against each other with the same numbers. Illegal transitions are
// allowed, as other programs do, and tags without any weight do not exist.
func Import(t *features.Template, set *pipeline.TagSet, r features.Resources, states []StateWeight, transitions []TransitionWeight) (*Model, error) {
	tags := map[string]int{}
	for y := range set.Len() {
		tags[set.Name(pipeline.Tag(y))] = y
	}
	groups := map[string]*features.Group{}
	for i := range t.Groups {
		groups[t.Groups[i].Name] = &t.Groups[i]
	}
	type slots map[int]float32
	byKey := map[uint64]slots{}
	b := newBuilder(t, set)
	var seen [maxTags]bool
	for _, s := range states {
		g, y := groups[s.Group], tags[s.Tag]
		if g == nil || s.Offset < g.Lo || s.Offset > g.Hi || y == 0 && s.Tag != "O" {
			return nil, fmt.Errorf("weight of group %s at offset %d for tag %s: not in the template or tag set", s.Group, s.Offset, s.Tag)
		}
		seen[y] = true
		k := features.Key(s.Group, s.Value)
		if byKey[k] == nil {
			byKey[k] = slots{}
		}
		byKey[k][(g.Hi-s.Offset)*b.stride+y] = float32(s.Weight)
	}
	for k, s := range byKey {
		b.feature(k)
		for at := range (t.Hi - t.Lo + 1) * b.stride {
			if w, ok := s[at]; ok {
				b.put(at/b.stride, at%b.stride, w)
			}
		}
	}
	weights := chain.NewWeights(set, false)
	for _, p := range transitions {
		from, to := tags[p.From], tags[p.To]
		seen[from], seen[to] = true, true
		weights.Score[from*weights.L+to] = float32(p.Weight)
	}
	forbidOthers(weights, &seen)
	return b.model(tagger.Header{}, weights, r)
}
