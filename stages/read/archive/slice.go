package archive

import (
	"context"
	"errors"
	"io"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/stages/read/input"
)

// Slice reads the notes [from, to) of an archive, counted in the order of its units, for one turn of self-learning.
// Batch.First is the number of a note in the archive. It is a pipeline.Source.
type Slice struct {
	a        *Archive
	unit     int
	number   int64 // of the next note
	from, to int64
	open     UnitSource
	feed     input.Feed
	damaged  []int
}

// NewSlice returns the slice. It opens only the units that it needs.
func NewSlice(a *Archive, from, to int64) *Slice { return &Slice{a: a, from: from, to: to} }

// Damaged returns the units that could not be read to the end. Their missing notes are counted in the numbering.
func (s *Slice) Damaged() []int { return s.damaged }

// Close closes the current unit.
func (s *Slice) Close() error {
	if s.open == nil {
		return nil
	}
	err := s.open.Close()
	s.open = nil
	return err
}

// Next implements pipeline.Source.
func (s *Slice) Next(b *pipeline.Batch) error {
	for !input.Full(b) {
		if s.number >= s.to {
			return input.Ended(b, io.EOF)
		}
		if s.open == nil {
			if done, err := s.nextUnit(); done || err != nil {
				return input.Ended(b, err)
			}
		}
		err := s.feed.Next()
		if _, damaged := errors.AsType[*commit.DamageError](err); damaged {
			s.damaged = append(s.damaged, s.unit-1)
			err = io.EOF
		}
		if err == io.EOF {
			s.number = s.end(s.unit - 1)
			if err := s.Close(); err != nil {
				return err
			}
			if b.Len() > 0 {
				return nil // the numbers of a batch follow each other
			}
			continue
		}
		if err != nil {
			return err
		}
		if s.number >= s.from {
			if b.Len() == 0 {
				b.First = s.number
			}
			s.feed.CopyTo(b)
		}
		s.number++
	}
	return nil
}

// nextUnit opens the next unit that has notes of the slice.
func (s *Slice) nextUnit() (done bool, err error) {
	for s.unit < len(s.a.Units) && s.end(s.unit) <= s.from {
		s.number = s.end(s.unit)
		s.unit++
	}
	if s.unit == len(s.a.Units) || s.number >= s.to {
		return true, io.EOF
	}
	src, err := s.a.Open(&s.a.Units[s.unit])
	if err != nil {
		return false, err
	}
	s.unit++
	s.open, s.feed = src, input.Feed{Src: src}
	return false, nil
}

// end returns how many notes units 0 to u have together: the number of the first note behind unit u.
func (s *Slice) end(u int) int64 {
	n := int64(0)
	for i := range u + 1 {
		n += s.a.Units[i].Rows
	}
	return n
}

// Each puts the notes of a unit into a sink, up to a damage of the unit, which the run reports and quarantines.
func (a *Archive) Each(ctx context.Context, u *commit.Unit, to pipeline.Sink) error {
	src, err := a.Open(u)
	if err == nil {
		err = errors.Join(pipeline.Run(ctx, src, nil, to, nil), src.Close())
	}
	if _, damaged := errors.AsType[*commit.DamageError](err); damaged {
		return nil
	}
	return err
}

// EachPatient calls do for every note of a unit with its row and the normalized patient id, which is empty if there is
// none.
func (a *Archive) EachPatient(ctx context.Context, u *commit.Unit, do func(row int64, patient []byte)) error {
	var id []byte
	return a.Each(ctx, u, pipeline.SinkFunc(func(b *pipeline.Batch) error {
		patients := b.ExtraNamed(input.PatientColumn)
		for i := range b.Len() {
			id = patients.AppendText(id[:0], i)
			do(b.First+int64(i), id)
		}
		return nil
	}))
}
