// Package inverse implements the inverse tagger (INV): it treats every word as personal unless there is evidence that
// it is safe.
//
//	in:  lists of words; a tagger of personal and other words that says how
//	     probable its tags are, if there is one
//	out: tags PHI, without a type, and a confidence
//
// Two classifiers look at each token (INV §4.3.5). The rules use safe lists (stop words, words common in the archive,
// drugs, clinical terms, digits in doses and values) and unsafe lists, which take precedence (places, names, digits,
// months...). The network gives P(safe), the probability of tag O. A token that the rules call safe is safe from a
// lower probability on, another token from a higher one, and a token that the rules call a weekday, a month, a holiday,
// a street or a number is never safe.
//
// Params.Dial goes from masking nothing (0) over masking also what is not safe at 0.5 (0.5) to the thresholds above
// (1). Every token masked at one setting is masked at all higher ones.
package inverse

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/velum-health/velum/models/number/modelfile"
	"github.com/velum-health/velum/models/tag/features"
	"github.com/velum-health/velum/models/tag/tagger"
	"github.com/velum-health/velum/models/word/gazetteer"
	"github.com/velum-health/velum/pipeline"
)

// Kind identifies model files of this package.
const Kind = "inverse"

// Params holds the thresholds of the model.
type Params struct {
	Dial  float64  `json:"dial"`            // 0 to 1
	Low   float64  `json:"low"`             // lowest P(safe) of a safe token at the strict end of the dial, if the rules agree
	High  float64  `json:"high"`            // the same if they do not
	Never []string `json:"never,omitempty"` // lists whose words are masked at the strict end, whatever P(safe)
}

// Strict returns the thresholds of INV §4.3.6 that were best on its validation set; its other pair is 0.8 and 0.9.
func Strict() Params { return Params{Dial: 1, Low: 0.9, High: 0.95, Never: NeverNames()} }

// Check returns what is impossible about the thresholds.
func (p *Params) Check() error {
	for _, x := range [...]float64{p.Dial, p.Low, p.High} {
		if !(x >= 0 && x <= 1) {
			return errors.New("a threshold or a dial that is not in 0 to 1")
		}
	}
	if p.Low > p.High || p.Low < half {
		return errors.New("thresholds: want 0.5 ≤ low ≤ high")
	}
	for _, name := range p.Never {
		if !slices.Contains(NeverNames(), name) {
			return fmt.Errorf("no list %q of what is never safe", name)
		}
	}
	return nil
}

const half = 0.5 // the dial's middle, and the threshold there

// thresholds returns P(safe) from which on tokens are safe, where the rules say
// so and where not. Up to the middle of the dial the rules do not count.
//
//	d ≤ ½:  d, d
//	d > ½:  ½ + (2d-1)·(low-½), ½ + (2d-1)·(high-½)
func (p *Params) thresholds() (low, high float64) {
	if p.Dial <= half {
		return p.Dial, p.Dial
	}
	way := 2*p.Dial - 1
	return half + way*(p.Low-half), half + way*(p.High-half)
}

// threshold is that of a list.
func (p *Params) threshold(l List) float64 {
	low, high := p.thresholds()
	if l.safe() || l == Punctuation {
		return low
	}
	return high
}

// cuts are the thresholds by list, as logits, from which on a token is safe.
func (p *Params) cuts(bias float32) (cuts [numLists]float32) {
	for l := range cuts {
		cuts[l] = logit(float32(p.threshold(List(l)))) + bias
		if p.Dial == 1 && slices.Contains(p.Never, List(l).String()) {
			cuts[l] = float32(math.NaN()) // nothing is at least that
		}
	}
	return cuts
}

func logit(p float32) float32 {
	return float32(math.Log(float64(p)) - math.Log1p(-float64(p)))
}

// header describes a model in its file.
type header struct {
	tagger.Header
	Params  Params       `json:"thresholds"`
	Network string       `json:"network,omitempty"` // its kind; none: the rules alone
	Words   *WordsHeader `json:"words,omitempty"`
}

// Model is an inverse model. It is shared by all labellers and is never changed.
type Model struct {
	header  header
	set     *pipeline.TagSet
	lists   *gazetteer.Gazetteer
	names   *gazetteer.Gazetteer
	words   *Words       // may be nil
	network tagger.Model // may be nil
}

// untyped is the tag set of all inverse models.
func untyped() *pipeline.TagSet {
	set, err := pipeline.Labels("untyped")
	if err != nil {
		panic("inverse: no label set untyped") // it is built in
	}
	return &pipeline.TagSet{Scheme: pipeline.BIO, Categories: set.Categories}
}

// New returns a model of lists, common words and a network; words and network may be nil. The network has the single
// category PHI, or several categories as in INV §4.3.4; P(safe) is the probability of its tag O.
func New(h tagger.Header, lists, names *gazetteer.Gazetteer, words *Words, network tagger.Model) (*Model, error) {
	m := &Model{header: header{Header: h, Params: Strict()}, set: untyped(), lists: lists, names: names, words: words, network: network}
	m.header.Kind, m.header.Scheme, m.header.Categories = Kind, m.set.Scheme.String(), []string{m.set.Categories[0].String()}
	if words != nil {
		own := words.Header()
		m.header.Words = &own
	}
	if network == nil {
		return m, nil
	}
	if _, says := network.NewLabeller(tagger.LabelOptions{CacheBytes: 1 << 16}).(tagger.Marginals); !says {
		return nil, fmt.Errorf("a model of kind %s does not say how probable its tags are", network.Header().Kind)
	}
	m.header.Network = network.Header().Kind
	return m, nil
}

// Header returns the common part of the header.
func (m *Model) Header() tagger.Header { return m.header.Header }

// WithHeader implements tagger.Model.
func (m *Model) WithHeader(h tagger.Header) tagger.Model {
	n := *m
	n.header.Header = m.header.With(h)
	return &n
}

// With returns the model with other thresholds.
func (m *Model) With(p Params) (*Model, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	n := *m
	n.header.Params = p
	return &n, nil
}

// Params returns the thresholds of the model.
func (m *Model) Params() Params { return m.header.Params }

// TagSet returns the tags of the model.
func (m *Model) TagSet() *pipeline.TagSet { return m.set }

// Words returns the common words; nil if there are none.
func (m *Model) Words() *Words { return m.words }

// Network returns the tagger that computes P(safe); nil if there is none.
func (m *Model) Network() tagger.Model { return m.network }

// rules returns the rule part, for one goroutine.
func (m *Model) rules() *Rules { return newRules(m.lists, m.names, m.words) }

// Resources implements tagger.Templated: it returns the resources of the network, to train another model with the same.
func (m *Model) Resources() features.Resources {
	if t, ok := m.Begin().(tagger.Templated); ok {
		return t.Resources()
	}
	return features.Resources{}
}

// Begin returns the network from which fine-tuning starts: the model's network, or the last member if it is an
// ensemble.
func (m *Model) Begin() tagger.Model {
	if all, ok := m.network.(interface{ Members() []tagger.Model }); ok {
		members := all.Members()
		return members[len(members)-1]
	}
	return m.network
}

// MarshalHeader returns the header as indented JSON, for `velum model list`.
func (m *Model) MarshalHeader() ([]byte, error) { return json.MarshalIndent(m.header, "", "  ") }

// Write writes the model with its network. The same model gives the same bytes.
func (m *Model) Write(w io.Writer) error {
	var sections []modelfile.Section
	if m.words != nil {
		sections = append(sections, modelfile.Section{Name: "words", Data: m.words.Data()})
	}
	if m.network != nil {
		var file bytes.Buffer
		if err := m.network.Write(&file); err != nil {
			return err
		}
		sections = append(sections, modelfile.Section{Name: "network", Data: file.Bytes()})
	}
	return modelfile.Write(w, m.header, sections...)
}

// Load opens the model in f, which must stay open while the model is used. open opens the model of its network.
func Load(f *modelfile.File, lists, names *gazetteer.Gazetteer, open func(*modelfile.File) (tagger.Model, error)) (*Model, error) {
	var h header
	if err := f.Header(&h); err != nil {
		return nil, err
	}
	if h.Kind != Kind {
		return nil, fmt.Errorf("model is of kind %q, not %q", h.Kind, Kind)
	}
	if err := h.Params.Check(); err != nil {
		return nil, fmt.Errorf("%w: header: %w", modelfile.ErrDamaged, err)
	}
	var words *Words
	var network tagger.Model
	if h.Words != nil {
		data, err := f.Section("words")
		if err != nil {
			return nil, err
		}
		if words, err = OpenWords(data); err != nil {
			return nil, err
		}
	}
	if h.Network != "" {
		file, err := f.Part("network")
		if err != nil {
			return nil, err
		}
		if network, err = open(file); err != nil {
			return nil, fmt.Errorf("network: %w", err)
		}
		if network.Header().Kind == Kind {
			return nil, fmt.Errorf("%w: header: an inverse model in an inverse model", modelfile.ErrDamaged)
		}
	}
	m, err := New(h.Header, lists, names, words, network)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", modelfile.ErrDamaged, err)
	}
	m.header.Params = h.Params
	return m, nil
}
