// Package bilstm is the recurrent network with a CRF on top (BOOT
// §3.5, NGRID §5, INV §4.3.4).
//
//	in:  tokens and pattern matches of a note, a template of features
//	out: one tag a token, and a confidence; or, from tagged notes, a model
//
// A token is the vectors of its word, of its characters and of its features
// (the ones that the CRF has, without a window: the network has its own). A
// layer reads a line in both directions, and the scores that it gives every
// tag go into the chain of models/chain.
//
//	word ─────────┐
//	characters ───┼─ dropout ─ recurrent, both directions ─ dropout ─ scores ─ chain
//	features, sum ┘
//
// Training is gorgonia's: it has the graph, takes the gradients and steps
// (graph.go, solver.go); the arithmetic of a node is ours. Tagging needs none
// of that. What comes into the recurrence from a form is the same wherever the
// form stands, so it is kept by form (label.go), and a token costs the
// recurrence alone: a tenth of the parameters that training touches.
package bilstm

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/velum-health/velum/models/number/kernels"
	"github.com/velum-health/velum/models/number/modelfile"
	"github.com/velum-health/velum/models/tag/bilstm/layers"
	"github.com/velum-health/velum/models/tag/chain"
	"github.com/velum-health/velum/models/tag/features"
	"github.com/velum-health/velum/models/tag/tagger"
	"github.com/velum-health/velum/models/word/embed"
	"github.com/velum-health/velum/pipeline"
)

// Kind is what a model file of this package says it is.
const Kind = "bilstm"

// header is what a model file says of itself: what all kinds say, and more.
type header struct {
	tagger.Header
	Network Architecture `json:"network"`
	Recipe  Recipe       `json:"recipe"`
	Seed    uint64       `json:"seed"`
	Vectors string       `json:"vectors,omitempty"` // how the words of the vectors were written that words began with
}

// Model is a trained network. It is shared by all labellers and never written.
type Model struct {
	header   header
	stored   []modelfile.Section // of the resources
	arch     Architecture
	template *features.Template
	set      *pipeline.TagSet
	res      features.Resources
	network  parameters

	words    []string // rows of the tables; the first of each stands for what is not known
	features []uint64
	chars    []rune
	numbers  *vocabulary

	tr *chain.Transitions

	// What tagging multiplies by, with eight bits a number; nil where the shape
	// does not allow it.
	input     []*kernels.Quantized    // of the layers
	recurrent [][2]*kernels.Quantized // a direction
}

// Header returns what the model says of itself.
func (m *Model) Header() tagger.Header { return m.header.Header }

// WithHeader implements tagger.Model.
func (m *Model) WithHeader(h tagger.Header) tagger.Model {
	n := *m
	n.header.Name, n.header.Scores, n.header.RecallDial, n.header.Measured = h.Name, h.Scores, h.RecallDial, h.Measured
	n.header.Risk, n.header.Parent = h.Risk, h.Parent
	return &n
}

// TagSet returns what the model's tags mean.
func (m *Model) TagSet() *pipeline.TagSet { return m.set }

// Resources returns the slots and lists that the model looks forms up in, for
// training another like it.
func (m *Model) Resources() features.Resources { return m.res }

// Size returns the number of features and of weights.
func (m *Model) Size() (features, weights int) {
	for _, p := range m.network {
		weights += p.rows * p.cols
	}
	return len(m.features), weights
}

// newModel makes a model of what was learned.
func newModel(h header, c *Corpus, v *vocabulary, ps parameters) (*Model, error) {
	h.Kind, h.Scheme, h.Template, h.Network = Kind, c.set.Scheme.String(), c.template.String(), c.arch
	h.Categories = nil
	for _, category := range c.set.Categories {
		h.Categories = append(h.Categories, category.String())
	}
	m := &Model{res: c.extract.Resources(), numbers: v}
	var err error
	if m.stored, err = h.Keep(c.template, m.res); err != nil {
		return nil, err
	}
	m.header = h
	for _, p := range ps {
		if p.table {
			p = p.rounded()
		} else {
			p = &parameter{name: p.name, rows: p.rows, cols: p.cols, blocks: p.blocks, data: slices.Clone(p.data)}
		}
		m.network = append(m.network, p)
	}
	m.words, m.features, m.chars = v.lists()
	return m, m.finish()
}

// finish derives what is not in the file and checks what is.
func (m *Model) finish() error {
	h := &m.header
	m.arch = h.Network
	if err := m.arch.check(); err != nil {
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
	for i, p := range m.network {
		learned := p.data
		if p.data == nil {
			learned = p.scales
		}
		if !modelfile.Finite(learned) {
			return fmt.Errorf("%s is no number", p.name)
		}
		if p.blocks > 0 && p.codes == nil {
			m.network[i] = p.folded()
		}
	}
	w := chain.NewWeights(set, true)
	if m.arch.Objective != "softmax" {
		pairs := m.network.named("pairs")
		for i := range w.L {
			for j := range w.L {
				if at := i*w.L + j; w.Score[at] > chain.Forbidden {
					w.Score[at] = pairs.data[i*pairs.cols+j]
				}
			}
		}
	}
	m.tr = chain.NewTransitions(w)
	m.quantize()
	return nil
}

// quantize makes what tagging multiplies by. On MEDDOCAN dev no score changed in
// the third digit (BENCHMARKS.md).
func (m *Model) quantize() {
	m.input, m.recurrent = nil, nil
	for i := range m.arch.Layers {
		layer := string('0' + byte(i))
		m.input = append(m.input, m.network.named("w" + layer).products()[0])
		m.recurrent = append(m.recurrent, [2]*kernels.Quantized(m.network.named("u"+layer).products()))
	}
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
		codes := p.halves
		if codes == nil {
			codes = modelfile.Bytes(p.codes)
		}
		if len(codes) == 0 {
			sections = append(sections, modelfile.Section{Name: "p." + p.name, Data: modelfile.Bytes(p.data)})
			continue
		}
		sections = append(sections,
			modelfile.Section{Name: "c." + p.name, Data: codes},
			modelfile.Section{Name: "p." + p.name, Data: modelfile.Bytes(p.scales)})
	}
	return modelfile.Write(w, m.header, append(sections, m.stored...)...)
}

// Load takes a model out of an opened file, which must stay open while the
// model is used. The lists must be those that it was trained with.
func Load(f *modelfile.File, r features.Resources) (*Model, error) {
	m := new(Model)
	if err := f.Header(&m.header); err != nil {
		return nil, err
	}
	if m.header.Kind != Kind {
		return nil, fmt.Errorf("model is of kind %q, not %q", m.header.Kind, Kind)
	}
	if err := m.header.Network.check(); err != nil {
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
	m.numbers = &vocabulary{words: make(map[string]int32, len(m.words)), chars: map[rune]int32{}}
	m.numbers.number(m.words, m.features, m.chars)
	if m.numbers.features.len() != len(m.features)-1 {
		return nil, fmt.Errorf("%w: a feature has two numbers", modelfile.ErrDamaged)
	}
	if m.arch.Feature == 0 {
		m.numbers.features.reset() // they have no vectors
	}
	m.numbers.lemma = m.res.Slots["lemma"]
	if m.header.Vectors != "" {
		m.numbers.vectors = true
		if m.numbers.norm, err = embed.ParseNormalization(m.header.Vectors); err != nil {
			return nil, fmt.Errorf("%w: header: %w", modelfile.ErrDamaged, err)
		}
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
	if len(m.features) < unknown+1 || len(m.chars) < layers.Border+1 {
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
	m.network = shapes(m.header.Network, len(m.words), len(m.features), len(m.chars), kernels.Pad(tags))
	for _, p := range m.network {
		if err := p.open(f); err != nil {
			return err
		}
	}
	return nil
}

// open reads a parameter: halves or, in files of before, codes and scales of a table; codes of
// blocks too, which still older files hold as numbers; numbers of all others.
func (p *parameter) open(f *modelfile.File) error {
	all := p.rows * p.cols
	want := all
	if p.table || p.blocks > 0 && hasSection(f, "c."+p.name) {
		codes, err := f.Section("c." + p.name)
		if err != nil {
			return err
		}
		switch {
		case p.table && 2*len(codes) == all:
			p.halves = codes
		case len(codes) != all:
			return unfit("c." + p.name)
		default:
			p.codes, _ = modelfile.View[int8](codes) // of single bytes any length is right
		}
		if want = p.rows; !p.table {
			want = p.blocks * p.cols
		}
	}
	data, err := f.Section("p." + p.name)
	if err != nil {
		return err
	}
	if p.data, err = modelfile.View[float32](data); err != nil {
		return err
	}
	if len(p.data) != want {
		return unfit("p." + p.name)
	}
	if p.codes == nil && p.halves == nil {
		return nil
	}
	p.scales, p.data = p.data, nil
	if !p.table {
		p.unfold()
	}
	return nil
}

func hasSection(f *modelfile.File, name string) bool {
	return slices.ContainsFunc(f.Sections(), func(s modelfile.Section) bool { return s.Name == name })
}

func unfit(section string) error {
	return fmt.Errorf("%w: section %q does not fit the others", modelfile.ErrDamaged, section)
}

// MarshalHeader returns the header as indented JSON, for `velum models`.
func (m *Model) MarshalHeader() ([]byte, error) { return json.MarshalIndent(m.header, "", "  ") }
