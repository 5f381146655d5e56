package flow

import (
	"github.com/velum-health/velum/cmd/velum/internal/files"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/models/number/modelfile"
	"github.com/velum-health/velum/models/tag/crf"
	"github.com/velum-health/velum/models/tag/inverse"
	"github.com/velum-health/velum/models/tag/tagger"
	"github.com/velum-health/velum/models/word/gazetteer"
)

// untyped is the label set with the single category PHI.
const untyped = "untyped"

// InverseParams returns the thresholds of the inverse model from the configuration.
func InverseParams(c *option.Config) inverse.Params {
	v := &c.Inverse
	return inverse.Params{Dial: v.Dial, Low: v.Low, High: v.High, Never: v.Never}
}

func loadInverse(f *modelfile.File, in *Opening) (tagger.Model, error) {
	m, err := inverse.Load(f, in.Lists, gazetteer.Names(), in.Open)
	if err != nil {
		return nil, err
	}
	if in.Config.Inverse.Low == 0 { // a configuration that was never loaded: the model's own
		return m, nil
	}
	return m.With(InverseParams(in.Config))
}

// inverseTemplate returns the template of features of the network of an inverse model.
func inverseTemplate(c *option.Config) string {
	if c.Inverse.Learner == crf.Kind {
		return "inverse"
	}
	return networkTemplate(c)
}

// inverse opens the common words.
func (k *checker) inverse() {
	_, err := files.CommonWords(k.Inverse.Words)
	k.failed("inverse.words", err)
}
