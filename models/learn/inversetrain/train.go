// Package inversetrain trains inverse models, which mask every word that is not known to be safe (package inverse):
// it hands labelled notes to the trainer of a network that tells personal words from others, puts the rules of
// package inverse around that network, and counts the common words of an archive, which are safe (INV §4.3).
//
//	in:  labelled notes, lists; notes without labels
//	out: an *inverse.Model; *inverse.Words
package inversetrain

import (
	"errors"
	"fmt"

	"github.com/velum-health/velum/models/tag/inverse"
	"github.com/velum-health/velum/models/tag/tagger"
	"github.com/velum-health/velum/models/word/gazetteer"
	"github.com/velum-health/velum/pipeline"
)

// Trainer makes inverse models. It passes labelled notes, whose spans are all of one category, to the trainer of the
// network. Without notes the model consists of its rules.
type Trainer struct {
	network      tagger.Trainer // nil: rules alone
	lists, names *gazetteer.Gazetteer
	words        *inverse.Words
	params       inverse.Params
	notes        int
}

// NewTrainer returns a trainer without notes. words may be nil.
func NewTrainer(network tagger.Trainer, lists, names *gazetteer.Gazetteer, words *inverse.Words, p inverse.Params) (*Trainer, error) {
	return &Trainer{network: network, lists: lists, names: names, words: words, params: p}, p.Check()
}

// Add implements tagger.Trainer.
func (t *Trainer) Add(text []byte, tokens []pipeline.Token, matches []pipeline.Match, tags []pipeline.Tag) error {
	t.notes++
	return t.network.Add(text, tokens, matches, tags)
}

// Work implements tagger.Trainer.
func (t *Trainer) Work() (unit string, times int) { return t.network.Work() }

// Train implements tagger.Trainer. If o.Init is an inverse model, training starts from its network: fine-tuning on
// notes of another kind (INV §4.3.6).
func (t *Trainer) Train(o tagger.TrainOptions) (tagger.Model, error) {
	about := o.About
	if t.notes == 0 {
		if t.words == nil {
			return nil, errors.New("neither labelled notes nor common words: there is nothing to make an inverse model of")
		}
		m, err := inverse.New(about, t.lists, t.names, t.words, nil)
		if err != nil {
			return nil, err
		}
		return m.With(t.params)
	}
	if o.Init != nil {
		from, ok := o.Init.(*inverse.Model)
		if !ok || from.Network() == nil {
			return nil, fmt.Errorf("%w: it is no inverse model with a network", tagger.ErrInit)
		}
		o.Init = from.Begin()
		if t.words == nil {
			t.words = from.Words()
		}
	}
	network, err := t.network.Train(o)
	if err != nil {
		return nil, err
	}
	m, err := t.with(about, network)
	if err != nil {
		return nil, err
	}
	return m, nil
}

// with is the inverse model around a network.
func (t *Trainer) with(about tagger.Header, network tagger.Model) (*inverse.Model, error) {
	h := network.Header()
	h.Name, h.Parent = about.Name, about.Parent
	h.Template, h.Resources = "", nil // the network's own
	m, err := inverse.New(h, t.lists, t.names, t.words, network)
	if err != nil {
		return nil, err
	}
	return m.With(t.params)
}
