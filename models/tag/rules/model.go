package rules

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"

	"github.com/zeebo/xxh3"

	"github.com/velum-health/velum/models/number/modelfile"
	"github.com/velum-health/velum/models/tag/tagger"
	"github.com/velum-health/velum/pipeline"
)

// Kind identifies model files of this package.
const Kind = "rules"

// Model is a file of rules used as a tagger. Its model file holds the text of the rules and of the lists of words in
// it; lists of names are those of the program that opens it.
type Model struct {
	header tagger.Header
	pack   *Pack
	set    *pipeline.TagSet
}

// section of the model file that holds the text of the pack.
const section = "rules"

// New makes a tagger from a pack that finds spans.
func New(p *Pack) (*Model, error) {
	if len(p.categories) == 0 {
		return nil, fmt.Errorf("rules: no network has a category: nothing can be found")
	}
	m := &Model{pack: p, set: &pipeline.TagSet{Scheme: pipeline.BIO, Categories: p.categories}}
	m.header = tagger.Header{
		Kind: Kind, Scheme: pipeline.BIO.String(),
		Fingerprints: map[string]string{section: strconv.FormatUint(xxh3.HashString(p.text), 16)},
	}
	for _, c := range p.categories {
		m.header.Categories = append(m.header.Categories, c.String())
	}
	return m, nil
}

// Load opens the model in f.
func Load(f *modelfile.File, r Resources) (*Model, error) {
	var h tagger.Header
	if err := f.Header(&h); err != nil {
		return nil, err
	}
	text, err := f.Section(section)
	if err != nil {
		return nil, err
	}
	p, err := Compile(string(text), r)
	if err != nil {
		return nil, fmt.Errorf("%w: section %q: %w", modelfile.ErrDamaged, section, err)
	}
	m, err := New(p)
	if err != nil {
		return nil, err
	}
	return m.WithHeader(h).(*Model), nil
}

// Header implements tagger.Model.
func (m *Model) Header() tagger.Header { return m.header }

// WithHeader implements tagger.Model: rules have no recall dial.
func (m *Model) WithHeader(h tagger.Header) tagger.Model {
	n := *m
	n.header.Name, n.header.Scores, n.header.Measured, n.header.Parent = h.Name, h.Scores, h.Measured, h.Parent
	return &n
}

// TagSet implements tagger.Model.
func (m *Model) TagSet() *pipeline.TagSet { return m.set }

// Write implements tagger.Model.
func (m *Model) Write(w io.Writer) error {
	return modelfile.Write(w, m.header, modelfile.Section{Name: section, Data: []byte(m.pack.text)})
}

// MarshalHeader implements tagger.Model.
func (m *Model) MarshalHeader() ([]byte, error) { return json.MarshalIndent(m.header, "", "  ") }

// NewLabeller implements tagger.Model. The options are ignored, since rules have neither a bias nor several kinds of
// confidence.
func (m *Model) NewLabeller(tagger.LabelOptions) tagger.Labeller {
	return &labeller{Machine: m.pack.NewMachine(), set: m.set}
}

// labeller tags notes by rules.
type labeller struct {
	*Machine
	set   *pipeline.TagSet
	spans []pipeline.Span
}

// Label implements tagger.Labeller. The confidence of a note is the lowest score of its spans, 1 if it has none.
func (l *labeller) Label(text []byte, tokens []pipeline.Token, _ []pipeline.Match, tags []pipeline.Tag) float32 {
	l.spans = l.Spans(l.spans[:0], text, tokens)
	clear(tags)
	l.set.Encode(tags, tokens, l.spans)
	least := float32(1)
	for _, s := range l.spans {
		least = min(least, s.Score)
	}
	return least
}
