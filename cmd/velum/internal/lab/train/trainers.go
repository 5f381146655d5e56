package train

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/files"
	"github.com/velum-health/velum/cmd/velum/internal/flow"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/models/learn/bilstmtrain"
	"github.com/velum-health/velum/models/learn/crftrain"
	"github.com/velum-health/velum/models/learn/ensembletrain"
	"github.com/velum-health/velum/models/learn/inversetrain"
	"github.com/velum-health/velum/models/learn/svmtrain"
	"github.com/velum-health/velum/models/number/kernels"
	"github.com/velum-health/velum/models/tag/bilstm"
	"github.com/velum-health/velum/models/tag/crf"
	"github.com/velum-health/velum/models/tag/ensemble"
	"github.com/velum-health/velum/models/tag/features"
	"github.com/velum-health/velum/models/tag/inverse"
	"github.com/velum-health/velum/models/tag/tagger"
	"github.com/velum-health/velum/models/word/embed"
	"github.com/velum-health/velum/models/word/gazetteer"
	"github.com/velum-health/velum/pipeline"
)

// Trainers maps each kind of tagger to the function that makes its trainer. The functions that open models are in
// flow.Kinds, so that `velum run` links no trainer.
var Trainers = map[string]func(*Materials) (tagger.Trainer, error){
	crf.Kind: newCRFTrainer, crf.SVM: newSVMTrainer, bilstm.Kind: newNetworkTrainer, ensemble.Kind: newEnsembleTrainer,
	inverse.Kind: newInverseTrainer,
}

// Materials holds the inputs of every kind of trainer. Options of a single kind are read from Config.
type Materials struct {
	Config    *option.Config
	TagSet    *pipeline.TagSet
	Template  *features.Template // nil for kinds without one
	Resources features.Resources // with the template's slots filled
	// Open opens another model by its name or path: a member of an ensemble.
	Open func(name string) (tagger.Model, error)
}

// prunedBelow is the weight of a feature below which it is left out of the model file: .01 keeps a fifth of them and
// costs less than .1 point.
const prunedBelow = 0.005

func newCRFTrainer(m *Materials) (tagger.Trainer, error) {
	c := &m.Config.Train
	if biased := func(g features.Group) bool { return g.Name == "bias" }; c.Bias > 0 && !slices.ContainsFunc(m.Template.Groups, biased) {
		return nil, exit.Misconfigured(errors.New("train.bias: the template has no group bias, of whose weights it is taken"),
			"write a line `bias` into the template")
	}
	return crftrain.NewTrainer(m.Template, m.TagSet, m.Resources, crftrain.TrainOptions{
		L1: c.L1, L2: c.L2, MinCount: c.MinCount, Iterations: c.Iterations, Prune: prunedBelow, Bias: float32(c.Bias),
	}), nil
}

func newSVMTrainer(m *Materials) (tagger.Trainer, error) {
	return svmtrain.NewTrainer(m.Template, m.TagSet, m.Resources, svmtrain.TrainOptions{
		C: m.Config.SVM.Cost, MinCount: m.Config.Train.MinCount, Prune: prunedBelow,
	}), nil
}

func newNetworkTrainer(m *Materials) (tagger.Trainer, error) {
	n := &m.Config.Network
	a, r, err := variant(n)
	if err != nil {
		return nil, err
	}
	o := bilstmtrain.TrainOptions{Recipe: r, Seed: uint64(n.Seed)}
	if n.Vectors != "" {
		vectors, err := embed.Open(n.Vectors)
		if err != nil {
			return nil, fmt.Errorf("network.vectors: %w", err)
		}
		a.Word, o.Vectors = kernels.Pad(vectors.Header().Dim), vectors
	}
	return bilstmtrain.NewTrainer(a, m.Template, m.TagSet, m.Resources, o)
}

// newEnsembleTrainer opens the members; the notes that come are to measure
// them on.
func newEnsembleTrainer(m *Materials) (tagger.Trainer, error) {
	c := &m.Config.Ensemble
	var members []tagger.Model
	for _, name := range c.Members {
		member, err := m.Open(name)
		if err != nil {
			return nil, err
		}
		members = append(members, member)
	}
	model, err := ensemble.New(ensemble.Mode(c.Mode), members)
	if err != nil {
		return nil, fmt.Errorf("ensemble.members: %w", err)
	}
	if model.TagSet().String() != m.TagSet.String() {
		return nil, errors.New("ensemble.members: they have other tags than --labels and train.scheme say")
	}
	if c.Threshold > 0 {
		model = model.WithThreshold(float32(c.Threshold))
	}
	if c.First >= 0 && model.Mode() == ensemble.Cascade {
		model = model.WithFirst(float32(c.First))
	}
	return ensembletrain.NewTrainer(model.WithBias(float32(c.Bias))), nil
}

// newInverseTrainer puts the rules around the trainer of another kind.
func newInverseTrainer(m *Materials) (tagger.Trainer, error) {
	words, err := files.CommonWords(m.Config.Inverse.Words)
	if err != nil {
		return nil, err
	}
	learner := newCRFTrainer
	switch m.Config.Inverse.Learner {
	case bilstm.Kind:
		learner = newNetworkTrainer
	case ensemble.Kind:
		m, learner = m.networks(&words), newEnsembleTrainer
	}
	network, err := learner(m)
	if err != nil {
		return nil, err
	}
	lists, err := flow.FeatureLists(m.Config)
	if err != nil {
		return nil, err
	}
	return inversetrain.NewTrainer(network, lists, gazetteer.Names(), words, flow.InverseParams(m.Config))
}

// networks are materials in which an inverse model is its network, for an
// ensemble of such. Of several with common words, and none in the configuration,
// those of the first become words.
func (m *Materials) networks(words **inverse.Words) *Materials {
	n := *m
	n.Open = func(name string) (tagger.Model, error) {
		member, err := m.Open(name)
		own, ok := member.(*inverse.Model)
		if !ok || own.Network() == nil {
			return member, err
		}
		if *words == nil {
			*words = own.Words()
		}
		return own.Network(), nil
	}
	return &n
}

// variant returns the named network and its training, changed as the options say.
func variant(n *option.Network) (bilstm.Architecture, bilstm.Recipe, error) {
	a, r, err := bilstm.Variant(n.Variant)
	if err != nil {
		return a, r, err
	}
	a.Units = kernels.Pad(cmp.Or(n.Units, a.Units))
	r.Epochs, r.Rate, r.Blind = cmp.Or(n.Epochs, r.Epochs), cmp.Or(n.Rate, r.Rate), n.Blind
	if n.Noise >= 0 {
		r.Noise = n.Noise
	}
	return a, r, nil
}
