package bilstm

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/velum-health/velum/models/tag/features"
	"github.com/velum-health/velum/pipeline"
)

// packed is where the tokens of some sequences stand when the sequences are
// read side by side: those of one step are rows that follow each other, the
// longest sequence first, so that no row is padding. Token t of the k-th
// longest sequence is row start[t]+k.
type packed struct {
	start []int32 // [steps+1]
	order []int32 // the sequences by falling length
}

func (p *packed) steps() int { return len(p.start) - 1 }
func (p *packed) rows() int  { return int(p.start[len(p.start)-1]) }

// step returns the rows of a step.
func (p *packed) step(t int) (lo, n int) { return int(p.start[t]), int(p.start[t+1] - p.start[t]) }

// pack places sequences of these lengths, none of them 0.
func (p *packed) pack(lengths []int32) {
	p.order = grow(p.order, len(lengths))
	for i := range p.order {
		p.order[i] = int32(i)
	}
	slices.SortStableFunc(p.order, func(a, b int32) int { return int(lengths[b] - lengths[a]) })
	p.start = append(p.start[:0], 0)
	active := len(lengths)
	for t := int32(0); ; t++ {
		for active > 0 && lengths[p.order[active-1]] <= t {
			active--
		}
		if active == 0 {
			return
		}
		p.start = append(p.start, p.start[t]+int32(active))
	}
}

// batch is what a network works on: tokens in packed rows. Lists of rows of
// tables come as one run of numbers and where each list ends.
type batch struct {
	packed
	n        int     // tokens
	word     []int32 // [n] row of the table of words
	form     []int32 // [n] number of its characters below
	chars    []int32 // of the forms, one after the other
	charEnd  []int32 // [forms]
	features []valued
	ends     []int32 // [n] of the features of a token
	tags     []pipeline.Tag
	length   []int32   // [sequences]
	weight   []float32 // [sequences]
	scale    float32   // of the loss: 1 / weight of all sequences of the step

	masks *masks // nil: nothing is dropped
}

// lists are rows of tables that a batch uses, each once.
type lists struct {
	rows []int32
	at   []int32 // of each row of the table, its place in rows; -1
}

func (l *lists) reset(n int) {
	for _, r := range l.rows {
		l.at[r] = -1
	}
	l.rows = l.rows[:0]
	for len(l.at) < n {
		l.at = append(l.at, -1)
	}
}

func (l *lists) add(row int32) int32 {
	if l.at[row] < 0 {
		l.at[row] = int32(len(l.rows))
		l.rows = append(l.rows, row)
	}
	return l.at[row]
}

// feed fills batches from a corpus.
type feed struct {
	c       *Corpus
	v       *vocabulary
	r       *Recipe
	records []record // of the forms of the corpus
	names   []bool   // of the template's groups: says which word it is
	forms   lists    // of a batch
}

func newFeed(c *Corpus, v *vocabulary, r *Recipe) *feed {
	f := &feed{c: c, v: v, r: r, records: make([]record, len(c.forms))}
	for _, g := range c.template.Groups {
		base, _, _ := strings.Cut(g.Name, "/")
		f.names = append(f.names, slices.Contains(identities, base))
	}
	for i := range c.forms {
		e := &c.forms[i]
		f.records[i] = record{
			word:  v.word(e.form()),
			chars: v.appendChars(nil, []byte(e.text)), features: v.appendFeatures(nil, e.features),
		}
		if r.Blind > 0 {
			f.records[i].blind = f.appendBlind(nil, e.features)
		}
	}
	return f
}

// identities are the groups of a template that say which word a token is, or in
// which list it stands: a network that always sees them learns names by heart.
var identities = []string{"word", "lower", "folded", "digits", "gazetteer", "phrase", "cluster", "pos", "lemma"}

// appendBlind appends the features with vectors that do not name the word.
func (f *feed) appendBlind(dst []valued, fs []features.Feature) []valued {
	for _, x := range fs {
		if !f.names[x.Group] {
			dst = f.v.appendFeatures(dst, []features.Feature{x})
		}
	}
	return dst
}

// fill puts sequences into b. With rng words are hidden as the recipe says.
func (f *feed) fill(b *batch, sequences []sequence, rng *rand.Rand) {
	b.length, b.weight = grow(b.length, len(sequences)), b.weight[:0]
	for i, s := range sequences {
		b.length[i] = s.hi - s.lo
	}
	b.pack(b.length)
	for _, k := range b.order {
		b.weight = append(b.weight, sequences[k].weight)
	}
	for i, k := range b.order {
		b.length[i] = sequences[k].hi - sequences[k].lo
	}
	b.n = b.rows()
	b.word, b.form, b.ends, b.tags = grow(b.word, b.n), grow(b.form, b.n), grow(b.ends, b.n), grow(b.tags, b.n)
	b.features, b.chars, b.charEnd = b.features[:0], b.chars[:0], b.charEnd[:0]
	f.forms.reset(len(f.records))
	for t := range b.steps() {
		lo, n := b.step(t)
		for k := range n {
			s := sequences[b.order[k]]
			f.token(b, lo+k, s.lo+int32(t), rng)
			b.tags[lo+k] = f.c.tag[s.tag+int32(t)]
		}
	}
	for _, form := range f.forms.rows {
		b.chars = append(b.chars, f.records[form].chars...)
		b.charEnd = append(b.charEnd, int32(len(b.chars)))
	}
}

// token fills a row.
func (f *feed) token(b *batch, row int, token int32, rng *rand.Rand) {
	form := f.c.form[token]
	r := &f.records[form]
	b.word[row], b.form[row] = r.word, f.forms.add(form)
	marks := f.c.marks[f.c.first[token]:f.c.first[token+1]]
	if rng != nil && f.r.Blind > 0 && rng.Float64() < f.r.Blind {
		b.word[row] = unknown
		b.features = f.appendBlind(append(b.features, r.blind...), marks)
		b.ends[row] = int32(len(b.features))
		return
	}
	if rng != nil && rng.Float64() < f.hidden(form) {
		b.word[row] = unknown
	}
	b.features = append(b.features, r.features...)
	b.features = f.v.appendFeatures(b.features, marks)
	b.ends[row] = int32(len(b.features))
}

// hidden returns how often the word of a form is hidden. Words seen once are
// hidden more often: so the vector of unknown words is learned from the kind
// of word that will be unknown.
func (f *feed) hidden(form int32) float64 {
	if f.c.forms[form].count == 1 {
		return f.r.Rare
	}
	return f.r.Word
}

// masks are the numbers that dropout multiplies by: 0, or what makes up for
// the zeros.
type masks struct {
	input  []float32   // [n][input]
	locked []float32   // [sequences][input]
	output [][]float32 // [layers][sequences][2·units]
}

// draw draws the masks of a batch.
func (m *masks) draw(b *batch, a Architecture, r *Recipe, rng *rand.Rand) {
	m.input = drawMask(m.input, b.n*a.input(), r.Input, rng)
	m.locked = drawMask(m.locked, len(b.order)*a.input(), r.Locked, rng)
	if m.output == nil {
		m.output = make([][]float32, a.Layers)
	}
	for l := range m.output {
		m.output[l] = drawMask(m.output[l], len(b.order)*2*a.Units, r.Output, rng)
	}
}

// drawMask draws n numbers of a mask, four of one random number.
func drawMask(mask []float32, n int, p float64, rng *rand.Rand) []float32 {
	mask = grow(mask, n)
	keep, least := math.Float32bits(float32(1/(1-p))), int32(p*(1<<16))
	bits := uint64(0)
	for i := range mask {
		if i%4 == 0 {
			bits = rng.Uint64()
		}
		dropped := uint32((int32(bits&(1<<16-1)) - least) >> 31) // all ones or zeros: a branch would be guessed wrong once in five
		mask[i] = math.Float32frombits(keep &^ dropped)
		bits >>= 16
	}
	return mask
}
