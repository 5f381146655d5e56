package inverse

import (
	"cmp"
	"errors"
	"maps"
	"math"
	"slices"

	"github.com/velum-health/velum/models/tag/tagger"
	"github.com/velum-health/velum/pipeline"
)

// A Combiner learns from labelled notes how the two judges go together, in
// place of the pair of thresholds: a decision tree of two questions, which list
// has the word and whether P(safe) is enough there (INV ch. 6 leaves that to
// future work, by trees or support vector machines; a linear machine over list
// and logit is the same tree with one slope, and did no better). Network and
// lists stay as they are.
type Combiner struct {
	model *Model
	judge *labeller
	lists [numLists][]judged
	notes int
}

// judged is a word of a labelled note.
type judged struct {
	logit    float32 // of P(safe)
	personal bool
}

// NewCombiner returns a combiner without notes for a model with a network.
func NewCombiner(m *Model) (*Combiner, error) {
	if m.network == nil {
		return nil, errors.New("an inverse model of rules alone: there is no probability to combine with them")
	}
	return &Combiner{model: m, judge: m.labeller(tagger.LabelOptions{CacheBytes: 16 << 20})}, nil
}

// Add implements tagger.Trainer.
func (c *Combiner) Add(text []byte, tokens []pipeline.Token, matches []pipeline.Match, tags []pipeline.Tag) error {
	c.notes++
	c.judge.judge(text, tokens, matches)
	for i, list := range c.judge.lists {
		if list != Punctuation {
			c.lists[list] = append(c.lists[list], judged{farthest(logit(c.judge.safe[i])), tags[i] != pipeline.O})
		}
	}
	return nil
}

// farthest keeps what is certain within what numbers can be moved.
func farthest(x float32) float32 { return max(-maxCut, min(maxCut, x)) }

const (
	maxCut = 14 // logits
	// missed is how many words masked in vain a word is worth that is left. The
	// dial moves all cuts from there, by strictest logits at its strict end. With 10
	// the curve of recall and precision lies as high as with any, from 100 notes on.
	missed    = 10
	strictest = 3
)

// Work implements tagger.Trainer.
func (c *Combiner) Work() (unit string, times int) { return "lists", int(numLists) }

// Train implements tagger.Trainer. It needs a labelled note; the model keeps
// the name that it is given.
func (c *Combiner) Train(o tagger.TrainOptions) (tagger.Model, error) {
	if c.notes == 0 {
		return nil, errors.New("no labelled notes to combine by")
	}
	m := *c.model
	m.header.Name, m.header.Parent, m.header.Cuts = o.About.Name, o.About.Parent, map[string]float32{}
	m.header.Scores, m.header.RecallDial, m.header.Measured, m.header.Risk = nil, nil, nil, nil // those of the thresholds
	for l := range c.lists {
		if List(l) != Punctuation {
			m.header.Cuts[List(l).String()] = c.model.header.Params.cut(List(l), c.lists[l])
		}
		if o.Progress != nil && !o.Progress(List(l).String()) {
			break
		}
	}
	return &m, nil
}

// cut returns the logit of P(safe) from which on words of a list are safe, that
// costs least on those of labelled notes and on one word more that is personal at
// the threshold of Params: what few notes have no word of is let in as INV lets it in.
func (p *Params) cut(l List, words []judged) float32 {
	strict := Params{Dial: 1, Low: p.Low, High: p.High}
	words = append(slices.Clone(words), judged{logit(float32(strict.threshold(l))), true})
	slices.SortStableFunc(words, func(a, b judged) int { return cmp.Compare(a.logit, b.logit) })
	left := 0.0
	for _, w := range words {
		if w.personal {
			left++
		}
	}
	least, at, vain := missed*left, words[0].logit-.01, 0.0
	for i, w := range words {
		if w.personal {
			left--
		} else {
			vain++
		}
		if i+1 < len(words) && words[i+1].logit == w.logit {
			continue // no cut goes between them
		}
		if cost := vain + missed*left; cost < least {
			least, at = cost, w.logit+.01
			if i+1 < len(words) {
				at = (w.logit + words[i+1].logit) / 2
			}
		}
	}
	return at
}

// learned moves the cuts that were learned as the dial says: below its middle by
// its logit, above by as many logits as are left to the strict end.
func (m *Model) learned(cuts *[numLists]float32, bias float32) {
	d := m.header.Params.Dial
	by := logit(float32(min(d, half)))
	if d > half {
		by = strictest * float32(2*d-1)
	}
	for l := range cuts {
		if cut, ok := m.header.Cuts[List(l).String()]; ok {
			cuts[l] = cut + by + bias
		}
	}
}

// checkCuts tells what is impossible about cuts in a file.
func checkCuts(cuts map[string]float32) error {
	for name, cut := range maps.All(cuts) {
		if !slices.Contains(listNames[:], name) || !(math.Abs(float64(cut)) <= maxCut+1) {
			return errors.New("a cut of no list, or of no probability")
		}
	}
	return nil
}
