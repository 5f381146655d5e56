package bilstm

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/velum-health/velum/models/tag/bilstm/layers"
	"github.com/velum-health/velum/models/tag/features"
	"github.com/velum-health/velum/pipeline"
)

// Corpus is tagged notes as training wants them: forms and features by number.
// It holds the words of the notes that it was given, in memory only.
type Corpus struct {
	arch     Architecture
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
	pieces []piece
	spans  []pipeline.Span
	tags   []pipeline.Tag
}

// formEntry is a form with the features that it has wherever it stands.
type formEntry struct {
	text     string // with post-space characters, see key
	features []features.Feature
	count    int32
}

// sequence is what the network reads at once: tokens lo to hi.
type sequence struct {
	lo, hi int32
	tag    int32 // first of its tags
	spans  bool  // some tag is not O
}

// NewCorpus returns an empty corpus for networks of that shape.
func NewCorpus(a Architecture, t *features.Template, set *pipeline.TagSet, r features.Resources) (*Corpus, error) {
	if err := a.check(); err != nil {
		return nil, err
	}
	return &Corpus{
		arch: a, template: t, set: set, extract: features.New(t, r),
		formOf: map[string]int32{}, count: map[uint64]int32{}, first: []int32{0},
	}, nil
}

// Add keeps what is needed of a tagged note. It fails when the corpus has two
// thousand million tokens or features.
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
	c.pieces = c.arch.pieces(c.pieces[:0], c.template, tokens)
	for _, p := range c.pieces {
		s := sequence{lo: base + int32(p.lo), hi: base + int32(p.hi), tag: int32(len(c.tag))}
		c.tag = append(c.tag, c.legal(tokens[p.lo:p.hi], tags[p.lo:p.hi])...)
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

// legal returns the tags as a sequence of its own would have them: no span
// begins before it or ends behind it.
func (c *Corpus) legal(tokens []pipeline.Token, tags []pipeline.Tag) []pipeline.Tag {
	c.spans = c.set.Decode(c.spans[:0], tokens, tags)
	c.tags = layers.Grow(c.tags, len(tags))
	c.set.Encode(c.tags, tokens, c.spans)
	return c.tags
}

// intern returns the number of token i's form.
func (c *Corpus) intern(text []byte, tokens []pipeline.Token, i int) int32 {
	form := text[tokens[i].Start:tokens[i].End]
	c.key = key(c.key[:0], form, c.arch.behind(text, tokens, i))
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

// behind returns what stands between token i and the next, nil if the network
// does not look at it.
func (a Architecture) behind(text []byte, tokens []pipeline.Token, i int) []byte {
	if !a.PostSpace {
		return nil
	}
	end := len(text)
	if i+1 < len(tokens) {
		end = int(tokens[i+1].Start)
	}
	return text[tokens[i].End:end:end]
}

// form returns the form without what stands behind it.
func (e *formEntry) form() []byte {
	form, _, _ := bytes.Cut([]byte(e.text), []byte{separator})
	return form
}

// spansByCategory returns the number of spans, and of tokens in them.
func (c *Corpus) spansByCategory() (spans, tokens map[string]int) {
	spans, tokens = map[string]int{}, map[string]int{}
	for _, y := range c.tag {
		if y == pipeline.O {
			continue
		}
		name := c.set.Category(y).String()
		tokens[name]++
		if c.set.Starts(y) {
			spans[name]++
		}
	}
	return spans, tokens
}

// vocabulary numbers the words, features and characters of the corpus, those
// of the network to begin with first.
func (c *Corpus) vocabulary(minCount int, from *Model) *vocabulary {
	v := &vocabulary{words: map[string]int32{}, chars: map[rune]int32{}, lemma: c.extract.Resources().Slots["lemma"]}
	if from != nil {
		v.number(from.words, from.features, from.chars)
	}
	seen := map[string]int{}
	for i := range c.forms {
		e := &c.forms[i]
		w := string(lower(nil, e.form()))
		if seen[w] += int(e.count); seen[w] >= minCount && v.words[w] == 0 {
			v.words[w] = int32(len(v.words)) + 1
		}
		for _, f := range e.features {
			v.add(f.Key, c.count, minCount)
		}
		for _, r := range e.text {
			if _, ok := v.chars[r]; !ok && r != utf8.RuneError {
				v.chars[r] = int32(len(v.chars)) + layers.Border + 1
			}
		}
	}
	for _, m := range c.marks {
		v.add(m.Key, c.count, minCount)
	}
	if c.arch.Feature == 0 {
		v.features.reset() // nobody looks
	}
	return v
}

func (v *vocabulary) add(key uint64, count map[uint64]int32, least int) {
	if int(count[key]) >= least {
		v.features.add(key, int32(v.features.len())+1)
	}
}

// number takes over what the lists say; their first entries stand for what has
// no name.
func (v *vocabulary) number(words []string, fs []uint64, chars []rune) {
	for i, w := range words[1:] {
		v.words[w] = int32(i) + 1
	}
	v.features.room(len(fs))
	for i, k := range fs[1:] {
		v.features.add(k, int32(i)+1)
	}
	for i, r := range chars[layers.Border+1:] {
		v.chars[r] = int32(i) + layers.Border + 1
	}
}

// lists is the inverse of number.
func (v *vocabulary) lists() (words []string, fs []uint64, chars []rune) {
	words, fs, chars = make([]string, len(v.words)+1), make([]uint64, v.features.len()+1), make([]rune, len(v.chars)+layers.Border+1)
	for w, i := range v.words {
		words[i] = w
	}
	for _, s := range v.features.slots {
		if s.row != 0 {
			fs[s.row] = s.key
		}
	}
	for r, i := range v.chars {
		chars[i] = r
	}
	return words, fs, chars
}
