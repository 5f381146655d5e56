package ensemble

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/velum-health/velum/models/number/kernels"
	"github.com/velum-health/velum/models/tag/tagger"
	"github.com/velum-health/velum/pipeline"
)

// Corpus measures members on labelled notes as they are added: what priorities,
// weights and thresholds are made of. It keeps no words.
type Corpus struct {
	m         *Model
	labellers []tagger.Labeller
	mix       mixer

	probs  [][]float32 // of the members, [tokens][tags]
	mean   []float32
	tags   []pipeline.Tag
	gold   []pipeline.Span
	said   []pipeline.Span
	covers []map[pipeline.Category]*ratio // of the members
	belief [][]float32                    // [members][tokens] probability of the gold tag
	lines  []line
	notes  int
}

type ratio struct{ right, all int }

// line is what one line counts: with the first member alone, and with all.
type line struct {
	conf   float32
	tokens int
	gold   int
	alone  counts
	all    counts
}

type counts struct{ said, right, masked int }

// NewCorpus returns an empty corpus for the members of m.
func NewCorpus(m *Model) *Corpus {
	c := &Corpus{m: m, mix: newMixer(m.set, tagger.LabelOptions{OBias: m.header.Bias})}
	for _, member := range m.members {
		c.labellers = append(c.labellers, member.NewLabeller(tagger.LabelOptions{}))
		c.covers = append(c.covers, map[pipeline.Category]*ratio{})
	}
	c.probs, c.belief = make([][]float32, len(m.members)), make([][]float32, len(m.members))
	return c
}

// Add measures the members on a note.
func (c *Corpus) Add(text []byte, tokens []pipeline.Token, matches []pipeline.Match, tags []pipeline.Tag) error {
	c.notes++
	c.gold = c.m.set.Decode(c.gold[:0], tokens, tags)
	c.tags = grow(c.tags, len(tokens))
	L := c.m.set.Len()
	c.mean = grow(c.mean, len(tokens)*L)
	clear(c.mean)
	for k, l := range c.labellers {
		if c.m.header.Mode.bySpans() {
			l.Label(text, tokens, matches, c.tags)
			c.cover(k, tokens)
			continue
		}
		c.probs[k] = l.(labelling).Marginals(c.probs[k][:0], text, tokens, matches)
		c.addMean(k, L)
		for i, y := range tags {
			c.belief[k] = append(c.belief[k], c.probs[k][i*L+int(y)])
		}
	}
	if !c.m.header.Mode.bySpans() {
		c.addLines(tokens, tags)
	}
	return nil
}

// addMean adds the marginals of member k to the mean, as a labeller would.
func (c *Corpus) addMean(k, tags int) {
	cascade := c.m.header.Mode == Cascade
	for i := 0; i < len(c.mean); i += tags {
		w := c.m.header.Weights[k]
		if cascade && personal(c.probs[0][i:i+tags]) {
			if w = 0; k == 0 {
				w = 1
			}
		}
		kernels.AddScaled(c.mean[i:i+tags], w, c.probs[k][i:i+tags])
	}
}

// cover counts the spans of member k, and those that cover one of the gold
// spans of their category.
func (c *Corpus) cover(k int, tokens []pipeline.Token) {
	c.said = c.m.set.Decode(c.said[:0], tokens, c.tags)
	g := 0
	for _, s := range c.said {
		r := c.covers[k][s.Category]
		if r == nil {
			r = new(ratio)
			c.covers[k][s.Category] = r
		}
		r.all++
		for g < len(c.gold) && c.gold[g].End <= s.Start {
			g++
		}
		for _, x := range c.gold[g:] {
			if x.Start >= s.End {
				break
			}
			if x.Category == s.Category && s.Start <= x.Start && x.End <= s.End {
				r.right++
				break
			}
		}
	}
}

// addLines keeps what the first member alone and the mean of all find in each
// line.
func (c *Corpus) addLines(tokens []pipeline.Token, tags []pipeline.Tag) {
	first := len(c.lines)
	L := c.m.set.Len()
	c.mix.decode(c.probs[0], tokens, nil, c.tags, func(lo, hi int) {
		l := line{conf: c.mix.least(c.probs[0][lo*L:hi*L], c.tags[lo:hi]), tokens: hi - lo}
		l.gold, l.alone = c.count(tokens[lo:hi], tags[lo:hi], c.tags[lo:hi])
		c.lines = append(c.lines, l)
	})
	c.mix.decode(c.mean, tokens, nil, c.tags, func(lo, hi int) {
		_, c.lines[first].all = c.count(tokens[lo:hi], tags[lo:hi], c.tags[lo:hi])
		first++
	})
}

// count compares the tags of a line with the gold ones.
func (c *Corpus) count(tokens []pipeline.Token, gold, said []pipeline.Tag) (spans int, n counts) {
	c.gold = c.m.set.Decode(c.gold[:0], tokens, gold)
	c.said = c.m.set.Decode(c.said[:0], tokens, said)
	n.said = len(c.said)
	for _, g := range c.gold {
		at := g.Start // covered up to here
		for _, s := range c.said {
			if s.Start == g.Start && s.End == g.End && s.Category == g.Category {
				n.right++
			}
			if s.Start <= at && s.End > at {
				at = s.End
			} else if s.Start > at && onlySpace(tokens, at, s.Start) && s.Start < g.End {
				at = s.End
			}
		}
		if at >= g.End {
			n.masked++
		}
	}
	return len(c.gold), n
}

// onlySpace tells whether no token stands between two places.
func onlySpace(tokens []pipeline.Token, from, to int32) bool {
	return !slices.ContainsFunc(tokens, func(t pipeline.Token) bool { return t.Start < to && t.End > from })
}

// Work implements tagger.Trainer: all of it is done when notes are added.
func (c *Corpus) Work() (unit string, times int) { return "measures", 1 }

// Train implements tagger.Trainer: it returns the model with what its mode
// takes from the notes. Members are as they were.
func (c *Corpus) Train(o tagger.TrainOptions) (tagger.Model, error) {
	if o.Init != nil {
		return nil, fmt.Errorf("%w: an ensemble is made of its members", tagger.ErrInit)
	}
	if c.notes == 0 {
		return nil, errors.New("no notes to measure the members on")
	}
	n := *c.m
	n.header.Members = slices.Clone(n.header.Members)
	switch n.header.Mode {
	case Priority:
		for k := range n.header.Members {
			n.header.Members[k].Precision = c.precision(k)
		}
	case Stack:
		n.header.Weights = c.fit()
	case Cascade:
		if n.header.Threshold == 0 {
			n.header.Thresholds = c.thresholds()
			n.header.Threshold = cheapest(n.header.Thresholds)
		}
	}
	n.header.Name, n.header.Parent = o.About.Name, o.About.Parent
	n.header.Fingerprints = o.About.Fingerprints
	n.header.Training = tagger.Training{Sequences: len(c.lines), Iterations: 1}
	if o.Progress != nil {
		o.Progress(fmt.Sprintf("%d notes", c.notes))
	}
	return &n, nil
}

// precision is that of covering spans, with one right and one wrong span
// added: a category that was seen twice says little.
func (c *Corpus) precision(k int) map[string]float32 {
	out := map[string]float32{}
	for _, category := range c.m.set.Categories {
		r := ratio{}
		if seen := c.covers[k][category]; seen != nil {
			r = *seen
		}
		out[category.String()] = float32(r.right+1) / float32(r.all+2)
	}
	return out
}

// fit returns the weights under which the mean makes the gold tags most
// probable: expectation maximization of a mixture, whose likelihood has one
// maximum.
func (c *Corpus) fit() []float32 {
	k := len(c.belief)
	w := slices.Repeat([]float64{1 / float64(k)}, k)
	for range 100 {
		next := make([]float64, k)
		for i := range c.belief[0] {
			sum := 0.0
			for j := range w {
				sum += w[j] * float64(c.belief[j][i])
			}
			for j := range w {
				next[j] += w[j] * float64(c.belief[j][i]) / math.Max(sum, 1e-30)
			}
		}
		all := 0.0
		for _, x := range next {
			all += x
		}
		for j := range w {
			w[j] = next[j] / all
		}
	}
	out := make([]float32, k)
	for j, x := range w {
		out[j] = float32(x)
	}
	return out
}

// steps are the thresholds that are tried.
var steps = []float32{0, 0.3, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.93, 0.95, 0.97, 0.98, 0.99, 0.995, 0.999, 2}

func (c *Corpus) thresholds() []Point {
	var points []Point
	for _, threshold := range steps {
		var n counts
		gold, lines, tokens, all := 0, 0, 0, 0
		for _, l := range c.lines {
			from := l.alone
			if l.conf < threshold {
				from = l.all
				lines++
				tokens += l.tokens
			}
			n.said, n.right, n.masked = n.said+from.said, n.right+from.right, n.masked+from.masked
			gold += l.gold
			all += l.tokens
		}
		points = append(points, Point{
			Threshold: threshold, Lines: share(lines, len(c.lines)), Tokens: share(tokens, all),
			F1: share(2*n.right, n.said+gold), Masked: share(n.masked, gold),
		})
	}
	return points
}

func share(n, of int) float64 {
	if of == 0 {
		return 0
	}
	return float64(n) / float64(of)
}

// What a cascade may lose against all members everywhere.
const (
	nearF1     = 0.001
	nearMasked = 0.0015 // of the gold spans that are covered
)

// cheapest returns the lowest threshold that loses no more: of equal worth the
// one under which fewest lines are asked about.
func cheapest(points []Point) float32 {
	all := points[len(points)-1]
	for _, p := range points {
		if p.F1 >= all.F1-nearF1 && p.Masked >= all.Masked-nearMasked {
			return p.Threshold
		}
	}
	return all.Threshold
}
