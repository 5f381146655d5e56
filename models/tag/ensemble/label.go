package ensemble

import (
	"math"
	"slices"

	"github.com/velum-health/velum/models/number/kernels"
	"github.com/velum-health/velum/models/tag/chain"
	"github.com/velum-health/velum/models/tag/tagger"
	"github.com/velum-health/velum/pipeline"
)

// Labeller tags notes, one at a time. It owns scratch space and is used by one
// goroutine.
type Labeller struct {
	m       *Model
	members []tagger.Labeller
	mix     mixer
	claims  []claim
	spans   []pipeline.Span

	dialled bool // somebody turns the recall dial

	probs []float32 // [tokens][tags] of a member
	sum   []float32 // [tokens][tags]
	both  []float32 // probabilities of the spans of a cascade, or of claims
	later later
}

// NewLabeller implements tagger.Model. In modes that average marginals the recall dial is applied to the mean; only
// members that propose spans apply it themselves.
func (m *Model) NewLabeller(o tagger.LabelOptions) tagger.Labeller { return m.newLabeller(o) }

func (m *Model) newLabeller(o tagger.LabelOptions) *Labeller {
	mixed := o
	mixed.OBias += m.header.Bias
	l := &Labeller{m: m, mix: newMixer(m.set, mixed), dialled: o.OBias != 0}
	if m.header.Mode != Priority {
		o.OBias = 0
	}
	for _, member := range m.members {
		l.members = append(l.members, member.NewLabeller(o))
	}
	l.later.add = l.add
	return l
}

// believes returns member k as one that has marginals, which New has seen to.
func (l *Labeller) believes(k int) labelling { return l.members[k].(labelling) }

// Label writes one tag a token into tags and returns the confidence, in
// [0, 1]. A note without tokens has confidence 1.
func (l *Labeller) Label(text []byte, tokens []pipeline.Token, matches []pipeline.Match, tags []pipeline.Tag) float32 {
	conf, waits := l.LabelLater(text, tokens, matches, tags)
	if waits {
		l.Flush(func(said float32, _ []float32) { conf = said })
	}
	return conf
}

// decides returns the first member of a cascade if it can decide lines by itself. With the recall dial it cannot,
// because the dial is applied to means, so all lines need marginals.
func (l *Labeller) decides() deciding {
	if l.m.header.Mode != Cascade || l.dialled {
		return nil
	}
	first, _ := l.members[0].(deciding)
	return first
}

// leastSure is the probability of a path from which on each of its tags is the most probable one at its token, which
// the mixer would choose, too.
const leastSure = 0.5

// SpanProbs implements tagger.Spanned. With averaged marginals the probability of a span is computed from the averages.
// Where members propose spans, it is the highest among the members; a member without span probabilities contributes its
// confidence in the note.
func (l *Labeller) SpanProbs() []float32 {
	if l.m.header.Mode == Priority || l.decides() != nil {
		return l.both
	}
	return l.mix.spans.All()
}

// Marginals appends the weighted mean of the members' marginals to dst:
// [tokens][tags].
func (l *Labeller) Marginals(dst []float32, text []byte, tokens []pipeline.Token, matches []pipeline.Match) []float32 {
	return append(dst, l.mean(text, tokens, matches)...)
}

// mean is Marginals; the result is good until the next call.
func (l *Labeller) mean(text []byte, tokens []pipeline.Token, matches []pipeline.Match) []float32 {
	if l.m.header.Mode == Cascade {
		sum, _ := l.cascade(text, tokens, matches)
		return sum
	}
	l.sum = kernels.Grow(l.sum, len(tokens)*l.m.set.Len())
	clear(l.sum)
	for k := range l.members {
		l.probs = l.believes(k).Marginals(l.probs[:0], text, tokens, matches)
		w := l.m.header.Weights[k]
		for i, p := range l.probs {
			l.sum[i] += w * p
		}
	}
	return l.sum
}

// cascade asks the first member about all lines, and the others about those
// of which it is not sure. It tells whether there are any. Nothing waits afterwards.
func (l *Labeller) cascade(text []byte, tokens []pipeline.Token, matches []pipeline.Match) (sum []float32, asked bool) {
	x := &l.later
	x.reset()
	defer x.reset()
	x.room(len(tokens), l.m.set.Len())
	x.sum = l.believes(0).Marginals(x.sum[:0], text, tokens, matches)
	if asked = l.ask(0, text, tokens, matches, nil); asked {
		x.notes = append(x.notes, waiting{})
		l.hear()
	}
	return x.sum, asked
}

// Parts implements tagger.Divided: it returns the tags or spans of each member for a note, and their weights.
func (l *Labeller) Parts(text []byte, tokens []pipeline.Token, matches []pipeline.Match) ([]tagger.Part, float32) {
	T, bias := len(tokens), float32(0)
	parts := make([]tagger.Part, len(l.members))
	for k := range parts {
		parts[k].Model = l.m.members[k]
		if believes, ok := l.members[k].(labelling); ok && (k == 0 || l.m.header.Mode != Cascade) {
			parts[k].Probs = believes.Marginals(nil, text, tokens, matches)
		}
		if l.m.header.Mode != Priority {
			bias = l.mix.o.OBias
			parts[k].Weight = slices.Repeat([]float32{l.m.header.Weights[k]}, T)
		}
	}
	if l.m.header.Mode != Cascade {
		return parts, bias
	}
	for k := range parts {
		clear(parts[k].Weight)
	}
	_, asked := l.cascade(text, tokens, matches)
	for k := range parts[1:] {
		if asked {
			parts[k+1].Probs = l.said(k+1, text, tokens, matches)
		}
	}
	for t := range T {
		parts[0].Weight[t] = 1
		for k := range parts {
			if asked && l.later.doubt[t] {
				parts[k].Weight[t] = l.m.header.Weights[k]
			}
		}
	}
	return parts, bias
}

// said returns the scores of a member behind the first of a cascade for the tokens that the
// note at hand has in doubt: [tokens][tags], 0 where it was not asked.
func (l *Labeller) said(member int, text []byte, tokens []pipeline.Token, matches []pipeline.Match) []float32 {
	s, ok := l.members[member].(deferring)
	if !ok {
		return l.believes(member).Marginals(nil, text, tokens, matches)
	}
	n := l.m.set.Len()
	probs := make([]float32, len(tokens)*n)
	s.Defer(text, tokens, matches, l.later.doubt[:len(tokens)])
	s.Deferred(func(_, from, to int, of []float32, stride int) {
		for t := from; t < to; t++ {
			copy(probs[t*n:(t+1)*n], of[(t-from)*stride:])
		}
	})
	return probs
}

// mixer decodes marginals: among the paths that the tag scheme allows, it finds the one whose tags have the largest
// product.
type mixer struct {
	set     *pipeline.TagSet
	tr      *chain.Transitions
	o       tagger.LabelOptions
	dialled float32 // what the probability of O is multiplied by
	follows []bool  // [tag][next] what the tag scheme allows
	ends    []bool  // what a line may end with; it begins with what may follow O
	lattice chain.Lattice
	path    []pipeline.Tag
	spans   chain.SpanProbs
}

func newMixer(set *pipeline.TagSet, o tagger.LabelOptions) mixer {
	w := chain.NewWeights(set, true)
	x := mixer{set: set, tr: chain.NewTransitions(w), o: o, dialled: float32(math.Exp(-float64(o.OBias)))}
	for _, score := range w.Score {
		x.follows = append(x.follows, score > chain.Forbidden)
	}
	for _, score := range w.End {
		x.ends = append(x.ends, score > chain.Forbidden)
	}
	return x
}

// decode writes the tags of all tokens, or of the open lines, and returns the
// confidence of these. Lines are decoded one by one.
func (x *mixer) decode(probs []float32, tokens []pipeline.Token, open []bool, tags []pipeline.Tag) float32 {
	all := 1.0
	x.spans.Reset(x.set)
	x.lines(probs, tokens, open, func(lo, hi int, path []pipeline.Tag) {
		copy(tags[lo:hi], path)
		probs := probs[lo*x.set.Len() : hi*x.set.Len()]
		x.load(probs, hi-lo)
		if x.o.SpanProbs && someSpan(path) {
			x.spans.Add(&x.lattice, tokens[lo:hi], path, 0, hi-lo)
		}
		all = x.o.Confidence.Join(all, x.probability(path))
	})
	return float32(all)
}

func someSpan(path []pipeline.Tag) bool {
	return slices.ContainsFunc(path, func(y pipeline.Tag) bool { return y != pipeline.O })
}

// probability is that of a path of the line in the lattice, among all paths
// that the tag scheme allows.
func (x *mixer) probability(path []pipeline.Tag) float64 {
	return min(1, math.Exp(x.lattice.LogScore(path)-x.lattice.LogZ()))
}

// lines calls do with the best path of every line, with open of those alone that
// are.
func (x *mixer) lines(probs []float32, tokens []pipeline.Token, open []bool, do func(lo, hi int, path []pipeline.Tag)) {
	for lo := 0; lo < len(tokens); {
		hi := lo + 1
		for hi < len(tokens) && tokens[hi].Flags&pipeline.LineStart == 0 {
			hi++
		}
		if open == nil || open[lo] {
			do(lo, hi, x.line(probs[lo*x.set.Len():hi*x.set.Len()], hi-lo))
		}
		lo = hi
	}
}

// line returns the best path of a line. The most probable tags of its tokens
// are it, if they may follow each other; only if not is it searched for.
func (x *mixer) line(probs []float32, n int) []pipeline.Tag {
	x.path = kernels.Grow(x.path, n)
	L, last := x.set.Len(), pipeline.O
	for t := range n {
		y := x.likeliest(probs[t*L : (t+1)*L])
		if !x.follows[int(last)*L+int(y)] || t == n-1 && !x.ends[y] {
			x.load(probs, n)
			x.lattice.Viterbi(x.path)
			return x.path
		}
		x.path[t], last = y, y
	}
	return x.path
}

// likeliest returns the tag of the largest probability.
func (x *mixer) likeliest(probs []float32) pipeline.Tag {
	best := max(probs[pipeline.O], floor) * x.dialled
	if best > 1-probs[pipeline.O] {
		return pipeline.O // the others have no more between them
	}
	tag := pipeline.O
	for y, p := range probs[1:] {
		if p > best {
			best, tag = p, pipeline.Tag(y+1)
		}
	}
	return tag
}

// floor is the least probability that is told from 0: what float32 can add to
// a share of the whole.
const floor = 1e-9

// load puts the probabilities of a line into the lattice.
func (x *mixer) load(probs []float32, n int) {
	L, s := x.set.Len(), x.tr.Stride
	x.lattice.Reset(x.tr, n, 0)
	state := x.lattice.State
	for t := range n {
		copy(state[t*s:], probs[t*L:(t+1)*L])
		clear(state[t*s+L : (t+1)*s])
	}
	kernels.Log(state, floor)
	for t := range n {
		row := state[t*s : (t+1)*s]
		row[pipeline.O] -= x.o.OBias
		for y := L; y < s; y++ {
			row[y] = chain.Forbidden
		}
	}
	x.lattice.Prepare()
}
