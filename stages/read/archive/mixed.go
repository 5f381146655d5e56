package archive

import (
	"errors"
	"io"
	"math/rand/v2"

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
	var seed [32]byte
	copy(seed[:], a.o.Key.Derive("order of "+a.Mark(u)))
	m := &mixed{UnitSource: src, a: a, first: u.First, rng: rand.New(rand.NewChaCha8(seed))}
	input.ReadyColumns(&m.all, a.Extra)
	return m, nil
}

// mixed is a source that reads a whole unit (a range of rows of one file, at most 262,144 notes, some 40 MB) and then
// returns its notes in an order drawn with a seed made of the key, so that each run has the same order.
type mixed struct {
	UnitSource
	a     *Archive
	first int64 // row of the unit
	rng   *rand.Rand
	all   pipeline.Batch
	order []int // nil: not read yet
	at    int
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
			m.order = m.rng.Perm(m.all.Len())
			b.Reset()
		}
	}
	input.ReadyColumns(b, m.a.Extra)
	b.First = m.first + int64(m.at)
	return input.Fill(b, m.a.o.Full, func() error {
		if m.at == len(m.order) {
			return io.EOF
		}
		b.AppendRead(&m.all, m.order[m.at])
		b.Rows = append(b.Rows, m.first+int64(m.order[m.at]))
		m.at++
		return nil
	})
}
