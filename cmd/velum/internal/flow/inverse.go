package flow

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/files"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/models/number/modelfile"
	"github.com/velum-health/velum/models/tag/crf"
	"github.com/velum-health/velum/models/tag/inverse"
	"github.com/velum-health/velum/models/tag/tagger"
	"github.com/velum-health/velum/models/word/gazetteer"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/stages/tag"
)

// untyped is the label set of models that say of nothing what it is.
const untyped = "untyped"

// InverseParams are the thresholds that the configuration wants.
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

// inverseTemplate is what the network of an inverse model sees.
func inverseTemplate(c *option.Config) string {
	if c.Inverse.Learner == crf.Kind {
		return "inverse"
	}
	return networkTemplate(c)
}

// OpenInverse opens the inverse model that the configuration puts beside ordinary ones; nil if it names none.
func OpenInverse(c *option.Config) (*Model, error) {
	if c.Inverse.Model == "" {
		return nil, nil
	}
	m, err := OpenModel(c.Inverse.Model, c)
	if err != nil {
		return nil, fmt.Errorf("inverse.model: %w", err)
	}
	if _, ok := m.Model.(*inverse.Model); !ok {
		return nil, exit.Errorf(exit.Config, "`velum train --kind inverse` makes one", "inverse.model: %s is of kind %s, no inverse model", m.Name, m.Header().Kind)
	}
	return m, nil
}

// beside puts the inverse model of the configuration beside an ordinary one.
func beside(m *Model, c *option.Config) (*Model, error) {
	if m.Labels == untyped { // it is one itself
		c.DropPolicy("inverse")
	}
	other, err := OpenInverse(c)
	if err != nil || other == nil {
		return m, err
	}
	if m.Labels == untyped {
		return nil, exit.Errorf(exit.Config, "leave inverse.model out, or name an ordinary model with tag.model", "inverse.model: tag.model %s is an inverse model itself", m.Name)
	}
	return m.Beside(other, c), nil
}

// Beside returns the model with one of OpenInverse beside it, as the configuration puts the two together. Without another,
// and of an inverse model, which masks by itself what it does not know to be safe, it is the model as it is.
func (m *Model) Beside(other *Model, c *option.Config) *Model {
	if other == nil || m.Labels == untyped {
		return m
	}
	pair := inverse.NewPair(m.Model, other.Model.(*inverse.Model))
	if c.Inverse.Below < 1 {
		pair.Below = float32(c.Inverse.Below)
	}
	n := *m
	n.Model = pair
	n.SHA256 = sha256.Sum256(slices.Concat(m.SHA256[:], other.SHA256[:]))
	return &n
}

// AsTagged is the flow without what its policy wants of tagging, if the notes of an
// earlier run were tagged by the model alone: an extract of them tags nothing.
func (f *Flow) AsTagged(dir string, c *console.Console) (*Flow, error) {
	m, err := commit.ReadManifest(commit.PrivateDir(dir))
	if err != nil || m.Model == hex.EncodeToString(f.Model.SHA256[:]) || !f.DropPolicy("inverse") {
		return f, nil // who opens the notes says what is wrong
	}
	f.DropPolicy("tag")
	c.Log.Warn("the notes were not tagged for recall first, as the policy wants them: velum run with the same --policy does", "policy", f.Mask.Policy)
	return New(f.Config)
}

// AtDial is the flow at another position of the dial. The models stay open.
func (f *Flow) AtDial(position float64) (*Flow, error) {
	own, model := *f.Config, *f.Model
	own.Inverse.Dial = position
	var err error
	switch m := f.Model.Model.(type) {
	case *inverse.Model:
		model.Model, err = m.With(InverseParams(&own))
	case *inverse.Pair:
		model.Model, err = m.With(InverseParams(&own))
	default:
		err = exit.Errorf(exit.Config, "name one with inverse.model or --model", "there is no inverse model")
	}
	return With(&own, &model), err
}

// inverse opens the common words.
func (k *checker) inverse() {
	_, err := files.CommonWords(k.Inverse.Words)
	k.failed("inverse.words", err)
}

// strictCenters has the inverse model look at all notes of the centres that the
// configuration names, however sure the ordinary one is.
func (f *Flow) strictCenters(o *tag.Options) {
	pair, ok := f.Model.Model.(*inverse.Pair)
	if !ok || len(f.Inverse.Centers) == 0 {
		return
	}
	o.Other = f.ofStrictCenter
	all := *pair
	all.Below = inverse.Always
	o.NewOther = func() tag.Labeller { return all.NewLabeller(f.Model.Label) }
}

// ofStrictCenter tells whether note i comes from one of inverse.centers, or nobody
// knows where from: a month without the column, a note without a centre, a number
// with a fraction, which pandas makes of a column that has nulls.
func (f *Flow) ofStrictCenter(b *pipeline.Batch, i int) bool {
	if len(f.Inverse.Centers) == 0 {
		return false
	}
	center := b.ExtraNamed("center").AppendText(nil, i)
	return len(center) == 0 || slices.Contains(f.Inverse.Centers, string(center))
}

// looked counts the tagged notes at which the inverse model of a pair looked:
// the confidence is the ordinary model's, so it says which. No step without a
// pair.
func (f *Flow) looked(n *atomic.Int64) []pipeline.Step {
	pair, ok := f.Model.Model.(*inverse.Pair)
	if !ok {
		return nil
	}
	count := func(b *pipeline.Batch) error {
		for i := range b.Len() {
			if b.Reason[i] == pipeline.Sound && (b.Conf[i] < pair.Below || f.ofStrictCenter(b, i)) {
				n.Add(1)
			}
		}
		return nil
	}
	return []pipeline.Step{{Name: "looked", New: func() func(*pipeline.Batch) error { return count }}}
}
