package crf

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/velum-health/velum/models/tag/chain"
	"github.com/velum-health/velum/models/tag/features"
	"github.com/velum-health/velum/models/tag/tagger"
	"github.com/velum-health/velum/pipeline"
)

// Reasons returns the weights of an attribute for all tags; none if the model does not know it. It parses the
// attribute's name, and is meant for `velum model inspect`.
func (m *Model) Reasons(a features.Attribute) []tagger.Reason {
	group, offset, value, ok := splitAttribute(a.Name)
	if !ok {
		return nil
	}
	i := slices.IndexFunc(m.template.Groups, func(g features.Group) bool { return g.Name == group })
	if i < 0 || offset > m.template.Groups[i].Hi || offset < m.template.Groups[i].Lo {
		return nil
	}
	row := m.template.Groups[i].Hi - offset
	var out []tagger.Reason
	slots, weights := m.find(features.Key(group, value))
	for k, s := range slots {
		if int(s)/m.stride == row {
			out = append(out, tagger.Reason{Attribute: a.Name, Tag: pipeline.Tag(int(s) % m.stride), Weight: weights[k] * a.Value})
		}
	}
	return out
}

// splitAttribute takes "word[-1]=calle" apart.
func splitAttribute(name string) (group string, offset int, value string, ok bool) {
	group, rest, ok1 := strings.Cut(name, "[")
	at, value, ok2 := strings.Cut(rest, "]=")
	offset, err := strconv.Atoi(at)
	return group, offset, value, ok1 && ok2 && err == nil
}

// Describe lists the attributes of a note's tokens, see features.Describe.
func (m *Model) Describe(text []byte, tokens []pipeline.Token, matches []pipeline.Match) [][][]features.Attribute {
	return features.Describe(m.template, m.res, text, tokens, matches)
}

// why holds the sums over all paths of a note in log space and float64, and the
// attributes that its state scores are sums of.
//
//	log P(y_t=a)/P(y_t=b) = s(t,a) − s(t,b) + before(t,a) − before(t,b) + after(t,a) − after(t,b)
//	before(t,y) = log Σ_i e^(before(t−1,i) + s(t−1,i) + a(i,y)), at the first token start(y)
//	after(t,y)  = log Σ_j e^(a(y,j) + s(t+1,j) + after(t+1,j)), at the last end(y)
type why struct {
	m             *Model
	bias          float64
	attributes    [][]features.Attribute // by token
	before, after [][]float64            // [tokens][tags]
	state         [][]float64            // [tokens][tags]
}

// Why implements tagger.Explainer by forward-backward over the same scores as tagging.
func (m *Model) Why(text []byte, tokens []pipeline.Token, matches []pipeline.Match, bias float32) tagger.Why {
	w := &why{m: m, bias: float64(bias)}
	for _, sequence := range m.Describe(text, tokens, matches) {
		w.add(sequence)
	}
	return w
}

// add sums over the paths of a sequence.
func (w *why) add(sequence [][]features.Attribute) {
	n, from, T := w.m.set.Len(), len(w.state), len(sequence)
	for _, attributes := range sequence {
		state := make([]float64, n)
		for _, a := range attributes {
			for _, r := range w.m.Reasons(a) {
				state[r.Tag] += float64(r.Weight)
			}
		}
		state[pipeline.O] -= w.bias
		w.attributes, w.state = append(w.attributes, attributes), append(w.state, state)
		w.before, w.after = append(w.before, make([]float64, n)), append(w.after, make([]float64, n))
	}
	between := func(i, j int) float64 { return float64(w.m.weights.Score[i*n+j]) }
	terms := make([]float64, n)
	for t := range T {
		for y := range n {
			at := from + t
			if t == 0 {
				w.before[at][y] = float64(w.m.weights.Start[y])
				continue
			}
			for i := range n {
				terms[i] = w.before[at-1][i] + w.state[at-1][i] + between(i, y)
			}
			w.before[at][y] = chain.LogSum(terms)
		}
	}
	for t := T - 1; t >= 0; t-- {
		for y := range n {
			at := from + t
			if t == T-1 {
				w.after[at][y] = float64(w.m.weights.End[y])
				continue
			}
			for j := range n {
				terms[j] = between(y, j) + w.state[at+1][j] + w.after[at+1][j]
			}
			w.after[at][y] = chain.LogSum(terms)
		}
	}
}

// Odds implements tagger.Why.
func (w *why) Odds(t int, tag, against pipeline.Tag) tagger.Odds {
	o := tagger.Odds{Before: w.before[t][tag] - w.before[t][against], After: w.after[t][tag] - w.after[t][against]}
	o.Log = w.state[t][tag] - w.state[t][against] + o.Before + o.After
	if tag == pipeline.O {
		o.Dial -= w.bias
	}
	if against == pipeline.O {
		o.Dial += w.bias
	}
	for _, a := range w.attributes[t] {
		sum := 0.0
		for _, r := range w.m.Reasons(a) {
			if r.Tag == tag {
				sum += float64(r.Weight)
			}
			if r.Tag == against {
				sum -= float64(r.Weight)
			}
		}
		if sum != 0 {
			o.Features = append(o.Features, tagger.Weighed{Attribute: a.Name, Weight: sum})
		}
	}
	slices.SortFunc(o.Features, func(a, b tagger.Weighed) int {
		return cmp.Or(cmp.Compare(math.Abs(b.Weight), math.Abs(a.Weight)), cmp.Compare(a.Attribute, b.Attribute))
	})
	return o
}
