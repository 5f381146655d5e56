package flow

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/configs"
	"github.com/velum-health/velum/models/embedded"
	"github.com/velum-health/velum/models/form/patterns"
	"github.com/velum-health/velum/models/number/modelfile"
	"github.com/velum-health/velum/models/tag/features"
	"github.com/velum-health/velum/models/tag/inverse"
	"github.com/velum-health/velum/models/tag/tagger"
	"github.com/velum-health/velum/models/word/embed"
	"github.com/velum-health/velum/models/word/gazetteer"
	"github.com/velum-health/velum/models/word/morph"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/promote"
)

// Model is an open tagger with its name and its label set.
type Model struct {
	tagger.Model
	Name   string // of an embedded model, or the path
	Labels string // label set of its tags
	SHA256 [sha256.Size]byte
	Label  tagger.LabelOptions
}

// Made wraps a model that was just trained; name is the name of its file.
func Made(name string, m tagger.Model) (*Model, error) {
	labels, err := labelSetOf(m.TagSet().Categories)
	return &Model{Model: m, Name: name, Labels: labels}, err
}

// NewLabeller makes the labeller of one worker.
func (m *Model) NewLabeller() tagger.Labeller { return m.Model.NewLabeller(m.Label) }

// TaughtSet returns the tag set for the spans of the whole pipeline: the model's own, or that of its label set if
// patterns and rules find categories that the model does not know.
func (m *Model) TaughtSet() *pipeline.TagSet {
	set := m.TagSet()
	labels, err := pipeline.Labels(m.Labels)
	if err != nil || len(labels.Categories) <= len(set.Categories) {
		return set
	}
	return &pipeline.TagSet{Scheme: set.Scheme, Categories: labels.Categories}
}

// Need returns an error unless can is true for the kind of the model. The error names the kinds that can do what.
func (m *Model) Need(what string, can func(*Kind) bool) error {
	name := m.Header().Kind
	if kind, ok := KindNamed(name); ok && can(kind) {
		return nil
	}
	return exit.Misconfiguredf("use a model of kind "+KindsThat(can), "%s: %s is of kind %s", what, m.Name, name)
}

// PrecisionFloor is the least precision, on the model's gold set, that the recall dial (option tag.recall) may cost. A
// recall that costs more is refused.
const PrecisionFloor = 0.8

// Bias returns the bias on tag O with which the model reaches the wanted masking recall, at a precision of at least
// PrecisionFloor.
func (m *Model) Bias(recall float64) (tagger.DialPoint, error) {
	if err := m.Need("tag.recall", func(k *Kind) bool { return k.Dial }); err != nil {
		return tagger.DialPoint{}, err
	}
	h := m.Header()
	at, err := h.Bias(recall, PrecisionFloor)
	if err != nil {
		return at, exit.Misconfigured(fmt.Errorf("tag.recall: %w", err), "ask for less (--recall 0 masks as the model does), or train with notes of this kind")
	}
	return at, nil
}

// loadModel opens the model of the configuration and sets its recall dial.
func loadModel(c *option.Config) (*Model, error) {
	m, err := OpenModel(c.Tag.Model, c)
	if err != nil {
		return nil, err
	}
	return m, m.set(c)
}

// set applies the recall dial and the other tagging options of the configuration.
func (m *Model) set(c *option.Config) error {
	m.Label = LabelOptions(c)
	m.Label.SpanProbs = true
	if c.Tag.Recall == 0 {
		return nil
	}
	at, err := m.Bias(c.Tag.Recall)
	m.Label.OBias = at.Bias
	h := m.Header()
	h.Risk = h.Risk.Dialled(float64(at.Bias))
	m.Model = m.WithHeader(h)
	return err
}

// cacheBytes is the memory for cached scores of word forms: for a CRF this much for all workers and half of it for each
// worker; for a network, or a single worker, this much per worker. The scores of a form never change, and 64 MiB hold
// those of nearly all tokens of a month.
const cacheBytes = 64 << 20

// LabelOptions returns the options of tagging from the configuration.
func LabelOptions(c *option.Config) tagger.LabelOptions {
	o := tagger.LabelOptions{CacheBytes: cmp.Or(c.Cache, cacheBytes), Shared: c.Workers() > 1}
	if c.Tag.Confidence == "line" {
		o.Confidence = tagger.LineMinimum
	}
	return o
}

// OpenModel opens a model: name is that of an embedded one, else a path of a model file, or of a folder of models, in
// which it takes the one in use (the file _CURRENT names it). The model looks words up in the lists of the configuration
// beside those of the program; a model that was trained with other lists is refused.
func OpenModel(name string, c *option.Config) (*Model, error) {
	return open(name, &Opening{Config: c})
}

// OpenWeights opens a model to continue its training. It accepts a model that was trained with other lists or patterns
// than the present ones.
func OpenWeights(name string, c *option.Config) (*Model, error) {
	return open(name, &Opening{Config: c, Weights: true})
}

func open(name string, in *Opening) (*Model, error) {
	f, sum, err := ModelFile(name)
	if err != nil {
		return nil, err
	}
	return made(name, f, sum, in)
}

// ModelFile opens the file of an embedded model, of a path, or of the promoted model of a folder, and returns its
// SHA-256.
func ModelFile(name string) (f *modelfile.File, sum [sha256.Size]byte, err error) {
	if embedded.Size(name) > 0 {
		f, err = embedded.Open(name)
		return f, embedded.Digest(name), err
	}
	data, err := modelData(name)
	if err != nil {
		return nil, sum, err
	}
	if f, err = modelfile.Parse(data); err != nil {
		return nil, sum, fmt.Errorf("%s: %w", name, err)
	}
	return f, sha256.Sum256(data), nil
}

// ModelData returns the bytes of the model file that ModelFile would open. Models that it refers to are included.
func ModelData(name string) ([]byte, error) {
	if embedded.Size(name) == 0 {
		return modelData(name)
	}
	f, err := embedded.Open(name)
	if err != nil {
		return nil, err
	}
	return f.Alone()
}

// modelData reads a model file, or the model that a folder has in use.
func modelData(name string) ([]byte, error) {
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		return PromotedModel(name)
	}
	data, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) && !strings.ContainsAny(name, "/.") {
		return nil, exit.Misconfiguredf(exit.Suggest(name, embedded.Names()), "no model %q", name)
	}
	if err != nil {
		return nil, exit.Misconfigured(err, "name a model file or one of "+strings.Join(embedded.Names(), ", "))
	}
	return data, nil
}

// ParseModel decodes a model file with the lists of the configuration.
func ParseModel(name string, data []byte, c *option.Config) (*Model, error) {
	f, err := modelfile.Parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return made(name, f, sha256.Sum256(data), &Opening{Config: c})
}

// made makes the model of a file.
func made(name string, f *modelfile.File, sum [sha256.Size]byte, in *Opening) (m *Model, err error) {
	if in.Lists, err = FeatureLists(in.Config); err != nil {
		return nil, err
	}
	in.Open = func(f *modelfile.File) (tagger.Model, error) { return load(f, in) }
	loaded, err := load(f, in)
	if errors.Is(err, tagger.ErrLists) {
		return nil, exit.With(exit.Integrity, fmt.Errorf("%s: %w", name, err),
			"name the lists that it was trained with in tag.gazetteers; lists that it does not know belong to resolve.gazetteers")
	}
	if errors.Is(err, pipeline.ErrCategory) {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if err != nil {
		return nil, exit.With(exit.Integrity, fmt.Errorf("%s: %w", name, err), "use the velum that it was trained with, or train it again")
	}
	m, err = Made(name, loaded)
	m.SHA256 = sum
	return m, err
}

// load opens a model of any kind.
func load(f *modelfile.File, in *Opening) (tagger.Model, error) {
	kind, ok := KindNamed(f.Kind())
	if !ok {
		return nil, fmt.Errorf("model is of kind %q, which is no tagger", f.Kind())
	}
	m, err := kind.Load(f, in)
	if err != nil {
		return nil, err
	}
	if version, ok := m.Header().Fingerprints[tagger.PatternsPrint]; ok && !patterns.Near(version) && !in.Weights {
		return nil, fmt.Errorf("model needs %s, this program has %s", version, patterns.Version)
	}
	return m, nil
}

// labelSetOf returns the label set with all categories of a model. PHI may occur beside those of any set.
func labelSetOf(categories []pipeline.Category) (string, error) {
	typed := slices.DeleteFunc(slices.Clone(categories), func(c pipeline.Category) bool { return c.Kind() == pipeline.UntypedKind && c.String() == "PHI" })
	if len(typed) == 0 {
		return untyped, nil
	}
	categories = typed
	for _, name := range slices.Concat(configs.OwnSchemes(), []string{"primary-care", "meddocan", "i2b2", "names"}) {
		set, err := pipeline.Labels(name)
		if err != nil {
			return "", err
		}
		if !slices.ContainsFunc(categories, func(c pipeline.Category) bool { return !slices.Contains(set.Categories, c) }) {
			return name, nil
		}
	}
	return "", exit.Misconfiguredf("map the categories onto one scheme before training", "the model's categories are of no known label set")
}

// File returns the bytes of a trained model.
func (m *Model) File() ([]byte, error) {
	var b bytes.Buffer
	err := m.Write(&b)
	return b.Bytes(), err
}

// ModelFolderError adds an exit code and a remedy to the error that a folder has no promoted model.
func ModelFolderError(err error) error {
	if errors.Is(err, promote.ErrNone) {
		return exit.Misconfigured(err, "`velum model promote FILE --models DIR` puts one into use")
	}
	return err
}

// PromotedModel reads the promoted model of a folder.
func PromotedModel(dir string) ([]byte, error) {
	_, data, err := (&promote.Folder{Dir: dir}).Current()
	return data, ModelFolderError(err)
}

// Resources returns the lists for features, and the function that decodes the resources stored in a model file.
func Resources(lists *gazetteer.Gazetteer) features.Resources {
	return features.Resources{Lexicon: lists, Phrases: lists, Open: openStored}
}

// openStored decodes the resource that a model file holds for a slot of its template.
func openStored(kind string, data []byte) (features.Stored, error) {
	switch kind {
	case morph.KindPOS, morph.KindLemma:
		m, err := morph.Open(data)
		if err != nil {
			return nil, err
		}
		if kind == morph.KindPOS {
			return morph.POS{Model: m}, nil
		}
		return morph.Lemma{Model: m}, nil
	}
	if kind == inverse.WordsKind {
		return inverse.OpenWords(data)
	}
	if kind == embed.ClustersKind {
		return embed.OpenClusters(data)
	}
	return nil, fmt.Errorf("resource of kind %q is not known", kind)
}
