package crftrain

import (
	"cmp"

	"github.com/velum-health/velum/models/tag/features"
	"github.com/velum-health/velum/models/tag/tagger"
	"github.com/velum-health/velum/pipeline"
)

// Trainer implements tagger.Trainer for the CRF.
type Trainer struct {
	*Corpus
	o TrainOptions
}

// NewTrainer returns a trainer without notes. It uses the CRF's own options in o; those common to all kinds are passed
// to Train.
func NewTrainer(t *features.Template, set *pipeline.TagSet, r features.Resources, o TrainOptions) *Trainer {
	return &Trainer{NewCorpus(t, set, r), o}
}

// Work implements tagger.Trainer.
func (t *Trainer) Work() (unit string, times int) {
	return "iterations", cmp.Or(t.o.Iterations, Iterations)
}

// Train implements tagger.Trainer. It saves no state in between, since a training takes minutes.
func (t *Trainer) Train(o tagger.TrainOptions) (tagger.Model, error) {
	opt := t.o
	opt.TrainOptions = o
	m, err := Train(t.Corpus, opt)
	if err != nil {
		return nil, err
	}
	return m, nil
}
