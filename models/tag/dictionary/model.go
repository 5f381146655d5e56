package dictionary

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/bits"
	"slices"

	"github.com/velum-health/velum/models/number/modelfile"
	"github.com/velum-health/velum/models/tag/tagger"
	"github.com/velum-health/velum/models/word/gazetteer"
	"github.com/velum-health/velum/pipeline"
)

// Kind identifies model files of this package.
const Kind = "dictionary"

// Header is the header of a model file: the fields of tagger.Header that a dictionary has, and its own.
type Header struct {
	Kind       string             `json:"kind"`
	Name       string             `json:"name,omitempty"`
	Scheme     string             `json:"scheme"`
	Categories []string           `json:"categories"` // one
	Params     Params             `json:"params"`
	Words      int                `json:"words"`
	Archive    uint64             `json:"archive_tokens,omitempty"` // that the frequencies were counted in
	Gazetteers []string           `json:"gazetteers,omitempty"`     // fingerprints of the lists
	Scores     map[string]float64 `json:"scores,omitempty"`
	Measured   *tagger.Measured   `json:"measured,omitempty"` // see there
}

// Model is a dictionary tagger. It is shared and never changed.
type Model struct {
	header Header
	set    *pipeline.TagSet
	slots  []uint64 // open hash table of the words' hashes; 0 is empty
	freq   []float32
	judged []word // by slot
}

// Details returns the complete header.
func (m *Model) Details() Header { return m.header }

// Header implements tagger.Model.
func (m *Model) Header() tagger.Header {
	h := &m.header
	return tagger.Header{Kind: h.Kind, Name: h.Name, Scheme: h.Scheme, Categories: h.Categories, Scores: h.Scores, Measured: h.Measured}
}

// WithHeader implements tagger.Model. A dictionary has no recall dial and no parent.
func (m *Model) WithHeader(h tagger.Header) tagger.Model {
	n := *m
	n.header.Name, n.header.Scores, n.header.Measured = h.Name, h.Scores, h.Measured
	return &n
}

// TagSet returns the tags of the model.
func (m *Model) TagSet() *pipeline.TagSet { return m.set }

// find returns the slot of a word, -1 if the lists do not have it.
func (m *Model) find(key uint64) int {
	n := uint64(len(m.slots))
	i, _ := bits.Mul64(key<<1, n)
	for key != 0 {
		switch m.slots[i] {
		case key:
			return int(i)
		case 0:
			return -1
		}
		if i++; i == n {
			i = 0
		}
	}
	return -1
}

// Word returns the frequencies of a form.
func (m *Model) Word(form []byte) Word {
	if i := m.find(gazetteer.Hash(form)); i >= 0 {
		return m.word(i)
	}
	return Word{}
}

func (m *Model) word(i int) Word { return Word{m.freq[3*i], m.freq[3*i+1], m.freq[3*i+2]} }

// New makes a model from the frequencies of words, keyed by hash.
func New(h Header, words map[uint64]Word) (*Model, error) {
	n := uint64(len(words))*3/2 + 1
	m := &Model{header: h, slots: make([]uint64, n), freq: make([]float32, 3*n)}
	m.header.Kind, m.header.Scheme, m.header.Words = Kind, pipeline.BIO.String(), len(words)
	for _, key := range slices.Sorted(maps.Keys(words)) {
		i, _ := bits.Mul64(key<<1, n)
		for m.slots[i] != 0 {
			if i++; i == n {
				i = 0
			}
		}
		w := words[key]
		m.slots[i] = key
		m.freq[3*i], m.freq[3*i+1], m.freq[3*i+2] = w.Positive, w.Negative, w.Archive
	}
	return m, m.finish()
}

// finish derives what is not in the file and checks what is.
func (m *Model) finish() error {
	if len(m.header.Categories) != 1 || m.header.Scheme != pipeline.BIO.String() {
		return fmt.Errorf("%w: header: a dictionary model has one category, in BIO", modelfile.ErrDamaged)
	}
	c, err := pipeline.ParseCategory(m.header.Categories[0])
	if err != nil || c == pipeline.None {
		return fmt.Errorf("%w: header: %w", modelfile.ErrDamaged, pipeline.ErrCategory)
	}
	m.set = &pipeline.TagSet{Scheme: pipeline.BIO, Categories: []pipeline.Category{c}}
	if len(m.freq) != 3*len(m.slots) || !slices.Contains(m.slots, 0) {
		return fmt.Errorf("%w: section \"slot\" does not fit the others", modelfile.ErrDamaged)
	}
	for i, f := range m.freq {
		if !(f >= 0 && f <= 1) || m.slots[i/3] != 0 && i%3 == 2 && f == 0 {
			return fmt.Errorf("%w: section \"frequency\" holds what is no frequency", modelfile.ErrDamaged)
		}
	}
	return m.judge()
}

// judge applies the parameters to every word.
func (m *Model) judge() error {
	if err := m.header.Params.check(); err != nil {
		return err
	}
	m.judged = make([]word, len(m.slots))
	for i := range m.slots {
		if m.slots[i] != 0 {
			m.judged[i] = m.header.Params.judged(m.word(i))
		}
	}
	return nil
}

// Write writes the model. The same model gives the same bytes.
func (m *Model) Write(w io.Writer) error {
	return modelfile.Write(w, m.header,
		modelfile.Section{Name: "slot", Data: modelfile.Bytes(m.slots)},
		modelfile.Section{Name: "frequency", Data: modelfile.Bytes(m.freq)},
	)
}

// Load opens the model in f, which must stay open while the model is used.
func Load(f *modelfile.File) (*Model, error) {
	m := new(Model)
	if err := f.Header(&m.header); err != nil {
		return nil, err
	}
	if m.header.Kind != Kind {
		return nil, fmt.Errorf("model is of kind %q, not %q", m.header.Kind, Kind)
	}
	slots, err1 := f.Section("slot")
	freq, err2 := f.Section("frequency")
	if err := cmp.Or(err1, err2); err != nil {
		return nil, err
	}
	var err error
	if m.slots, err = modelfile.View[uint64](slots); err != nil {
		return nil, err
	}
	if m.freq, err = modelfile.View[float32](freq); err != nil {
		return nil, err
	}
	return m, m.finish()
}

// MarshalHeader implements tagger.Model.
func (m *Model) MarshalHeader() ([]byte, error) { return json.MarshalIndent(m.header, "", "  ") }
