package mask

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"

	"github.com/velum-health/velum/models/form/surrogate"
	"github.com/velum-health/velum/models/release/shuffle"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/secret"
)

// newShuffle returns the operator that writes a value of the same category from
// another note of the archive (models/release/shuffle), a hospital for a hospital and
// a street for a street: what is written is real, and not of this note. Numbers and addresses that belong to one person wherever they
// stand are left to the next operator.
func newShuffle(s *settings) func(*Options) Operator {
	s.likes, s.shuffles = true, true
	return func(o *Options) Operator { return &shuffled{dealt: o.Dealt, cards: newHand(o)} }
}

// Dealt returns the value assigned to a card of a note, by the row of the note in its file and the card's number as
// counted by the Collector.
type Dealt interface {
	Other(dst []byte, row int64, card int) (out []byte, ok bool, err error)
}

type shuffled struct {
	dealt Dealt
	cards hand
}

func (o *shuffled) begin(n *Note) { o.cards.read(n.Text, n.Spans) }

// Replace implements Operator. If the table of assigned values cannot be read, it panics and the note goes to
// quarantine; with a placeholder instead, the bytes of an extract would depend on disk errors.
func (o *shuffled) Replace(dst []byte, n *Note, v Value) ([]byte, bool) {
	card := o.cards.of[v.Span]
	if card < 0 || o.dealt == nil {
		return dst, false
	}
	out, ok, err := o.dealt.Other(dst, n.Row, int(card))
	if err != nil {
		panic(err)
	}
	return out, ok
}

// A hand holds the values of a note that are exchanged for those of other notes (its cards): each different value of a
// shuffled category once, in order of first occurrence.
type hand struct {
	shuffles []bool  // by category
	of       []int32 // by span: its card, -1 for none
	values   []shuffle.Value
	words    []byte
	ends     []int32          // of the words of each value
	places   surrogate.Writer // tells kinds of places
}

func newHand(o *Options) hand {
	h := hand{shuffles: make([]bool, pipeline.Categories())}
	for _, c := range o.Shuffled() {
		h.shuffles[c] = true
	}
	return h
}

// Shuffled returns the categories whose values are shuffled among the notes.
func (o *Options) Shuffled() (all []pipeline.Category) {
	for i := range pipeline.Categories() {
		c := pipeline.Category(i)
		chain := o.chain(c)
		if k := c.Kind(); chain != nil && chain.shuffles && c != pipeline.None && k != pipeline.IDKind && k != pipeline.ContactKind {
			all = append(all, c)
		}
	}
	return all
}

// read takes the values of a note in.
func (h *hand) read(text []byte, spans []pipeline.Span) {
	h.of, h.values, h.words, h.ends = h.of[:0], h.values[:0], h.words[:0], h.ends[:0]
	for _, s := range spans {
		start := len(h.words)
		h.words = appendWords(h.words, text[s.Start:s.End])
		h.ends = append(h.ends, int32(start), int32(len(h.words)))
	}
	cards := int32(0)
	for k, s := range spans {
		words := h.wordsOf(k)
		v := shuffle.Value{Category: s.Category, Words: words, Name: s.Category.Kind() == pipeline.NameKind}
		card := int32(-1)
		if len(words) > 0 && h.shuffles[s.Category] {
			if card = h.before(spans, k); card < 0 {
				card, v.Text = cards, text[s.Start:s.End]
				if s.Category.Kind() == pipeline.PlaceKind {
					v.Kind = h.places.PlaceKind(v.Text)
				}
				cards++
			}
		}
		h.of = append(h.of, card)
		if len(words) > 0 {
			h.values = append(h.values, v)
		}
	}
}

func (h *hand) wordsOf(k int) []byte { return h.words[h.ends[2*k]:h.ends[2*k+1]] }

// before returns the card of an earlier span with the same category and value as span k, or -1.
func (h *hand) before(spans []pipeline.Span, k int) int32 {
	words := h.wordsOf(k)
	for j := range k {
		if spans[j].Category == spans[k].Category && bytes.Equal(h.wordsOf(j), words) {
			return h.of[j]
		}
	}
	return -1
}

// Collector collects the values of an archive, the first of the two passes of shuffling. It reads Text, Spans and
// Reason. It is a pipeline.Sink.
type Collector struct {
	dealer *shuffle.Dealer
	hand   hand
}

// NewCollector returns a collector of the values that the policy of o shuffles.
func NewCollector(o *Options, d *shuffle.Dealer) *Collector {
	return &Collector{dealer: d, hand: newHand(o)}
}

// Put implements pipeline.Sink. The error is that of the dealer's files.
func (c *Collector) Put(b *pipeline.Batch) error {
	if b.Spans.Len() != b.Len() {
		return errNoSpans
	}
	for i := range b.Len() {
		text, spans := b.Text.At(i), b.Spans.At(i)
		if b.Reason[i] != pipeline.Sound || !fit(text, spans) {
			spans = nil
		}
		c.hand.read(text, spans)
		if err := c.dealer.Add(c.hand.values); err != nil {
			return fmt.Errorf("values to shuffle: %w", err)
		}
	}
	return nil
}

// ShuffleDraw returns the random numbers for shuffling, derived from the key and the purpose of the extract.
func ShuffleDraw(key *secret.Key, purpose string) shuffle.Draw {
	s := newStream(key.Derive("shuffle " + purpose))
	return func(c pipeline.Category, kind uint8, stretch int) *rand.Rand {
		s.sum(nil, ArchiveScope, c.String(), binary.LittleEndian.AppendUint64(nil, uint64(stretch)<<8|uint64(kind)))
		s.draw.Seed(s.seed)
		return s.rand
	}
}
