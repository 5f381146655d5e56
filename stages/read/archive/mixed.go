package archive

import (
	"bytes"
	"cmp"
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"errors"
	"io"
	"slices"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/stages/read/input"
)

// Mixes reports whether the notes of a unit are written in an order that depends on the key. If dates are shifted, the
// position of a row would reveal its day (Options.Mixed). Bundled small files and documents keep their order.
func (a *Archive) Mixes(u *commit.Unit) bool {
	return a.o.Mixed && a.o.Key != nil && len(u.Members) == 0 && !a.o.HasDocuments
}

// OpenMixed opens the notes of a unit in the order in which they are written. Batch.Rows holds the row of each in its
// file.
func (a *Archive) OpenMixed(u *commit.Unit) (UnitSource, error) {
	src, err := a.Open(u)
	if err != nil || !a.Mixes(u) {
		return src, err
	}
	m := &mixed{UnitSource: src, a: a, first: u.First}
	if m.block, err = aes.NewCipher(a.o.Key.Derive("order of " + a.Mark(u))); err != nil {
		panic(err) // only for lengths that no key of Derive has
	}
	input.ReadyColumns(&m.all, a.Extra)
	return m, nil
}

// mixed is a source that reads a whole unit (a range of rows of one file, at most 262,144 notes, some 40 MB) and then
// returns its notes in an order drawn with a seed made of the key, so that each run has the same order.
type mixed struct {
	UnitSource
	a     *Archive
	first int64        // row of the unit
	block cipher.Block // of the file
	all   pipeline.Batch
	order []place // nil: not read yet
	at    int
}

// place is where a note stands among those of its unit, and the number by which the key calls it.
type place struct {
	number int64
	at     int
}

// sort puts the notes into the order of their numbers, and of their ids where these are one: AES of the row in the file, of which
// 63 bits are taken.
func (m *mixed) sort() {
	m.order = make([]place, m.all.Len())
	var x [aes.BlockSize]byte
	for i := range m.order {
		binary.LittleEndian.PutUint64(x[:], uint64(m.first)+uint64(i))
		clear(x[8:])
		m.block.Encrypt(x[:], x[:])
		m.order[i] = place{int64(binary.LittleEndian.Uint64(x[:]) >> 1), i}
	}
	slices.SortFunc(m.order, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.number, b.number), bytes.Compare(m.all.ID.At(a.at), m.all.ID.At(b.at)))
	})
}

// Next implements pipeline.Source.
func (m *mixed) Next(b *pipeline.Batch) error {
	for m.order == nil {
		b.Reset()
		err := m.UnitSource.Next(b)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		for i := range b.Len() {
			m.all.AppendRead(b, i)
		}
		if err != nil {
			m.sort()
			b.Reset()
		}
	}
	input.ReadyColumns(b, m.a.Extra)
	b.First = m.first + int64(m.at)
	return input.Fill(b, m.a.o.Full, func() error {
		if m.at == len(m.order) {
			return io.EOF
		}
		p := m.order[m.at]
		b.AppendRead(&m.all, p.at)
		b.Rows, b.Keyed = append(b.Rows, m.first+int64(p.at)), append(b.Keyed, p.number)
		m.at++
		return nil
	})
}
