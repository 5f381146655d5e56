package bilstmtrain

import (
	"bytes"
	"errors"
	"math"
	"slices"

	"github.com/velum-health/velum/models/tag/bilstm"
	"github.com/velum-health/velum/models/tag/features"
	"github.com/velum-health/velum/pipeline"
)

// Corpus is a set of tagged notes prepared for training: forms and features as numbers. It holds the words of the
// notes, in memory only.
type Corpus struct {
	arch     bilstm.Architecture
	template *features.Template
	set      *pipeline.TagSet
	extract  *features.Extractor

	formOf    map[string]int32
	forms     []formEntry
	disturbed [][len(disturbances)]int32 // of forms that notes have, see addNoise
	first     []int32                    // [tokens+1] of the marks of a token
	marks     []features.Feature         // of places
	form      []int32                    // [tokens]
	tag       []pipeline.Tag             // of sequences, one after the other

	sequences []sequence
	count     map[uint64]int32 // of features, by key

	key    []byte
	pieces []bilstm.Piece
}

// formEntry is a form with the features that it has wherever it stands.
type formEntry struct {
	text     string // with post-space characters, see key
	features []features.Feature
	count    int32
}

// sequence is a run of tokens that the network reads at once: tokens lo to hi.
type sequence struct {
	lo, hi int32
	tag    int32 // first of its tags
	spans  bool  // some tag is not O
}

// NewCorpus returns an empty corpus for networks of architecture a.
func NewCorpus(a bilstm.Architecture, t *features.Template, set *pipeline.TagSet, r features.Resources) (*Corpus, error) {
	if err := a.Check(); err != nil {
		return nil, err
	}
	return &Corpus{
		arch: a, template: t, set: set, extract: features.New(t, r),
		formOf: map[string]int32{}, count: map[uint64]int32{}, first: []int32{0},
	}, nil
}

// Add adds a tagged note. It returns an error if the corpus has more than two thousand million tokens or features.
func (c *Corpus) Add(text []byte, tokens []pipeline.Token, matches []pipeline.Match, tags []pipeline.Tag) error {
	if len(c.form)+len(tokens) > math.MaxInt32/2 || len(c.marks) > math.MaxInt32/2 {
		return errors.New("training corpus too large: more than 2^30 tokens")
	}
	base := int32(len(c.form))
	c.extract.Note(text, tokens, matches)
	for lo := 0; lo < len(tokens); {
		hi := c.template.Next(tokens, lo)
		c.addMarks(c.extract.Marks(lo, hi), hi-lo)
		lo = hi
	}
	for i := range tokens {
		c.form = append(c.form, c.intern(text, tokens, i))
	}
	c.pieces = c.arch.Pieces(c.pieces[:0], c.template, tokens)
	for _, p := range c.pieces {
		s := sequence{lo: base + int32(p.Lo), hi: base + int32(p.Hi), tag: int32(len(c.tag))}
		c.tag = append(c.tag, c.set.Legal(tokens[p.Lo:p.Hi], tags[p.Lo:p.Hi])...)
		s.spans = slices.ContainsFunc(c.tag[s.tag:], func(y pipeline.Tag) bool { return y != pipeline.O })
		c.sequences = append(c.sequences, s)
	}
	return nil
}

// addMarks adds the marks of a sequence of n tokens, token by token. Those of
// its borders say nothing that a network does not see.
func (c *Corpus) addMarks(marks []features.Mark, n int) {
	slices.SortStableFunc(marks, func(a, b features.Mark) int { return int(a.At - b.At) })
	for at := range int32(n) {
		for _, m := range marks {
			if m.At == at {
				c.marks = append(c.marks, m.Feature)
				c.count[m.Key]++
			}
		}
		c.first = append(c.first, int32(len(c.marks)))
	}
}

// intern returns the number of token i's form.
func (c *Corpus) intern(text []byte, tokens []pipeline.Token, i int) int32 {
	form := text[tokens[i].Start:tokens[i].End]
	c.key = c.arch.AppendKey(c.key[:0], text, tokens, i)
	n, known := c.formOf[string(c.key)]
	if !known {
		n = int32(len(c.forms))
		c.formOf[string(c.key)] = n
		c.forms = append(c.forms, formEntry{text: string(c.key), features: slices.Clone(c.extract.Form(form))})
	}
	e := &c.forms[n]
	e.count++
	for _, f := range e.features {
		c.count[f.Key]++
	}
	return n
}

// form returns the form without what stands behind it.
func (e *formEntry) form() []byte {
	form, _, _ := bytes.Cut([]byte(e.text), []byte{bilstm.Separator})
	return form
}

// vocabulary numbers the words, features and characters of the corpus, those
// of the network to begin with first.
func (c *Corpus) vocabulary(minCount int, from *bilstm.Model) *bilstm.Vocabulary {
	v := bilstm.NewVocabulary(c.extract.Resources().Slots["lemma"])
	if from != nil {
		lemma := v.Lemma
		v = from.Vocabulary()
		v.Lemma = lemma
	}
	seen := map[string]int{}
	for i := range c.forms {
		e := &c.forms[i]
		w := string(bilstm.Lower(nil, e.form()))
		if seen[w] += int(e.count); seen[w] >= minCount {
			v.AddWord(w)
		}
		c.addFeatures(v, e.features, minCount)
		for _, r := range e.text {
			v.AddChar(r)
		}
	}
	c.addFeatures(v, c.marks, minCount)
	return v
}

// addFeatures numbers those of the features that come often enough; none where the
// network does not look at them.
func (c *Corpus) addFeatures(v *bilstm.Vocabulary, fs []features.Feature, least int) {
	for _, f := range fs {
		if c.arch.Feature > 0 && int(c.count[f.Key]) >= least {
			v.Features.Add(f.Key)
		}
	}
}
