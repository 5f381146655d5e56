package tag

import (
	"github.com/velum-health/velum/models/word/view"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/guard"
)

// NewAgree returns a step behind New that asks a second labeller, of the same
// tag set. A note that it tags otherwise gets confidence 0; of the others, the
// lower one of both confidences stays. Two models that look at different
// things and say the same are seldom both wrong (Blum and Mitchell 1998).
//
//	in:  Text or View, Tokens, Matches, Tags, Conf, Reason
//	out: Conf
func NewAgree(o Options) pipeline.Step {
	return pipeline.Step{Name: "agree", Workers: o.Workers, New: func() func(*pipeline.Batch) error {
		a := &agreeing{Options: o, labeller: o.NewLabeller()}
		return a.do
	}}
}

type agreeing struct {
	Options
	labeller Labeller
	tags     []pipeline.Tag
	placed   view.Placed
}

func (a *agreeing) do(b *pipeline.Batch) error {
	for i := range b.Len() {
		if b.Reason[i] != pipeline.Sound {
			continue
		}
		if guard.Note(func() { b.Conf[i] = a.confidence(b, i) }) {
			b.Quarantine(i, pipeline.Panicked)
			a.labeller = a.NewLabeller() // the old one's scratch is in an unknown state
		}
	}
	return nil
}

func (a *agreeing) confidence(b *pipeline.Batch, i int) float32 {
	first := b.TagsOf(i)
	a.tags = grow(a.tags, len(first))
	text, from := b.Seen(i)
	second := a.labeller.Label(text, a.placed.Tokens(from, b.Tokens.At(i)), a.placed.Matches(from, b.Matches.At(i)), a.tags)
	for k, t := range first {
		if a.tags[k] != t {
			return 0
		}
	}
	return min(b.Conf[i], second)
}
