// Package shuffle redistributes the values of a category among the notes in which they occur (shuffling, BOOT par.
// 2.2.2; data swapping, Dalenius and Reiss 1982): the frequency of each value stays, and the person it belongs to
// changes. It takes the values of all notes in order and returns for each of them the value of another note.
//
// A card stands for one value in one note, however often the note mentions it. Cards are dealt in blocks of some
// 260,000; a smaller archive is one block. All cards of a category, and of the same kind of place, are put in a random
// order that depends on the key, and each card gets the value of the next one. No note gets a value of its own, nor a
// value that shares a word with it: such a card swaps with another. Cards without a partner (all values of a category
// are equal) wait for the next block, and at the end get nothing.
//
// Memory holds two blocks; values and assignments are files.
package shuffle

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/velum-health/velum/pipeline"
)

const (
	stretch  = 1 << 18 // cards that are dealt together, at least, unless there are fewer
	maxBytes = 64 << 20
	maxWait  = 1 << 10 // cards that may wait for the next stretch
	maxTries = 1 << 12 // cards that one may be offered to change places with
)

// Value is a value that occurs in a note.
type Value struct {
	Category pipeline.Category
	Kind     uint8  // kind within the category: values are exchanged with others of their kind
	Words    []byte // folded words, each followed by a blank, by which two values are compared
	Name     bool   // each of its words identifies as much as the whole
	Text     []byte // the value as written in the note; nil: it is not given to another note
}

// File stores the values and cards of a Dealer.
type File interface {
	io.ReaderAt
	io.WriterAt
}

// Files holds the files of a Dealer. They contain words of notes.
type Files struct{ Values, Cards, Notes File }

// Draw returns the random numbers for a block (stretch) of values of one category and kind, valid until the next call.
type Draw func(c pipeline.Category, kind uint8, stretch int) *rand.Rand

// Dealer reads the values of all notes and shuffles them.
type Dealer struct {
	draw          Draw
	values        appender
	notes         appender
	cards         File
	last, now     *block // the stretch that is full, and the one that is being filled
	numbers, rows int64  // of cards and notes so far
	stretches     int
	most          int // cards of a stretch; less in tests
	row           [8]byte
	Alone         int64 // number of cards that got no other value
}

// NewDealer returns a Dealer without notes.
func NewDealer(f Files, draw Draw) *Dealer {
	return &Dealer{draw: draw, values: appender{to: f.Values}, notes: appender{to: f.Notes}, cards: f.Cards, last: new(block), now: new(block),
		most: stretch}
}

// appender writes behind what was written.
type appender struct {
	to  io.WriterAt
	at  int64
	buf []byte
}

const appendAtOnce = 1 << 18

func (a *appender) write(p []byte) (err error) {
	a.buf = append(a.buf, p...)
	a.at += int64(len(p))
	if len(a.buf) >= appendAtOnce {
		err = a.flush()
	}
	return err
}

func (a *appender) flush() error {
	_, err := a.to.WriteAt(a.buf, a.at-int64(len(a.buf)))
	a.buf = a.buf[:0]
	return err
}

// Rows returns the number of notes added so far.
func (d *Dealer) Rows() int64 { return d.rows }

// Add adds the values of the next note. Each becomes a card, numbered in this order.
func (d *Dealer) Add(values []Value) error {
	binary.LittleEndian.PutUint64(d.row[:], uint64(d.numbers))
	d.rows++
	if err := d.notes.write(d.row[:]); err != nil || len(values) == 0 {
		return err
	}
	b := d.now
	note := b.addNote(values)
	for k, v := range values {
		if v.Text == nil {
			continue
		}
		b.cards = append(b.cards, card{number: d.numbers, at: d.values.at, size: int32(len(v.Text)), note: note,
			value: b.notes[note].first + int32(k), category: v.Category, kind: v.Kind})
		d.numbers++
		if err := d.values.write(v.Text); err != nil {
			return err
		}
	}
	if len(b.cards) < d.most && len(b.text) < maxBytes {
		return nil
	}
	err := d.deal(d.last, b)
	*d.last = block{}
	d.last, d.now = b, d.last
	return err
}

// Deal shuffles the rest and returns the table of assigned values.
func (d *Dealer) Deal() (*Table, error) {
	b := d.last
	for i := range d.now.cards {
		b.take(d.now, &d.now.cards[i], &d.now.cards[i])
	}
	if err := errors.Join(d.deal(b, nil), d.values.flush(), d.notes.flush()); err != nil {
		return nil, err
	}
	d.last, d.now = nil, nil
	return &Table{values: d.values.to.(File), cards: d.cards, notes: d.notes.to.(File), rows: d.rows, numbers: d.numbers}, nil
}

// deal shuffles a block. Cards without a partner are moved to next, if it is not nil.
func (d *Dealer) deal(b, next *block) error {
	if len(b.cards) == 0 {
		return nil
	}
	by := map[[2]uint8][]int32{}
	for i, c := range b.cards {
		k := [2]uint8{uint8(c.category), c.kind}
		by[k] = append(by[k], int32(i))
	}
	wait := 0
	for _, c := range slices.SortedFunc(maps.Keys(by), func(a, b [2]uint8) int { return slices.Compare(a[:], b[:]) }) {
		cards := by[c]
		from, fit := b.partners(cards, d.draw(pipeline.Category(c[0]), c[1], d.stretches))
		for k, i := range cards {
			switch {
			case fit[k]:
				if err := d.give(b.cards[i].number, &b.cards[from[k]]); err != nil {
					return err
				}
			case next != nil && wait < maxWait:
				next.take(b, &b.cards[i], &b.cards[from[k]])
				wait++
			default:
				d.Alone++
				if err := d.give(b.cards[i].number, &card{}); err != nil {
					return err
				}
			}
		}
	}
	d.stretches++
	return nil
}

// cardBytes is the size of an entry in the file of cards: offset and length of the value assigned to the card; length 0
// means none.
const cardBytes = 12

func (d *Dealer) give(number int64, from *card) error {
	var e [cardBytes]byte
	binary.LittleEndian.PutUint64(e[:], uint64(from.at))
	binary.LittleEndian.PutUint32(e[8:], uint32(from.size))
	_, err := d.cards.WriteAt(e[:], number*cardBytes)
	return err
}

// Table maps each card to the value that it was assigned. It is safe for concurrent use.
type Table struct {
	values, cards, notes File
	rows, numbers        int64
}

// errTable says that the files are not what the dealer wrote.
var errTable = errors.New("the table of shuffled values cannot be read")

// Other appends the value assigned to a card to dst. note is the position of the note in the order of adding, from 0,
// and number that of the card in the note. ok is false if no value could be assigned.
func (t *Table) Other(dst []byte, note int64, number int) (out []byte, ok bool, err error) {
	var row [8]byte
	var e [cardBytes]byte
	if note < 0 || note >= t.rows {
		return dst, false, errTable
	}
	if _, err := t.notes.ReadAt(row[:], note*8); err != nil {
		return dst, false, errTable
	}
	at := int64(binary.LittleEndian.Uint64(row[:])) + int64(number)
	if at < 0 || at >= t.numbers {
		return dst, false, errTable
	}
	if _, err := t.cards.ReadAt(e[:], at*cardBytes); err != nil {
		return dst, false, errTable
	}
	size := int(binary.LittleEndian.Uint32(e[8:]))
	if size == 0 {
		return dst, false, nil
	}
	first := len(dst)
	dst = append(dst, make([]byte, size)...)
	if _, err := t.values.ReadAt(dst[first:], int64(binary.LittleEndian.Uint64(e[:]))); err != nil {
		return dst[:first], false, errTable
	}
	return dst, true, nil
}

// block is a stretch of cards with the notes that they belong to.
type block struct {
	text   []byte // folded words, a blank before, between and behind the words of a value
	values []value
	notes  []note
	cards  []card
}

type value struct {
	start, end int32 // in text
	name       bool
}

type note struct{ first, last int32 } // of values

type card struct {
	number   int64
	at       int64 // in the file of values
	size     int32
	note     int32
	value    int32 // of block.values
	category pipeline.Category
	kind     uint8
}

func (b *block) addNote(values []Value) int32 {
	first := int32(len(b.values))
	for _, v := range values {
		start := int32(len(b.text))
		b.text = append(append(b.text, ' '), v.Words...)
		b.values = append(b.values, value{start, int32(len(b.text)), v.Name})
	}
	b.notes = append(b.notes, note{first, int32(len(b.values))})
	return int32(len(b.notes) - 1)
}

// take adds a card of another block with its note, and the value that it contributes: its own, or the one that it could
// not be assigned.
func (b *block) take(from *block, c, brings *card) {
	n := from.notes[c.note]
	first := int32(len(b.values))
	for _, v := range from.values[n.first:n.last] {
		b.takeValue(from, v)
	}
	b.notes = append(b.notes, note{first, int32(len(b.values))})
	b.takeValue(from, from.values[brings.value])
	b.cards = append(b.cards, card{number: c.number, at: brings.at, size: brings.size, note: int32(len(b.notes) - 1),
		value: int32(len(b.values) - 1), category: c.category, kind: c.kind})
}

func (b *block) takeValue(from *block, v value) {
	start := int32(len(b.text))
	b.text = append(b.text, from.text[v.start:v.end]...)
	b.values = append(b.values, value{start, int32(len(b.text)), v.name})
}

// partners returns for each card the card whose value it gets, each value once, and whether the value may be used in
// its note.
func (b *block) partners(cards []int32, rng *rand.Rand) (from []int32, fit []bool) {
	order := rng.Perm(len(cards))
	from, fit = make([]int32, len(cards)), make([]bool, len(cards))
	for i, k := range order {
		from[k] = cards[order[(i+1)%len(order)]]
	}
	fits := func(k int, other int32) bool { return b.fits(&b.cards[cards[k]], &b.cards[other]) }
	for _, k := range order {
		if fit[k] = fits(k, from[k]); fit[k] {
			continue
		}
		first, n := rng.IntN(len(cards)), min(len(cards), maxTries)
		for i := 0; i < n && !fit[k]; i++ {
			j := (first + i) % len(cards)
			if fits(k, from[j]) && fits(j, from[k]) {
				from[k], from[j] = from[j], from[k]
				fit[k], fit[j] = true, true
			}
		}
	}
	return from, fit
}

// fits reports whether a card may get another card's value: the value must not reveal anything of the card's note.
func (b *block) fits(c, other *card) bool {
	v := b.values[other.value]
	got := b.text[v.start:v.end]
	n := b.notes[c.note]
	for _, own := range b.values[n.first:n.last] {
		has := b.text[own.start:own.end]
		if bytes.Contains(got, has) || bytes.Contains(has, got) || own.name && sharesWord(has, got) {
			return false
		}
	}
	return true
}

// leastWord is the least length of a word that identifies somebody by itself.
const leastWord = 3

// sharesWord tells whether two values, a blank before and behind each of their
// words, have a word in common.
func sharesWord(a, b []byte) bool {
	for at := 0; at+1 < len(a); {
		end := at + 1 + bytes.IndexByte(a[at+1:], ' ')
		if end-at > leastWord && bytes.Contains(b, a[at:end+1]) {
			return true
		}
		at = end
	}
	return false
}
