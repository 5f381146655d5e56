// Package crf tags notes with a linear-chain conditional random field (BOOT §3.4, NGRID §4, VIGI §4.3).
//
//	in:  tokens and pattern matches of a note, a model
//	out: one tag a token, and a confidence; package crftrain makes models of tagged notes
//
//	p(y|x) = exp(Σ_t Σ_k λ_k f_k(y_{t-1}, y_t, x, t)) / Z(x)
//
// The score of a label at a token is a sum over the forms in its window: what form v contributes at window offset o is
// the same wherever v occurs. Tagging caches these sums by form ([Labeller]), and training computes them once per
// iteration (crftrain), so that nobody hashes sixty features per token. Features that depend on more than a form, such
// as matches of patterns and positions, are added separately.
package crf

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/velum-health/velum/models/number/kernels"
	"github.com/velum-health/velum/models/number/modelfile"
	"github.com/velum-health/velum/models/tag/chain"
	"github.com/velum-health/velum/models/tag/features"
	"github.com/velum-health/velum/models/tag/tagger"
	"github.com/velum-health/velum/pipeline"
)

// Kinds of model files of this package.
const (
	Kind = "crf"
	SVM  = "svm" // one of models/learn/svmtrain, which tags as a CRF does
)

// Model is a trained CRF. It is shared by all labellers and is never changed.
type Model struct {
	header   tagger.Header
	template *features.Template
	set      *pipeline.TagSet
	weights  chain.Weights
	tr       *chain.Transitions
	stride   int
	res      features.Resources
	stored   []modelfile.Section // of the resources

	// Features by hash: the high bits of a key choose a bucket, the low 32 are
	// compared. Weights of feature i are those from first[i] to first[i+1],
	// sorted by slot = row · stride + label.
	shift  uint
	bucket []uint32  // [buckets+1] first feature
	low    []uint32  // [features]
	first  []uint32  // [features+1]
	slot   []uint16  // [weights]
	weight []float32 // [weights]

	// A second table for tagging: finding a feature takes one memory access, and its weights another.
	table      []place // 2ⁿ; a feature stands at the high bits of low or behind
	tableShift uint
	state      []state    // [weights] slot and weight
	owner      *[2]uint64 // of both: all models that have them, with whatever header, have it

	// Features with many weights also have them as dense rows over the labels: adding a row takes three steps instead
	// of nineteen. The block of a feature is the index of its first weight divided by denseStep, which is different for
	// each of them.
	dense  []float32 // [rows][width]
	blocks []block   // [weights/denseStep+1]
	width  int       // of a row: the labels, padded to half a register

	shared *shared // what labellers know of forms

	// A filter with two bits for each feature, in the word that the high bits of low choose. Most lookups are of
	// features that the model does not have (rare words, pairs of words), and then one access to this small table is
	// enough.
	filter      []uint64
	filterShift uint
}

// Header returns the header of the model.
func (m *Model) Header() tagger.Header { return m.header }

// WithHeader implements tagger.Model.
func (m *Model) WithHeader(h tagger.Header) tagger.Model {
	n := *m
	n.header = m.header.With(h)
	return &n
}

// TagSet returns the tags of the model.
func (m *Model) TagSet() *pipeline.TagSet { return m.set }

// Size returns the number of features and of weights in the model.
func (m *Model) Size() (features, weights int) { return len(m.low), len(m.weight) }

// find returns the weights of a feature, none if the model does not know it.
func (m *Model) find(key uint64) (slots []uint16, weights []float32) {
	for _, f := range m.locate([]located{{Mark: features.Mark{Feature: features.Feature{Key: key}}}}) {
		return m.slot[f.lo:f.hi], m.weight[f.lo:f.hi]
	}
	return nil, nil
}

// maybe reports whether the model may know a feature (a Bloom filter): if it is false, the model does not.
func (m *Model) maybe(key uint64) bool {
	want := filterBits(uint32(key))
	return m.filter[uint32(key)>>m.filterShift]&want == want
}

// some appends to dst the indexes of the keys that the model may know: maybe for many keys without a branch, since one
// pair of words in three is known and a branch would be mispredicted.
func (m *Model) some(keys []uint64, dst []int32) []int32 {
	dst = slices.Grow(dst, len(keys))
	known := dst[len(dst) : len(dst)+len(keys)]
	n := 0
	for i, key := range keys {
		missing := filterBits(uint32(key)) &^ m.filter[uint32(key)>>m.filterShift]
		known[n] = int32(i)
		n += int((missing|-missing)>>63 ^ 1)
	}
	return dst[:len(dst)+n]
}

// place is a feature of the table: its bucket, low and weights. Without weights
// it is free.
type place struct{ low, bucket, lo, hi uint32 }

// enter adds a feature to the table; of two with one key the first counts.
func (m *Model) enter(p place) {
	at, mask := p.low>>m.tableShift, uint32(len(m.table)-1)
	for ; m.table[at].hi != 0; at = (at + 1) & mask {
		if m.table[at].low == p.low && m.table[at].bucket == p.bucket {
			return
		}
	}
	m.table[at] = p
}

// state is one weight.
type state struct {
	slot   uint32
	weight float32
}

// located is a feature and where its weights are.
type located struct {
	features.Mark
	lo, hi  uint32  // in slot and weight
	touched float32 // what was read only to have it fetched
}

// block says where the rows of a feature are; no rows if it has none.
type block struct {
	at          uint32 // in dense
	first, rows uint8
}

// denseStep is how many weights a feature has at the least whose rows are kept.
const denseStep = 32

// blockOf returns the block of a feature with these weights.
func (m *Model) blockOf(lo, hi uint32) block {
	if hi-lo < denseStep {
		return block{}
	}
	return m.blocks[lo/denseStep]
}

// rows returns the rows of a block.
func (m *Model) rows(b block) []float32 { return m.dense[b.at:][:int(b.rows)*m.width] }

// makeBlocks makes rows of the features of which a quarter of the weights of
// their rows are there.
func (m *Model) makeBlocks() {
	labels := m.set.Len()
	m.width = (labels + kernels.Half - 1) &^ (kernels.Half - 1)
	m.blocks = make([]block, len(m.slot)/denseStep+1)
	for i := range m.low {
		lo, hi := m.first[i], m.first[i+1]
		if hi-lo < denseStep {
			continue
		}
		slots, weights := m.slot[lo:hi], m.weight[lo:hi]
		first := int(slots[0]) / m.stride
		rows := int(slots[len(slots)-1])/m.stride - first + 1
		padding := func(s uint16) bool { return int(s)%m.stride >= labels }
		if 4*len(slots) < rows*labels || first+rows > math.MaxUint8 || slices.ContainsFunc(slots, padding) {
			continue
		}
		b := block{at: uint32(len(m.dense)), first: uint8(first), rows: uint8(rows)}
		m.dense = append(m.dense, make([]float32, rows*m.width)...)
		for k, s := range slots {
			m.dense[int(b.at)+(int(s)/m.stride-first)*m.width+int(s)%m.stride] += weights[k]
		}
		m.blocks[lo/denseStep] = b
	}
}

// locate finds the weights of those features that the model knows, in order; it pays to ask maybe first. It is
// find in stages: each stage loads for all features what the next one needs, so that the processor waits for memory
// once per stage.
func (m *Model) locate(fs []located) []located {
	for i := range fs {
		f := &fs[i]
		f.lo = uint32(f.Key) >> m.tableShift
		f.touched = float32(m.table[f.lo].low)
	}
	known, mask := 0, uint32(len(m.table)-1)
	for i := range fs {
		f := fs[i]
		for at := f.lo; m.table[at].hi != 0; at = (at + 1) & mask {
			p := &m.table[at]
			if p.low != uint32(f.Key) || p.bucket != uint32(f.Key>>m.shift) {
				continue
			}
			f.lo, f.hi = p.lo, p.hi
			if b := m.blockOf(f.lo, f.hi); b.rows > 0 {
				f.touched = m.dense[b.at]
			} else {
				f.touched = m.state[f.lo].weight
			}
			fs[known] = f
			known++
			break
		}
	}
	return fs[:known]
}

// makeIndex makes table, filter and blocks, for find and locate.
func (m *Model) makeIndex() {
	m.owner = new([2]uint64)
	m.state = kernels.Pages[state](m.owner, len(m.slot))
	for i, slot := range m.slot {
		m.state[i] = state{uint32(slot), m.weight[i]}
	}
	size := 1 // bits
	for 5*len(m.low) > 4<<size {
		size++
	}
	m.table, m.tableShift = kernels.Pages[place](m.owner, 1<<size), uint(32-size)
	for b := range uint32(len(m.bucket) - 1) {
		for i := m.bucket[b]; i < m.bucket[b+1]; i++ {
			if lo, hi := m.first[i], m.first[i+1]; lo < hi {
				m.enter(place{m.low[i], b, lo, hi})
			}
		}
	}
	m.makeFilter()
	m.makeBlocks()
	m.shared = new(shared)
}

func filterBits(low uint32) uint64 { return 1<<(low&63) | 1<<(low>>6&63) }

// makeFilter fills the filter, with 8 to 16 bits a feature: of unknown keys it
// lets 2 to 6 in a hundred pass.
func (m *Model) makeFilter() {
	size := 1 // bits of the number of words
	for len(m.low) > 8<<size {
		size++
	}
	m.filter, m.filterShift = make([]uint64, 1<<size), uint(32-size)
	for _, low := range m.low {
		m.filter[low>>m.filterShift] |= filterBits(low)
	}
}

// Builder collects the features of a model.
type Builder struct {
	template *features.Template
	set      *pipeline.TagSet
	stride   int
	keys     []uint64
	first    []uint32
	slot     []uint16
	weight   []float32
}

func NewBuilder(t *features.Template, set *pipeline.TagSet) *Builder {
	return &Builder{template: t, set: set, stride: kernels.Pad(set.Len())}
}

// Feature begins a feature. A feature without weights is dropped when the next one begins.
func (b *Builder) Feature(key uint64) {
	b.drop()
	b.keys = append(b.keys, key)
	b.first = append(b.first, uint32(len(b.slot)))
}

func (b *Builder) drop() {
	if n := len(b.first); n > 0 && int(b.first[n-1]) == len(b.slot) {
		b.keys, b.first = b.keys[:n-1], b.first[:n-1]
	}
}

// Put adds a weight of the current feature, rounded to the precision of files. Calls must be in ascending order of row
// and label.
func (b *Builder) Put(row, label int, w float32) {
	b.slot = append(b.slot, uint16(row*b.stride+label))
	b.weight = append(b.weight, modelfile.Brain(w))
}

// Done returns the model of the features: of the given kind, with transition weights w. Features are sorted into
// buckets of four on average.
func (b *Builder) Done(kind string, h tagger.Header, w chain.Weights, r features.Resources) (*Model, error) {
	b.drop()
	bits := uint(4) // at least 36 bits of a key are compared, and 48 in models of some size
	for len(b.keys)>>2 > 1<<bits {
		bits++
	}
	m := &Model{shift: 64 - bits, bucket: make([]uint32, 1<<bits+1)}
	order := make([]int, len(b.keys))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int {
		if b.keys[i] < b.keys[j] {
			return -1
		}
		return 1
	})
	b.first = append(b.first, uint32(len(b.slot)))
	for _, i := range order {
		m.bucket[b.keys[i]>>m.shift+1]++
		m.low = append(m.low, uint32(b.keys[i]))
		m.first = append(m.first, uint32(len(m.slot)))
		m.slot = append(m.slot, b.slot[b.first[i]:b.first[i+1]]...)
		m.weight = append(m.weight, b.weight[b.first[i]:b.first[i+1]]...)
	}
	m.first = append(m.first, uint32(len(m.slot)))
	for i := 1; i < len(m.bucket); i++ {
		m.bucket[i] += m.bucket[i-1]
	}
	h.Kind, h.Scheme, h.Template = kind, b.set.Scheme.String(), b.template.String()
	h.Categories = nil
	for _, c := range b.set.Categories {
		h.Categories = append(h.Categories, c.String())
	}
	stored, err := h.Keep(b.template, r)
	if err != nil {
		return nil, err
	}
	m.weights, m.header, m.stored = w, h, stored
	if err := m.finish(r); err != nil {
		return nil, err
	}
	m.makeIndex()
	return m, nil
}

// finish derives what is not in the file and checks what is.
func (m *Model) finish(r features.Resources) error {
	h := m.header
	scheme, err := pipeline.ParseScheme(h.Scheme)
	if err != nil {
		return err
	}
	m.set = &pipeline.TagSet{Scheme: scheme}
	for _, name := range h.Categories {
		c, err := pipeline.ParseCategory(name)
		if err != nil {
			return err
		}
		m.set.Categories = append(m.set.Categories, c)
	}
	if m.set.Len() > MaxTags {
		return fmt.Errorf("%d tags; at most %d", m.set.Len(), MaxTags)
	}
	if m.template, err = features.Parse(h.Template); err != nil {
		return err
	}
	m.stride, m.res = kernels.Pad(m.set.Len()), r
	m.tr = chain.NewTransitions(m.weights)
	return nil
}

// MaxTags is the largest number of tags, since a tag is one byte.
const MaxTags = 256

// Resources returns the slots and lists in which the model looks forms up, to train another model with the same.
func (m *Model) Resources() features.Resources { return m.res }

// Write writes the model. The same model gives the same bytes.
func (m *Model) Write(w io.Writer) error {
	var scores []float32
	scores = append(append(append(scores, m.weights.Score...), m.weights.Start...), m.weights.End...)
	sections := []modelfile.Section{
		{Name: "transitions", Data: modelfile.Bytes(scores)},
		{Name: "bucket", Data: modelfile.Bytes(m.bucket)},
		{Name: "key", Data: modelfile.Bytes(m.low)},
		{Name: "first", Data: modelfile.Bytes(m.first)},
		{Name: "slot", Data: modelfile.Bytes(m.slot)},
		{Name: "weight", Data: modelfile.Bytes(m.weight)},
	}
	return modelfile.Write(w, m.header, append(sections, m.stored...)...)
}

// Load opens the model in f, which must stay open while the model is used. The resources must be those of the training:
// with a missing or different word list the model would silently miss names, so that is an error. Slots are read from
// the file, not from r.
func Load(f *modelfile.File, r features.Resources) (*Model, error) { return load(Kind, f, r, true) }

// LoadKind is Load for another kind of model that tags like a CRF.
func LoadKind(kind string, f *modelfile.File, r features.Resources) (*Model, error) {
	return load(kind, f, r, true)
}

// LoadWeights is Load for a model whose training is to be continued: word lists may differ from those of its training.
func LoadWeights(f *modelfile.File, r features.Resources) (*Model, error) {
	return load(Kind, f, r, false)
}

func load(kind string, f *modelfile.File, r features.Resources, same bool) (*Model, error) {
	m := new(Model)
	if err := f.Header(&m.header); err != nil {
		return nil, err
	}
	if !same {
		delete(m.header.Fingerprints, tagger.ListsPrint)
	}
	if m.header.Kind != kind {
		return nil, fmt.Errorf("model is of kind %q, not %q", m.header.Kind, kind)
	}
	if err := m.sections(f); err != nil {
		return nil, err
	}
	template, err := features.Parse(m.header.Template)
	if err != nil {
		return nil, fmt.Errorf("%w: header: %w", modelfile.ErrDamaged, err)
	}
	r, m.stored, err = m.header.OpenResources(f, template, r)
	if err != nil {
		return nil, err
	}
	if err := m.finish(r); err != nil {
		return nil, fmt.Errorf("%w: header: %w", modelfile.ErrDamaged, err)
	}
	if err := m.check(); err != nil {
		return nil, err
	}
	m.makeIndex()
	return m, nil
}

// sections reads the numbers.
func (m *Model) sections(f *modelfile.File) error {
	m.weights.L = 1 + len(m.header.Categories)*2
	if m.header.Scheme == pipeline.BIOESU.String() {
		m.weights.L = 1 + len(m.header.Categories)*4
	}
	var scores []float32
	err := cmp.Or(
		view(f, "transitions", &scores), view(f, "bucket", &m.bucket), view(f, "key", &m.low),
		view(f, "first", &m.first), view(f, "slot", &m.slot), view(f, "weight", &m.weight),
	)
	if err != nil {
		return err
	}
	L := m.weights.L
	if L > MaxTags || len(scores) != L*(L+2) {
		return damaged("transitions")
	}
	m.weights.Score, m.weights.Start, m.weights.End = scores[:L*L], scores[L*L:L*(L+1)], scores[L*(L+1):]
	return nil
}

func view[T uint16 | uint32 | float32](f *modelfile.File, name string, to *[]T) error {
	data, err := f.Section(name)
	if err != nil {
		return err
	}
	*to, err = modelfile.View[T](data)
	return err
}

func damaged(what string) error {
	return fmt.Errorf("%w: section %q does not fit the others", modelfile.ErrDamaged, what)
}

// check makes sure that no look-up can leave the tables, whatever wrote them.
func (m *Model) check() error {
	buckets := len(m.bucket) - 1
	if buckets < 2 || buckets&(buckets-1) != 0 || !rising(m.bucket, len(m.low)) {
		return damaged("bucket")
	}
	for m.shift = 64; buckets > 1; buckets >>= 1 {
		m.shift--
	}
	if len(m.first) != len(m.low)+1 || !rising(m.first, len(m.slot)) || len(m.slot) != len(m.weight) {
		return damaged("first")
	}
	limit := (m.template.Hi - m.template.Lo + 1) * m.stride
	for i := range m.low {
		slots := m.slot[m.first[i]:m.first[i+1]]
		if !slices.IsSorted(slots) || len(slots) > 0 && int(slots[len(slots)-1]) >= limit {
			return damaged("slot")
		}
	}
	if !modelfile.Finite(m.weight) || !modelfile.Finite(m.weights.Score) {
		return damaged("weight")
	}
	return nil
}

// rising tells whether x goes from 0 to last and never falls.
func rising(x []uint32, last int) bool {
	if len(x) == 0 || x[0] != 0 || int(x[len(x)-1]) != last {
		return false
	}
	return slices.IsSorted(x)
}

// MarshalHeader implements tagger.Model.
func (m *Model) MarshalHeader() ([]byte, error) { return json.MarshalIndent(m.header, "", "  ") }

// Known returns a function for the weights of a feature by row of group g and tag, as initial values of a training. g
// may have another window than in the model. It returns nil if the model has no group with that name.
func (m *Model) Known(g *features.Group, key uint64) func(row, tag int) float32 {
	old := m.groupNamed(g.Name)
	if old == nil {
		return nil
	}
	slots, weights := m.find(key)
	return func(row, tag int) float32 {
		was := row + old.Hi - g.Hi
		if was < 0 || was >= old.Rows() {
			return 0
		}
		return at(slots, weights, was*m.stride+tag)
	}
}

// PathWeight returns the weight of the transition between two tags.
func (m *Model) PathWeight(from, to int) float32 { return m.weights.Score[from*m.weights.L+to] }

// at returns the weight at a slot, 0 if it has none. slots are sorted.
func at(slots []uint16, weights []float32, slot int) float32 {
	if i, ok := slices.BinarySearch(slots, uint16(slot)); ok {
		return weights[i]
	}
	return 0
}

func (m *Model) groupNamed(name string) *features.Group {
	for i := range m.template.Groups {
		if m.template.Groups[i].Name == name {
			return &m.template.Groups[i]
		}
	}
	return nil
}
