package crftrain

import (
	"errors"
	"math"

	"github.com/velum-health/velum/models/tag/features"
	"github.com/velum-health/velum/pipeline"
)

// Corpus is a set of tagged sequences prepared for training: forms and marks as numbers. It holds the words of the
// notes, in memory only.
//
// Every token has a row in one long column of rows. Before, between and behind the sequences are margin rows that
// belong to no token, so that a window around a token is always a contiguous run of rows and needs no test for the end
// of a sequence.
type Corpus struct {
	template *features.Template
	set      *pipeline.TagSet
	extract  *features.Extractor
	margin   int

	formOf    map[string]int32
	featureOf map[uint64]int32
	features  []feature

	formStart   []int32 // [forms+1] first of the form's features
	formFeature []int32 // [...]     feature

	sequences []sequence
	form      []int32        // [tokens]
	tag       []pipeline.Tag // [tokens]
	marks     []mark

	rows int // in all, margins included
}

type feature struct {
	key   uint64
	group uint16
}

// sequence is a run of tokens and of marks; both end where the next begins.
type sequence struct {
	token, mark int32
	row         int32 // of the first token
}

// mark is a feature at a place of its sequence.
type mark struct {
	at      int32 // -1 to number of tokens
	feature int32
	value   float32
}

// NewCorpus returns an empty corpus.
func NewCorpus(t *features.Template, set *pipeline.TagSet, r features.Resources) *Corpus {
	c := &Corpus{
		template: t, set: set, extract: features.New(t, r), margin: t.Margin(),
		formOf: map[string]int32{}, featureOf: map[uint64]int32{}, formStart: []int32{0},
	}
	c.rows = c.margin
	return c
}

// Add cuts a tagged note into sequences and adds them. A span over the end of a sequence is cut there. It returns an
// error if the corpus has more than two thousand million tokens or features.
func (c *Corpus) Add(text []byte, tokens []pipeline.Token, matches []pipeline.Match, tags []pipeline.Tag) error {
	if c.rows > math.MaxInt32-len(tokens)*(c.margin+1) || len(c.formFeature) > math.MaxInt32/2 || len(c.marks) > math.MaxInt32/2 {
		return errors.New("training corpus too large: more than 2^31 rows")
	}
	c.extract.Note(text, tokens, matches)
	for lo := 0; lo < len(tokens); {
		hi := c.template.Next(tokens, lo)
		c.add(text, tokens, tags, lo, hi)
		lo = hi
	}
	return nil
}

func (c *Corpus) add(text []byte, tokens []pipeline.Token, tags []pipeline.Tag, lo, hi int) {
	c.sequences = append(c.sequences, sequence{int32(len(c.form)), int32(len(c.marks)), int32(c.rows)})
	c.rows += hi - lo + c.margin
	for _, m := range c.extract.Marks(lo, hi) {
		c.marks = append(c.marks, mark{m.At, c.intern(m.Feature), m.Value})
	}
	for _, t := range tokens[lo:hi] {
		c.form = append(c.form, c.internForm(text[t.Start:t.End]))
	}
	c.tag = append(c.tag, c.set.Legal(tokens[lo:hi], tags[lo:hi])...)
}

func (c *Corpus) intern(f features.Feature) int32 {
	id, known := c.featureOf[f.Key]
	if !known {
		id = int32(len(c.features))
		c.featureOf[f.Key] = id
		c.features = append(c.features, feature{f.Key, f.Group})
	}
	return id
}

func (c *Corpus) internForm(form []byte) int32 {
	if id, known := c.formOf[string(form)]; known {
		return id
	}
	id := int32(len(c.formOf))
	c.formOf[string(form)] = id
	for _, f := range c.extract.Form(form) {
		c.formFeature = append(c.formFeature, c.intern(f))
	}
	c.formStart = append(c.formStart, int32(len(c.formFeature)))
	return id
}

// Sequences returns the number of sequences.
func (c *Corpus) Sequences() int { return len(c.sequences) }

// Tokens returns the number of tokens.
func (c *Corpus) Tokens() int { return len(c.form) }

// Forms returns the number of different forms.
func (c *Corpus) Forms() int { return len(c.formOf) }

// length returns the number of tokens of sequence i, and its marks.
func (c *Corpus) sequence(i int) (s sequence, T int, marks []mark) {
	s = c.sequences[i]
	token, mark := len(c.form), len(c.marks)
	if i+1 < len(c.sequences) {
		token, mark = int(c.sequences[i+1].token), int(c.sequences[i+1].mark)
	}
	return s, token - int(s.token), c.marks[s.mark:mark]
}

// places numbers the rows of the features' blocks: of each feature the place of its first row, and how many there are.
func (c *Corpus) places() (first []int, n int) {
	first = make([]int, len(c.features))
	for f := range c.features {
		first[f] = n
		n += c.group(int32(f)).Rows()
	}
	return first, n
}

// group returns the template's group of a feature.
func (c *Corpus) group(f int32) *features.Group { return &c.template.Groups[c.features[f].group] }

// walk calls its function for every token t of sequence i and each feature in its window, with the row of the feature's
// block and the value. Features of forms come first, each once.
func (c *Corpus) walk(i int, see func(t int, f int32, row int, value float32, marked bool)) {
	s, T, marks := c.sequence(i)
	around := func(f, at int32, value float32, marked bool) {
		g := c.group(f)
		for row := range g.Rows() {
			if t := int(at) - g.Hi + row; t >= 0 && t < T {
				see(t, f, row, value, marked)
			}
		}
	}
	for at, form := range c.form[s.token:][:T] {
		for _, f := range c.formFeature[c.formStart[form]:c.formStart[form+1]] {
			around(f, int32(at), 1, false)
		}
	}
	for _, m := range marks {
		around(m.feature, m.at, m.value, true)
	}
}
