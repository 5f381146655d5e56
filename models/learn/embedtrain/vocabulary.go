package embedtrain

import (
	"cmp"
	"slices"

	"github.com/velum-health/velum/models/word/embed"
	"github.com/velum-health/velum/pipeline"
)

// Vocabulary lists the forms that have vectors, by falling count. The number of a word is its position.
type Vocabulary struct {
	Normalization embed.Normalization
	Words         []embed.Word
	Tokens        uint64 // occurrences of all words together
	index         map[string]int32
}

// Counter counts forms. It holds at most limit forms: if there are more, the least frequent ones are dropped, first
// those seen once, then twice and so on, as in word2vec. Forms above a sensible cut-off are not affected.
type Counter struct {
	norm     embed.Normalization
	patients int // distinct patients that are told apart
	limit    int
	forms    map[string]*tally
	notes    uint32
	forgot   uint64 // count up to which forms have been forgotten
	buffer   []byte

	Tokens uint64 // all tokens seen
}

type tally struct {
	count    uint64
	notes    uint32
	last     uint32   // number of the last note that it was in
	patients []uint64 // hashes, as many as the cut-off needs
}

// NewCounter returns a counter of forms normalized by norm. It distinguishes up to patients patients per form (0: it
// ignores them), and holds at most limit forms (0: four million, some 500 MB).
func NewCounter(norm embed.Normalization, patients, limit int) *Counter {
	return &Counter{norm: norm, patients: patients, limit: cmp.Or(limit, 4_000_000), forms: map[string]*tally{}}
}

// Note counts the tokens of one note. patient is any number that identifies the patient; it is ignored if no cut-off
// needs it.
func (c *Counter) Note(text []byte, tokens []pipeline.Token, patient uint64) {
	c.notes++
	c.Tokens += uint64(len(tokens))
	for _, t := range tokens {
		if t.End-t.Start > embed.MaxForm {
			continue
		}
		c.buffer = c.norm.Append(c.buffer[:0], text[t.Start:t.End])
		n := c.forms[string(c.buffer)]
		if n == nil {
			n = new(tally)
			c.forms[string(c.buffer)] = n
		}
		n.count++
		if n.last != c.notes {
			n.last = c.notes
			n.notes++
			if len(n.patients) < c.patients && !slices.Contains(n.patients, patient) {
				n.patients = append(n.patients, patient)
			}
		}
	}
	for len(c.forms) > c.limit {
		c.forgot++
		for form, n := range c.forms {
			if n.count <= c.forgot {
				delete(c.forms, form)
			}
		}
	}
}

// Forgot returns the highest count at which forms were dropped to save memory; 0 if none were. With a cut-off above it
// the vocabulary is exact, except for forms that were rare in the beginning.
func (c *Counter) Forgot() uint64 { return c.forgot }

// Vocabulary returns the forms that reach the cut-off.
func (c *Counter) Vocabulary(cut embed.CutOff) *Vocabulary {
	v := &Vocabulary{Normalization: c.norm, index: map[string]int32{}}
	for form, n := range c.forms {
		if n.count >= cut.Count && int(n.notes) >= cut.Notes && len(n.patients) >= min(cut.Patients, c.patients) {
			v.Words = append(v.Words, embed.Word{Form: form, Count: n.count, Notes: n.notes})
		}
	}
	slices.SortFunc(v.Words, func(a, b embed.Word) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Form, b.Form))
	})
	for i, w := range v.Words {
		v.index[w.Form] = int32(i)
		v.Tokens += w.Count
	}
	return v
}

// Break separates two notes in a round.
const Break = -1

// Encoder turns notes into rounds of word numbers, with a Break after every note, and passes each full round to Do.
// Unknown forms are left out, as in word2vec.
//
// It keeps the rounds while they need at most Keep bytes, so that later epochs of a small archive need not read it
// again. They are kept in memory only, because word numbers with their vocabulary reveal the text.
type Encoder struct {
	Vocabulary *Vocabulary
	Size       int // word numbers a round
	Keep       int // bytes
	Do         func(round []int32) error

	round  []int32
	kept   [][]int32
	bytes  int
	over   bool
	buffer []byte
}

// Note adds one note.
func (e *Encoder) Note(text []byte, tokens []pipeline.Token) error {
	for _, t := range tokens {
		if t.End-t.Start > embed.MaxForm {
			continue
		}
		e.buffer = e.Vocabulary.Normalization.Append(e.buffer[:0], text[t.Start:t.End])
		n, ok := e.Vocabulary.index[string(e.buffer)]
		if !ok {
			continue
		}
		e.round = append(e.round, n)
		if len(e.round) >= e.Size {
			if err := e.flush(); err != nil {
				return err
			}
		}
	}
	e.round = append(e.round, Break)
	return nil
}

// End passes the last, incomplete round to Do.
func (e *Encoder) End() error {
	if len(e.round) == 0 {
		return nil
	}
	return e.flush()
}

func (e *Encoder) flush() error {
	if e.bytes += 4 * len(e.round); e.bytes > e.Keep {
		e.over, e.kept = true, nil
	}
	if !e.over {
		e.kept = append(e.kept, slices.Clone(e.round))
	}
	err := e.Do(e.round)
	e.round = e.round[:0]
	return err
}

// Kept returns all rounds if they could be kept.
func (e *Encoder) Kept() ([][]int32, bool) { return e.kept, !e.over }
