package bilstmtrain

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/velum-health/velum/models/learn/bilstmtrain/layers"
	"github.com/velum-health/velum/models/number/kernels"
	"github.com/velum-health/velum/models/tag/bilstm"
	"github.com/velum-health/velum/models/tag/features"
)

// feed fills batches from a corpus.
type feed struct {
	c       *Corpus
	v       *bilstm.Vocabulary
	r       *bilstm.Recipe
	records []record     // of the forms of the corpus
	names   []bool       // of the template's groups: says which word it is
	forms   layers.Lists // of a batch
}

// record holds a form as training needs it.
type record struct {
	word     int32
	chars    []int32
	features []bilstm.Valued
	blind    []bilstm.Valued // those that are left of a blind token, see Recipe.Blind
}

func newFeed(c *Corpus, v *bilstm.Vocabulary, r *bilstm.Recipe) *feed {
	f := &feed{c: c, v: v, r: r, records: make([]record, len(c.forms))}
	for _, g := range c.template.Groups {
		base, _, _ := strings.Cut(g.Name, "/")
		f.names = append(f.names, slices.Contains(identities, base))
	}
	for i := range c.forms {
		e := &c.forms[i]
		f.records[i] = record{
			word:  v.Word(e.form()),
			chars: v.AppendChars(nil, []byte(e.text)), features: v.AppendFeatures(nil, e.features),
		}
		if r.Blind > 0 {
			f.records[i].blind = f.appendBlind(nil, e.features)
		}
	}
	return f
}

// identities lists the template groups that identify a word or its lists: a network that always sees them would
// memorize names.
var identities = []string{"word", "lower", "folded", "digits", "gazetteer", "listcode", "phrase", "cluster", "pos", "lemma"}

// appendBlind appends the features with vectors that do not name the word.
func (f *feed) appendBlind(dst []bilstm.Valued, fs []features.Feature) []bilstm.Valued {
	for _, x := range fs {
		if !f.names[x.Group] {
			dst = f.v.AppendFeatures(dst, []features.Feature{x})
		}
	}
	return dst
}

// fill puts sequences into b. With rng words are hidden as the recipe says.
func (f *feed) fill(b *layers.Batch, sequences []sequence, rng *rand.Rand) {
	b.Length = kernels.Grow(b.Length, len(sequences))
	for i, s := range sequences {
		b.Length[i] = s.hi - s.lo
	}
	b.Pack(b.Length)
	for i, k := range b.Order {
		b.Length[i] = sequences[k].hi - sequences[k].lo
	}
	b.N = b.Rows()
	b.Word, b.Form, b.Ends, b.Tags = kernels.Grow(b.Word, b.N), kernels.Grow(b.Form, b.N), kernels.Grow(b.Ends, b.N), kernels.Grow(b.Tags, b.N)
	b.Features, b.Chars, b.CharEnd = b.Features[:0], b.Chars[:0], b.CharEnd[:0]
	f.forms.Reset(len(f.records))
	for t := range b.Steps() {
		lo, n := b.Step(t)
		for k := range n {
			s := sequences[b.Order[k]]
			f.token(b, lo+k, s.lo+int32(t), rng)
			b.Tags[lo+k] = f.c.tag[s.tag+int32(t)]
		}
	}
	for _, form := range f.forms.Rows {
		b.Chars = append(b.Chars, f.records[form].chars...)
		b.CharEnd = append(b.CharEnd, int32(len(b.Chars)))
	}
}

// token fills a row.
func (f *feed) token(b *layers.Batch, row int, token int32, rng *rand.Rand) {
	form := f.c.form[token]
	r := &f.records[form]
	b.Word[row], b.Form[row] = r.word, f.forms.Add(form)
	marks := f.c.marks[f.c.first[token]:f.c.first[token+1]]
	if rng != nil && f.r.Blind > 0 && rng.Float64() < f.r.Blind {
		b.Word[row] = bilstm.Unknown
		b.Features = f.appendBlind(append(b.Features, r.blind...), marks)
		b.Ends[row] = int32(len(b.Features))
		return
	}
	if rng != nil && rng.Float64() < f.hidden(form) {
		b.Word[row] = bilstm.Unknown
	}
	b.Features = append(b.Features, r.features...)
	b.Features = f.v.AppendFeatures(b.Features, marks)
	b.Ends[row] = int32(len(b.Features))
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

// drawMasks draws the masks of a batch.
func drawMasks(m *layers.Masks, b *layers.Batch, a bilstm.Architecture, r *bilstm.Recipe, rng *rand.Rand) {
	m.Input = drawMask(m.Input, b.N*a.Input(), r.Input, rng)
	m.Locked = drawMask(m.Locked, len(b.Order)*a.Input(), r.Locked, rng)
	if m.Output == nil {
		m.Output = make([][]float32, a.Layers)
	}
	for l := range m.Output {
		m.Output[l] = drawMask(m.Output[l], len(b.Order)*2*a.Units, r.Output, rng)
	}
}

// drawMask draws n numbers of a mask, four of one random number.
func drawMask(mask []float32, n int, p float64, rng *rand.Rand) []float32 {
	mask = kernels.Grow(mask, n)
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
