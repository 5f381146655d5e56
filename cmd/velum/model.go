package main

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/velum-health/velum/models/crf"
	"github.com/velum-health/velum/models/dictionary"
	"github.com/velum-health/velum/models/embedded"
	"github.com/velum-health/velum/models/gazetteer"
	"github.com/velum-health/velum/models/modelfile"
	"github.com/velum-health/velum/models/patterns"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/stages/tag"
)

// model is a tagger that is ready to make labellers.
type model struct {
	name   string // of an embedded model, or the path
	labels string // label set of its tags
	sha256 [32]byte
	header crf.Header
	tagSet *pipeline.TagSet
	crf    *crf.Model // nil: another kind
	label  crf.LabelOptions

	dictionary *dictionary.Model // nil: another kind
}

// tagger is what all kinds of models have in common beside their labellers.
type tagger interface {
	TagSet() *pipeline.TagSet
	Write(w io.Writer) error
	MarshalHeader() ([]byte, error)
}

func (m *model) tagger() tagger {
	if m.crf == nil {
		return m.dictionary
	}
	return m.crf
}

// newLabeller makes the labeller of one worker.
func (m *model) newLabeller() tag.Labeller {
	if m.crf == nil {
		return m.dictionary.NewLabeller()
	}
	return m.crf.NewLabeller(m.label)
}

// needCRF refuses what only a CRF can do.
func (m *model) needCRF(what string) error {
	if m.crf == nil {
		return exitf(exitConfig, "use a model of kind crf", "%s: %s is of kind %s", what, m.name, m.header.Kind)
	}
	return nil
}

// loadModel opens the model of the configuration and sets its recall dial.
func loadModel(c *Config) (*model, error) {
	m, err := openModel(c.Tag.Model, c)
	if err != nil {
		return nil, err
	}
	m.label = labelOptions(c)
	if c.Tag.Recall > 0 {
		if err := m.needCRF("tag.recall"); err != nil {
			return nil, err
		}
		at, err := m.crf.Bias(c.Tag.Recall)
		if err != nil {
			return nil, exit(exitConfig, fmt.Errorf("tag.recall: %w", err), "ask for less, or train with more notes")
		}
		m.label.OBias = at.Bias
	}
	return m, nil
}

// labelOptions is what the configuration says of tagging.
func labelOptions(c *Config) crf.LabelOptions {
	o := crf.LabelOptions{CacheBytes: int(c.Tag.Cache)}
	switch c.Tag.Confidence {
	case "line":
		o.Confidence = crf.LineMinimum
	case "min_marginal":
		o.Confidence = crf.MinMarginal
	}
	return o
}

// openModel opens an embedded model, a model file, or the model that a folder
// has in use, with the lists of the configuration.
func openModel(name string, c *Config) (*model, error) {
	data, err := modelData(name)
	if err != nil {
		return nil, err
	}
	return parseModel(name, data, c)
}

func modelData(name string) ([]byte, error) {
	if data, ok := embedded.Model(name); ok {
		return data, nil
	}
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		return promotedModel(name)
	}
	data, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) && !strings.ContainsAny(name, "/.") {
		return nil, exitf(exitConfig, "embedded: "+strings.Join(embedded.Names(), ", "), "no model %q", name)
	}
	if err != nil {
		return nil, exit(exitConfig, err, "name a model file or one of "+strings.Join(embedded.Names(), ", "))
	}
	return data, nil
}

func parseModel(name string, data []byte, c *Config) (*model, error) {
	f, err := modelfile.Parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	lists, err := c.featureLists()
	if err != nil {
		return nil, err
	}
	return newModel(name, f, sha256.Sum256(data), lists)
}

func newModel(name string, f *modelfile.File, sum [32]byte, lists *gazetteer.Gazetteer) (*model, error) {
	var kind struct {
		Kind string `json:"kind"`
	}
	if err := f.Header(&kind); err == nil && kind.Kind == dictionary.Kind {
		return newDictionary(name, f, sum)
	}
	c, err := crf.Load(f, resources(lists))
	if errors.Is(err, crf.ErrLists) {
		return nil, exit(exitIntegrity, fmt.Errorf("%s: %w", name, err),
			"name the lists that it was trained with in tag.gazetteers; lists that it does not know belong to resolve.gazetteers")
	}
	if err != nil {
		return nil, exit(exitIntegrity, fmt.Errorf("%s: %w", name, err), "use the velum that it was trained with, or train it again")
	}
	if version, ok := c.Header().Fingerprints[patternsPrint]; ok && version != patterns.Version {
		return nil, exitf(exitIntegrity, "use the velum that it was trained with, or train it again", "%s: model needs %s, this program has %s", name, version, patterns.Version)
	}
	m := &model{name: name, sha256: sum, crf: c, tagSet: c.TagSet(), header: c.Header()}
	m.labels, err = labelSetOf(m.tagSet.Categories)
	return m, err
}

// patternsPrint is the fingerprint in a model's header that names the patterns
// whose matches it learned from.
const patternsPrint = "patterns"

// labelSetOf finds the label set that holds all categories of a model.
func labelSetOf(categories []pipeline.Category) (string, error) {
	for _, name := range []string{"primary-care", "meddocan", "i2b2", "names"} {
		set, err := pipeline.Labels(name)
		if err != nil {
			return "", err
		}
		if !slices.ContainsFunc(categories, func(c pipeline.Category) bool { return !slices.Contains(set.Categories, c) }) {
			return name, nil
		}
	}
	return "", exitf(exitConfig, "map the categories onto one scheme before training", "the model's categories are of no known label set")
}

// file returns the bytes of a trained model.
func (m *model) file() ([]byte, error) {
	var b bytes.Buffer
	err := m.tagger().Write(&b)
	return b.Bytes(), err
}
