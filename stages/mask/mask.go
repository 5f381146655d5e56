// Package mask writes the masked text of every note. It reads Text and Spans, and the ID, Extra and Language that
// operators may use. It fills Masked and Places, and sets a Reason for notes with invalid spans.
//
// The masked text is built from empty: text outside of spans is copied byte for byte, and each span is written by an
// [Operator]. Editing a copy in place was ruled out, because there an omission leaves text readable, while here it
// leaves a gap. Places records where each replacement is, so that stages/verify knows what was written on purpose.
//
// The policy maps each category to a [Chain] of operators. A value that the first operator cannot replace (such as an
// unreadable date) goes to the next one, and finally to the placeholder. A category without an entry in the policy gets
// the default chain, which is the placeholder unless configured: an omission in a configuration hides a value and never
// shows one.
package mask

import (
	"errors"
	"fmt"
	"sync"
	"unicode/utf8"

	"github.com/velum-health/velum/models/form/surrogate"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/guard"
	"github.com/velum-health/velum/pipeline/secret"
)

// Options holds the options of the stage. The zero value writes placeholders.
type Options struct {
	Policy  map[pipeline.Category]*Chain
	Default *Chain // for categories without an entry; nil means the placeholder

	Key     *secret.Key // for operators that need one
	Purpose string      // purpose of the extract: replacements differ between purposes

	PatientColumn, DateColumn string       // names of columns of Batch.Extra; "": none
	Times                     []TimeColumn // columns that are written and move with the dates of their note

	Range *Range // range of dates of the archive, whose edges are trimmed; nil: unknown

	Dealt Dealt // values of other notes, for categories that are shuffled; nil: none

	Names *surrogate.Names // names that surrogates are drawn from; nil: velum's own

	Lift []pipeline.Category // categories whose values go into columns (Batch.Lifted) and leave a placeholder in the text

	Counts  *Counts // may be nil
	Workers int     // 0 means 1
}

// TimeColumn is a column of Batch.Extra with dates or timestamps that is written to the output.
type TimeColumn struct {
	Name string
	Day  int64 // a day in its unit
}

// ErrNoKey says that the policy has an operator that needs a key.
var ErrNoKey = errors.New("the policy has an operator that needs a key")

// New returns the stage. A note with a Reason, set before or here, gets an empty masked text and no places. The error
// is ErrNoKey.
func New(o Options) (pipeline.Step, error) {
	if _, err := NewMasker(o); err != nil {
		return pipeline.Step{}, err
	}
	return pipeline.Step{Name: "mask", Workers: o.Workers, New: func() func(*pipeline.Batch) error {
		m, err := NewMasker(o)
		return func(b *pipeline.Batch) error { return errors.Join(err, m.do(b)) }
	}}, nil
}

// Masker masks single notes. It has scratch space, so each worker needs its own.
type Masker struct {
	o         Options
	operators [][]Operator // by category: its chain
	beginners []beginner
	mover     *shift  // moves the columns of dates; nil: they stay
	counts    []int64 // by category and position in its chain, the placeholder last
	note      Note
	lift      []int            // by category: which of o.Lift it is, from 1
	lifted    [][]byte         // by category that is lifted: what stands for its first value in the current note
	patient   *pipeline.Column // of the current batch; nil: none
	date      *pipeline.Column
}

// maxChain is the length of the longest chain.
const maxChain = 7

// NewMasker returns a Masker for the policy of o. The error is ErrNoKey.
func NewMasker(o Options) (*Masker, error) {
	m := &Masker{o: o, operators: make([][]Operator, pipeline.Categories()), counts: make([]int64, (maxChain+1)*pipeline.Categories())}
	made := map[*Chain][]Operator{} // one operator serves all categories of a chain
	for c := range m.operators {
		chain := o.chain(pipeline.Category(c))
		if chain == nil {
			continue
		}
		if chain.keyed && o.Key == nil {
			return nil, fmt.Errorf("%w: %s", ErrNoKey, chain.text)
		}
		if _, ok := made[chain]; !ok {
			made[chain] = chain.make(&o)
			m.begin(made[chain])
		}
		m.operators[c] = made[chain]
	}
	m.lift, m.lifted = make([]int, pipeline.Categories()), make([][]byte, len(o.Lift))
	for i, c := range o.Lift {
		m.lift[c] = i + 1
	}
	if o.Key != nil {
		m.note.stream = newStream(o.Key.Derive("mask " + o.Purpose))
	}
	return m, nil
}

func (m *Masker) begin(operators []Operator) {
	for _, op := range operators {
		if b, ok := op.(beginner); ok {
			m.beginners = append(m.beginners, b)
		}
		if s, ok := op.(*shift); ok && m.mover == nil {
			m.mover = s
		}
	}
}

func (o *Options) chain(c pipeline.Category) *Chain {
	if chain := o.Policy[c]; chain != nil {
		return chain
	}
	if c == pipeline.None {
		return nil
	}
	return o.Default
}

var errNoSpans = errors.New("a batch without the spans of its notes: resolve has to come before mask")

func (m *Masker) do(b *pipeline.Batch) error {
	if b.Spans.Len() != b.Len() {
		return errNoSpans
	}
	m.columns(b)
	if len(b.Lifted) != len(m.lifted) {
		b.Lifted = make([]pipeline.Bytes, len(m.lifted))
	}
	for i := range b.Len() {
		for k := range m.lifted {
			m.lifted[k] = m.lifted[k][:0]
		}
		if b.Reason[i] == pipeline.Sound {
			m.one(b, i)
		}
		b.Masked.End()
		b.Places.End()
		for k := range m.lifted {
			b.Lifted[k].Append(m.lifted[k])
		}
	}
	m.moveColumns(b)
	m.o.Counts.add(m)
	return nil
}

// moveColumns moves the dates beside the notes as those within: a column that
// stays would tell by how much.
func (m *Masker) moveColumns(b *pipeline.Batch) {
	if m.mover == nil {
		return
	}
	for _, t := range m.o.Times {
		for k := range b.Extra {
			c := &b.Extra[k]
			if c.Name != t.Name || c.Type == "" {
				continue
			}
			for i := range b.Len() {
				if !c.Valid[i] {
					continue
				}
				m.read(b, i)
				by := int64(m.mover.of(&m.note)) * t.Day
				if c.Kind == pipeline.Int32Column {
					c.Fixed[i] = uint64(uint32(int32(c.Fixed[i]) + int32(by)))
				} else {
					c.Fixed[i] += uint64(by)
				}
			}
		}
	}
}

// one appends the masked text of note i to b.Masked.Data. If the spans
// overlap or leave the text, or an operator panics, the note is quarantined
// and nothing is appended.
func (m *Masker) one(b *pipeline.Batch, i int) {
	text, spans := b.Text.At(i), b.Spans.At(i)
	if len(spans) == 0 && m.mover == nil {
		b.Masked.Data = append(b.Masked.Data, text...)
		return
	}
	m.read(b, i)
	if m.mover != nil && m.atEdge() {
		b.Quarantine(i, pipeline.RangeEdge)
		return
	}
	masked, places := len(b.Masked.Data), len(b.Places.Items)
	sound := false
	guard.Note(func() { b.Masked.Data, b.Places.Items, sound = m.Mask(b.Masked.Data, b.Places.Items, &m.note) })
	if !sound {
		b.Masked.Data, b.Places.Items = b.Masked.Data[:masked], b.Places.Items[:places]
		b.Quarantine(i, pipeline.Panicked)
	}
}

// Mask appends the masked text of n to dst, and to places where the
// replacement of each span lies in it: the spans of the masked text, in the
// same order, with category, score and source of the old ones. A suppressed
// value has an empty place. Mask returns false, and dst and places as they
// were, if the spans are not sorted, disjoint, non-empty and inside the text,
// or cut a character.
func (m *Masker) Mask(dst []byte, places []pipeline.Span, n *Note) (masked []byte, placed []pipeline.Span, ok bool) {
	if !fit(n.Text, n.Spans) {
		return dst, places, false
	}
	n.stream = m.note.stream
	for _, b := range m.beginners {
		b.begin(n)
	}
	first, at := len(dst), int32(0)
	for k, s := range n.Spans {
		dst = append(dst, n.Text[at:s.Start]...)
		place := s
		place.Start = int32(len(dst) - first)
		dst = m.replace(dst, n, k)
		place.End = int32(len(dst) - first)
		places = append(places, place)
		at = s.End
	}
	return append(dst, n.Text[at:]...), places, true
}

// replace appends what stands for span k of the note: what the first operator
// of the chain writes that can.
func (m *Masker) replace(dst []byte, n *Note, k int) []byte {
	s := n.Spans[k]
	v := Value{Words: n.Text[s.Start:s.End:s.End], Category: s.Category, Span: k}
	if int(s.Category) >= len(m.operators) {
		return appendPlaceholder(dst, s.Category)
	}
	if k := m.lift[s.Category]; k > 0 {
		if len(m.lifted[k-1]) == 0 {
			m.lifted[k-1] = m.chain(m.lifted[k-1], n, v)
		}
		return appendPlaceholder(dst, s.Category)
	}
	return m.chain(dst, n, v)
}

// chain appends what the operators of a value's category make of it.
func (m *Masker) chain(dst []byte, n *Note, v Value) []byte {
	s := &n.Spans[v.Span]
	chain := m.operators[s.Category]
	before := len(dst)
	for i, op := range chain {
		out, ok := op.Replace(dst, n, v)
		if ok {
			m.counts[int(s.Category)*(maxChain+1)+i]++
			return out
		}
		dst = out[:before]
	}
	m.counts[int(s.Category)*(maxChain+1)+len(chain)]++
	return appendPlaceholder(dst, s.Category)
}

// fit tells whether the spans can be masked in the text.
func fit(text []byte, spans []pipeline.Span) bool {
	at := int32(0)
	for _, s := range spans {
		if s.Start < at || s.End <= s.Start || int(s.End) > len(text) {
			return false
		}
		if !utf8.RuneStart(text[s.Start]) || int(s.End) < len(text) && !utf8.RuneStart(text[s.End]) {
			return false
		}
		at = s.End
	}
	return true
}

// Counts counts how often each operator replaced a value of each category.
type Counts struct {
	mu sync.Mutex
	by map[Use]int64
}

// Use is an operator applied to a category.
type Use struct {
	Category pipeline.Category
	Operator string // name of the operator; "placeholder" also when no operator of the chain could replace the value
	Fallback bool   // an earlier operator of the chain could not replace the value
}

// Take returns the counts so far and sets them to zero.
func (c *Counts) Take() map[Use]int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	by := c.by
	c.by = nil
	return by
}

// add takes over the counts of a worker's batch.
func (c *Counts) add(m *Masker) {
	defer clear(m.counts)
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for k, n := range m.counts {
		if n == 0 {
			continue
		}
		category, at := pipeline.Category(k/(maxChain+1)), k%(maxChain+1)
		if c.by == nil {
			c.by = map[Use]int64{}
		}
		c.by[Use{category, m.o.chain(category).name(at), at > 0}] += n
	}
}
