// Package bilstm tags notes with a bidirectional recurrent network and a CRF on top (BOOT §3.5, NGRID §5, INV §4.3.4).
//
//	in:  tokens and pattern matches of a note, a template of features, a model
//	out: one tag a token, and a confidence; package bilstmtrain makes models of tagged notes
//
// A token is represented by the vectors of its word, of its characters and of its features; the features are those of
// the CRF without a window, since the network sees the context. A layer reads a line in both directions, and its scores
// for the tags go into the CRF of models/tag/chain.
//
//	word ─────────┐
//	characters ───┼─ dropout ─ recurrent, both directions ─ dropout ─ scores ─ chain
//	features, sum ┘
//
// The input that a form contributes to the recurrence is the same wherever the form occurs, so it is cached by form
// (label.go), and a token costs only the recurrence: a tenth of the parameters that training uses.
package bilstm

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/velum-health/velum/models/number/kernels"
	"github.com/velum-health/velum/models/number/modelfile"
	"github.com/velum-health/velum/models/tag/chain"
	"github.com/velum-health/velum/models/tag/features"
	"github.com/velum-health/velum/models/tag/tagger"
	"github.com/velum-health/velum/models/word/embed"
	"github.com/velum-health/velum/pipeline"
)

// Kind identifies model files of this package.
const Kind = "bilstm"

// Header is the header of a model file: the fields common to all kinds, and those of a network.
type Header struct {
	tagger.Header
	Network Architecture `json:"network"`
	Recipe  Recipe       `json:"recipe"`
	Seed    uint64       `json:"seed"`
	Vectors string       `json:"vectors,omitempty"` // how the words of the vectors were written that words began with
}

// Model is a trained network. It is shared by all labellers and is never changed.
type Model struct {
	header   Header
	stored   []modelfile.Section // of the resources
	arch     Architecture
	template *features.Template
	set      *pipeline.TagSet
	res      features.Resources
	network  Parameters

	words    []string // rows of the tables; the first of each stands for what is not known
	features []uint64
	chars    []rune
	numbers  *Vocabulary

	tr *chain.Transitions

	// 8-bit copies of the matrices for tagging; nil if their shape does not allow it.
	input     []*kernels.Quantized    // of the layers
	recurrent [][2]*kernels.Quantized // a direction
}

// Header returns the common part of the header.
func (m *Model) Header() tagger.Header { return m.header.Header }

// WithHeader implements tagger.Model.
func (m *Model) WithHeader(h tagger.Header) tagger.Model {
	n := *m
	n.header.Header = m.header.With(h)
	return &n
}

// TagSet returns the tags of the model.
func (m *Model) TagSet() *pipeline.TagSet { return m.set }

// Resources returns the slots and lists in which the model looks forms up, to train another model with the same.
func (m *Model) Resources() features.Resources { return m.res }

// Architecture returns the shape of the network.
func (m *Model) Architecture() Architecture { return m.arch }

// Parameters returns the trained parameters.
func (m *Model) Parameters() Parameters { return m.network }

// Vocabulary returns a copy of the vocabulary, which may be extended.
func (m *Model) Vocabulary() *Vocabulary {
	v := NewVocabulary(m.numbers.Lemma)
	v.Norm = m.numbers.Norm
	v.number(m.words, m.features, m.chars)
	return v
}

// Size returns the number of features and of weights.
func (m *Model) Size() (features, weights int) {
	for _, p := range m.network {
		weights += p.Rows * p.Cols
	}
	return len(m.features), weights
}

// New makes a model from the results of a training: a header, the template and the tags of the notes, the resources of
// the features, and parameters of the Shapes.
func New(h Header, t *features.Template, set *pipeline.TagSet, r features.Resources, v *Vocabulary, ps Parameters) (*Model, error) {
	h.Kind, h.Scheme, h.Template = Kind, set.Scheme.String(), t.String()
	h.Categories = nil
	for _, category := range set.Categories {
		h.Categories = append(h.Categories, category.String())
	}
	if v.Norm != nil {
		h.Vectors = v.Norm.String()
	}
	m := &Model{res: r, numbers: v}
	var err error
	if m.stored, err = h.Keep(t, r); err != nil {
		return nil, err
	}
	m.header = h
	for _, p := range ps {
		m.network = append(m.network, p.finished())
	}
	m.words, m.features, m.chars = v.lists()
	return m, m.finish()
}

// finish derives what is not in the file and checks what is.
func (m *Model) finish() error {
	h := &m.header
	m.arch = h.Network
	if err := m.arch.Check(); err != nil {
		return err
	}
	set, err := pipeline.ParseTagSet(h.Scheme + " " + strings.Join(h.Categories, " "))
	if err != nil {
		return err
	}
	m.set = set
	if m.template, err = features.Parse(h.Template); err != nil {
		return err
	}
	for _, p := range m.network {
		if !modelfile.Finite(p.Data) || !modelfile.Finite(p.scales) {
			return fmt.Errorf("%s is no number", p.Name)
		}
	}
	w := chain.NewWeights(set, true)
	if pairs := m.network.Named("pairs"); pairs != nil {
		for i := range w.L {
			for j := range w.L {
				if at := i*w.L + j; w.Score[at] > chain.Forbidden {
					w.Score[at] = pairs.Data[i*pairs.Cols+j]
				}
			}
		}
	}
	m.tr = chain.NewTransitions(w)
	// On MEDDOCAN dev eight bits a number changed no score in the third digit (BENCHMARKS.md).
	for i := range m.arch.Layers {
		layer := string('0' + byte(i))
		m.input = append(m.input, m.network.Named("w" + layer).products()[0])
		m.recurrent = append(m.recurrent, [2]*kernels.Quantized(m.network.Named("u"+layer).products()))
	}
	return nil
}

// Write writes the model. The same model gives the same bytes.
func (m *Model) Write(w io.Writer) error {
	chars := make([]uint32, len(m.chars))
	for i, r := range m.chars {
		chars[i] = uint32(r)
	}
	sections := []modelfile.Section{
		{Name: "words", Data: []byte(strings.Join(m.words, "\n"))},
		{Name: "features", Data: modelfile.Bytes(m.features)},
		{Name: "chars", Data: modelfile.Bytes(chars)},
	}
	for _, p := range m.network {
		codes, numbers := p.halves, p.scales
		if !p.Table {
			codes = modelfile.Bytes(p.codes)
		}
		if len(codes) > 0 {
			sections = append(sections, modelfile.Section{Name: "c." + p.Name, Data: codes})
		} else {
			numbers = p.Data
		}
		sections = append(sections, modelfile.Section{Name: "p." + p.Name, Data: modelfile.Bytes(numbers)})
	}
	return modelfile.Write(w, m.header, append(sections, m.stored...)...)
}

// Load opens the model in f, which must stay open while the model is used. The lists in r must be those of the
// training.
func Load(f *modelfile.File, r features.Resources) (*Model, error) {
	m := new(Model)
	if err := f.Header(&m.header); err != nil {
		return nil, err
	}
	if m.header.Kind != Kind {
		return nil, fmt.Errorf("model is of kind %q, not %q", m.header.Kind, Kind)
	}
	if err := m.header.Network.Check(); err != nil {
		return nil, fmt.Errorf("%w: header: %w", modelfile.ErrDamaged, err)
	}
	template, err := features.Parse(m.header.Template)
	if err != nil {
		return nil, fmt.Errorf("%w: header: %w", modelfile.ErrDamaged, err)
	}
	if m.res, m.stored, err = m.header.OpenResources(f, template, r); err != nil {
		return nil, err
	}
	if err := m.sections(f); err != nil {
		return nil, err
	}
	if err := m.finish(); err != nil {
		return nil, fmt.Errorf("%w: %w", modelfile.ErrDamaged, err)
	}
	m.numbers = &Vocabulary{Chars: map[rune]int32{}, Lemma: m.res.Slots["lemma"]}
	m.numbers.number(m.words, m.features, m.chars)
	if m.numbers.Features.Len() != len(m.features)-1 {
		return nil, fmt.Errorf("%w: a feature has two numbers", modelfile.ErrDamaged)
	}
	if m.arch.Feature == 0 {
		m.numbers.Features = KeyTable{} // they have no vectors
	}
	if m.header.Vectors != "" {
		norm, err := embed.ParseNormalization(m.header.Vectors)
		if err != nil {
			return nil, fmt.Errorf("%w: header: %w", modelfile.ErrDamaged, err)
		}
		m.numbers.Norm = &norm
	}
	return m, nil
}

// sections reads words and numbers.
func (m *Model) sections(f *modelfile.File) error {
	text, err := f.Section("words")
	if err != nil {
		return err
	}
	m.words = strings.Split(string(text), "\n")
	data, err := f.Section("features")
	if err != nil {
		return err
	}
	if m.features, err = modelfile.View[uint64](data); err != nil {
		return err
	}
	if data, err = f.Section("chars"); err != nil {
		return err
	}
	chars, err := modelfile.View[uint32](data)
	if err != nil {
		return err
	}
	for _, r := range chars {
		m.chars = append(m.chars, rune(r))
	}
	if len(m.features) < Unknown+1 || len(m.chars) < Border+1 {
		return fmt.Errorf("%w: it has no features or no characters", modelfile.ErrDamaged)
	}
	return m.weights(f)
}

// weights reads the parameters, whose shapes follow from the header and the
// words.
func (m *Model) weights(f *modelfile.File) error {
	tags := 1 + len(m.header.Categories)*2
	if m.header.Scheme == pipeline.BIOESU.String() {
		tags = 1 + len(m.header.Categories)*4
	}
	m.network = Shapes(m.header.Network, len(m.words), len(m.features), len(m.chars), kernels.Pad(tags))
	for _, p := range m.network {
		if err := p.open(f); err != nil {
			return err
		}
	}
	return nil
}

// open reads a parameter: halves of a table, codes of blocks, and their scales; numbers of all others.
func (p *Parameter) open(f *modelfile.File) error {
	coded := p.Table || p.blocks > 0 && slices.ContainsFunc(f.Sections(), func(s modelfile.Section) bool { return s.Name == "c."+p.Name })
	all := p.Rows * p.Cols
	numbers := all
	if coded {
		codes, err := f.Section("c." + p.Name)
		if err != nil {
			return err
		}
		if p.Table {
			p.halves, all, numbers = codes, all/2, p.Rows
		} else {
			p.codes, _ = modelfile.View[int8](codes) // of single bytes any length is right
			numbers = p.blocks * p.Cols
		}
		if len(codes) != all {
			return unfit("c." + p.Name)
		}
	}
	data, err := f.Section("p." + p.Name)
	if err != nil {
		return err
	}
	read, err := modelfile.View[float32](data)
	switch {
	case err != nil:
		return err
	case len(read) != numbers:
		return unfit("p." + p.Name)
	case !coded:
		p.Data = read
		return nil
	}
	if p.scales = read; !p.Table {
		p.unfold()
	}
	return nil
}

func unfit(section string) error {
	return fmt.Errorf("%w: section %q does not fit the others", modelfile.ErrDamaged, section)
}

// MarshalHeader returns the header as indented JSON, for `velum model list`.
func (m *Model) MarshalHeader() ([]byte, error) { return json.MarshalIndent(m.header, "", "  ") }
